/* Figures that are kept from run to run: what is found again, and what is not. */
#include "core/base/own_cache.h"

#include "test/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256], file[512];

/* The file's text, from 'from' on, becomes another one. */
static void damage(const char *text, int mode)
{
    FILE *out = fopen(file, "w");
    if (out != NULL) {
        fputs(text, out);
        fchmod(fileno(out), (mode_t)mode);
        fclose(out);
    }
}

static void read_back(char *text, size_t n)
{
    FILE *in = fopen(file, "r");
    size_t got = in == NULL ? 0 : fread(text, 1, n - 1, in);
    text[got] = '\0';
    if (in != NULL)
        fclose(in);
}

int main(void)
{
    const char *scratch = getenv("SCRATCH");
    char made[] = "/tmp/own_cache.XXXXXX", text[256], longer[300], other[300];
    uint64_t value = 0;
    snprintf(folder, sizeof folder, "%s", scratch != NULL ? scratch : mkdtemp(made));
    snprintf(file, sizeof file, "%s/mmprof/cost-1", folder);
    chmod(folder, 0700);
    setenv("XDG_CACHE_HOME", folder, 1);
    CHECK("at first there is nothing", !own_cache_get("cost-1", OWN_CACHE_DAY_S, &value));
    own_cache_put("cost-1", UINT64_C(18446744073709551615));
    CHECK("what was kept is found", own_cache_get("cost-1", OWN_CACHE_DAY_S, &value) && value == UINT64_MAX);
    CHECK("but not when it is too old", !own_cache_get("cost-1", -1, &value));
    own_cache_put("../cost", 1);
    CHECK("a name stays in its folder", !own_cache_get("../cost", OWN_CACHE_DAY_S, &value));
    read_back(text, sizeof text);
    snprintf(longer, sizeof longer, "%s7\n", text);
    snprintf(other, sizeof other, "mmprof 1 1 2 3 4\n");
    const struct {
        const char *claim, *text;
        int mode;
        bool is_found;
    } rows[] = {
        { "the same file is found again", text, 0600, true },
        { "a file that others may write is not", text, 0622, false },
        { "nor an empty one", "", 0600, false },
        { "nor one of another program", other, 0600, false },
        { "nor one with more behind the value", longer, 0600, false },
        { "nor one that is cut", "mmprof 1", 0600, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        damage(rows[i].text, rows[i].mode);
        CHECK(rows[i].claim, own_cache_get("cost-1", OWN_CACHE_DAY_S, &value) == rows[i].is_found);
    }
    damage(text, 0600);
    chmod(folder, 0777);
    CHECK("nor one in a folder that others may write to", !own_cache_get("cost-1", OWN_CACHE_DAY_S, &value));
    chmod(folder, 0700);
    return tap_done();
}
