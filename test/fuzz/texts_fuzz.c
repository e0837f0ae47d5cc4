/*
 * Texts that the target's side gives us: /proc maps, the file 'release' of its JDK, its command line and environment,
 * what its diagnostic command says of metaspace, mangled names; the rules of check-jit; and any name, on its way in and
 * out.  The first byte says which; any bytes follow.
 */
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/base/words.h"
#include "core/jvm/flags.h"
#include "core/jvm/maps.h"
#include "core/jvm/jvm_memory.h"
#include "report/jit/jit_verdicts.h"
#include "symbolize/native_symbols.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void hold(bool condition)
{
    if (!condition)
        abort();
}

static void read_maps(const char *text)
{
    struct jvm_maps maps;
    jvm_maps_init(&maps);
    jvm_maps_parse(&maps, text);
    for (size_t i = 0; i < maps.n; i++) {
        hold(maps.all[i].start < maps.all[i].end && (i == 0 || maps.all[i - 1].end <= maps.all[i].start));
        hold(jvm_maps_find(&maps, maps.all[i].start) == &maps.all[i]);
    }
    jvm_maps_free(&maps);
}

static void read_name(const char *text)
{
    struct arena arena = { NULL, 0 };
    const char *name = native_symbols_display(&arena, text);
    hold(name == NULL || strlen(name) <= strlen(text) + 512);
    arena_free(&arena);
}

static void read_rules(const char *text, size_t n)
{
    struct jit_rules rules = { .n = 0 };
    struct err err;
    FILE *in = n == 0 ? NULL : fmemopen((void *)(uintptr_t)text, n, "r");
    if (in != NULL && jit_rules_read(&rules, in, "fuzz", &err) == 0)
        for (size_t i = 0; i < rules.n; i++)
            hold(rules.all[i].in != NULL && rules.all[i].line > 0);
    if (in != NULL)
        fclose(in);
    jit_rules_free(&rules);
}

/* What came in is UTF-8 once and for all; what goes out steers no terminal; a word comes back. */
static void pass_on(const char *text)
{
    struct arena arena = { NULL, 0 };
    char *in = text_utf8(&arena, text, strlen(text)), *word = NULL, *out = NULL;
    hold(in != NULL && strcmp(text_utf8(&arena, in, strlen(in)), in) == 0);
    hold(utf8_compare(in, text, strlen(text)) == 0);
    hold((word = text_words(&arena, (const char *const *)&in, 1)) != NULL && strchr(word, ' ') == NULL);
    words_unescape(word);
    hold(strcmp(word, in) == 0 && (out = text_clean(&arena, in)) != NULL);
    for (const char *at = out, *end = out + strlen(out); at < end;)
        hold(!utf8_is_control(utf8_take(&at, end)));
    arena_free(&arena);
}

static void read_text(uint8_t kind, const char *text, size_t n)
{
    struct jvm_release release;
    struct jvm_metaspace metaspace;
    struct jvm_flags flags;
    memset(&flags, 0, sizeof flags);
    switch (kind % 8) {
    case 0:
        read_maps(text);
        break;
    case 1:
        if (jvm_release_parse(text, &release) == 0)
            hold(strnlen(release.version, sizeof release.version) < sizeof release.version);
        break;
    case 2:
        if (jvm_metaspace_parse(text, &metaspace) == 0)
            hold(jvm_metaspace_room(&metaspace) <= METASPACE_ANY);
        break;
    case 3:
        jvm_flags_command(&flags, text, n);
        hold(strnlen(flags.agent, sizeof flags.agent) < sizeof flags.agent);
        break;
    case 4:
        jvm_flags_environment(&flags, text, n);
        hold(strnlen(flags.agent, sizeof flags.agent) < sizeof flags.agent);
        break;
    case 5:
        read_name(text);
        break;
    case 7:
        read_rules(text, n);
        break;
    default:
        pass_on(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return 0;
    char *text = malloc(n); /* without the first byte, and with a NUL */
    if (text == NULL)
        return 0;
    memcpy(text, bytes + 1, n - 1);
    text[n - 1] = '\0';
    read_text(bytes[0], text, n - 1);
    free(text);
    return 0;
}
