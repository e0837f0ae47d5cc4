/*
 * Rewrite a directory of class files:   rewrite_classes RULE PROBE FLAGS IN OUT LIST
 *
 * RULE    all: every method with code; thesis: more than 50 bytes or a loop; N: every N-th method;
 *         random=SEED: a third of the methods, others for each seed;
 *         broken: all, but the last handler's frame of each class says float where the token, an int, is
 * PROBE   the probe class, internal form
 * FLAGS   the flag classes' prefix, internal form: FLAGS<n>.g<i>, a thousand fields each
 * IN      directory; what is no .class file is passed over, and module-info.class
 * OUT     directory, made if need be; classes in which nothing was chosen are not written
 * LIST    file: a line 'TOKEN CLASS.NAME DESCRIPTOR' for each method instrumented; method TOKEN (from 1) has flag
 *         number TOKEN - 1
 *
 * Prints counts as 'NAME NUMBER' lines; REWRITE_NS is the time in the rewriter alone, VERIFY_NS that of its check once
 * more, which notices DOUBTED of the classes that were written.
 */
#include "core/agent/rewrite/rewrite_parts.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FIELDS_PER_CLASS  1000
#define MAX_METHODS_CLASS 65536

static struct {
    const char *rule, *flags, *in, *out;
    FILE *list;
    struct rewrite_policy policy;
    uint32_t n_tokens, n_offered;
    uint32_t kept[MAX_METHODS_CLASS]; /* of the class at hand: which choices were not taken back */
    struct protocol_method chosen[MAX_METHODS_CLASS];
    struct rewrite_flag chosen_flags[MAX_METHODS_CLASS];
    uint32_t n_chosen, first_token;
    uint64_t seed; /* of random=SEED; else 0 */
    unsigned long long n_classes, n_rewritten, n_methods, n_malformed, n_unsure, n_doubted, n_skipped[3], bytes_in,
        bytes_out, rewrite_ns, verify_ns;
} run;

/* xorshift64: the same with each C library. */
static uint64_t random_bits(void)
{
    run.seed ^= run.seed << 13;
    run.seed ^= run.seed >> 7;
    run.seed ^= run.seed << 17;
    return run.seed >> 16;
}

static bool rule_takes(const struct protocol_method *m)
{
    if (strcmp(run.rule, "all") == 0 || strcmp(run.rule, "broken") == 0)
        return true;
    if (strcmp(run.rule, "thesis") == 0)
        return m->code_bytes > 50 || m->has_loop;
    if (run.seed != 0)
        return random_bits() % 3 == 0;
    unsigned long every = strtoul(run.rule, NULL, 10);
    return every > 0 && run.n_offered % every == 0;
}

static bool choose(void *context, const struct protocol_method *m, struct rewrite_flag *flag)
{
    (void)context;
    run.n_offered++;
    if (!rule_takes(m) || run.n_chosen == MAX_METHODS_CLASS)
        return false;
    uint32_t number = run.first_token + run.n_chosen;
    snprintf(flag->class_name, sizeof flag->class_name, "%s%u", run.flags, number / FIELDS_PER_CLASS);
    snprintf(flag->field_name, sizeof flag->field_name, "g%u", number % FIELDS_PER_CLASS);
    run.chosen[run.n_chosen] = *m;
    run.chosen_flags[run.n_chosen] = *flag;
    run.kept[run.n_chosen++] = 1;
    return true;
}

static void skipped(void *context, const struct protocol_method *m, const struct rewrite_flag *flag,
                    enum rewrite_skip why)
{
    (void)context;
    (void)flag;
    run.kept[run.n_chosen - 1] = 0;
    run.n_skipped[why]++;
    fprintf(stderr, "skipped (%d): %.*s.%.*s%.*s\n", (int)why, (int)m->class_name.n, m->class_name.at, (int)m->name.n,
            m->name.at, (int)m->descriptor.n, m->descriptor.at);
}

static void list_methods(void)
{
    for (uint32_t i = 0; i < run.n_chosen; i++) {
        const struct protocol_method *m = &run.chosen[i];
        if (run.kept[i])
            fprintf(run.list, "%u %.*s.%.*s %.*s\n", run.first_token + i + 1, (int)m->class_name.n, m->class_name.at,
                    (int)m->name.n, m->name.at, (int)m->descriptor.n, m->descriptor.at);
    }
}

/* Locals end in Integer, the stack is one object: the Integer becomes a Float. */
static void break_last_frame(uint8_t *bytes, size_t n)
{
    static const uint8_t pattern[] = { 1, 0, 1, 7 };
    for (size_t at = n - sizeof pattern; at > 0; at--)
        if (memcmp(bytes + at, pattern, sizeof pattern) == 0) {
            bytes[at] = 2;
            return;
        }
}

static uint8_t *read_whole(const char *path, size_t n)
{
    FILE *in = fopen(path, "rb");
    uint8_t *bytes = malloc(n + 1);
    if (in == NULL || bytes == NULL || fread(bytes, 1, n, in) != n) {
        fprintf(stderr, "rewrite_classes: cannot read '%s': %s\n", path, strerror(errno));
        exit(1);
    }
    fclose(in);
    return bytes;
}

static void write_whole(const char *path, const uint8_t *bytes, size_t n)
{
    char made[4096];
    snprintf(made, sizeof made, "%s", path);
    for (char *at = strchr(made + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(made, 0777);
        *at = '/';
    }
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(bytes, 1, n, out) != n || fclose(out) != 0) {
        fprintf(stderr, "rewrite_classes: cannot write '%s': %s\n", path, strerror(errno));
        exit(1);
    }
}

static unsigned long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

static void verify(struct span old, struct span made)
{
    static struct rewrite_flag flags[MAX_METHODS_CLASS];
    struct verify_expected expected = { run.policy.probe_class, flags, 0 };
    struct err err;
    for (uint32_t i = 0; i < run.n_chosen; i++)
        if (run.kept[i])
            flags[expected.n_flags++] = run.chosen_flags[i];
    struct classfile file;
    bool is_open = classfile_open(&file, old.at, old.n, &err) == 0;
    unsigned long long start = now_ns();
    run.n_doubted += !is_open || verify_class(&file, made, &expected, &err) < 0;
    run.verify_ns += now_ns() - start;
    classfile_free(&file);
}

static void rewrite_file(const char *path, size_t n)
{
    uint8_t *bytes = read_whole(path, n), *out;
    size_t n_out;
    struct err err;
    run.first_token = run.n_tokens;
    run.n_chosen = 0;
    unsigned long long start = now_ns();
    int rc = rewrite_class(bytes, n, &run.policy, &out, &n_out, &err);
    run.rewrite_ns += now_ns() - start;
    run.n_classes++;
    run.bytes_in += n;
    if (rc < 0) {
        run.n_malformed += rc != REWRITE_UNSURE;
        run.n_unsure += rc == REWRITE_UNSURE;
        fprintf(stderr, "'%s': %s\n", path, err.text);
    } else if (rc > 0) {
        char to[4096];
        snprintf(to, sizeof to, "%s%s", run.out, path + strlen(run.in));
        if (strcmp(run.rule, "broken") == 0)
            break_last_frame(out, n_out);
        verify((struct span){ bytes, n }, (struct span){ out, n_out });
        write_whole(to, out, n_out);
        list_methods();
        run.n_tokens += run.n_chosen;
        run.n_rewritten++;
        run.n_methods += (unsigned)rc;
        run.bytes_out += n_out;
    }
    free(out);
    free(bytes);
}

static int visit(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    const char *end = strrchr(path, '.');
    if (kind == FTW_F && end != NULL && strcmp(end, ".class") == 0 &&
        strcmp(path + where->base, "module-info.class") != 0)
        rewrite_file(path, (size_t)about->st_size);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: rewrite_classes RULE PROBE FLAGS IN OUT LIST\n");
        return 2;
    }
    run.rule = argv[1];
    if (strncmp(run.rule, "random=", 7) == 0)
        run.seed = (strtoull(run.rule + 7, NULL, 10) + 1) * 0x9e3779b97f4a7c15u;
    run.policy = (struct rewrite_policy){ .probe_class = argv[2], .choose = choose, .skipped = skipped };
    run.flags = argv[3];
    run.in = argv[4];
    run.out = argv[5];
    run.list = fopen(argv[6], "w");
    if (run.list == NULL || nftw(run.in, visit, 64, FTW_PHYS) != 0) {
        fprintf(stderr, "rewrite_classes: cannot read '%s' or write '%s': %s\n", argv[4], argv[6], strerror(errno));
        return 1;
    }
    printf("CLASSES %llu\nREWRITTEN %llu\nMETHODS %llu\nMALFORMED %llu\n", run.n_classes, run.n_rewritten,
           run.n_methods, run.n_malformed);
    printf("UNSURE %llu\nDOUBTED %llu\nVERIFY_NS %llu\n", run.n_unsure, run.n_doubted, run.verify_ns);
    printf("TOO_LARGE %llu\nLIMITS %llu\nUNUSUAL %llu\n", run.n_skipped[REWRITE_SKIP_TOO_LARGE],
           run.n_skipped[REWRITE_SKIP_LIMITS], run.n_skipped[REWRITE_SKIP_UNUSUAL]);
    printf("BYTES_IN %llu\nBYTES_OUT %llu\nREWRITE_NS %llu\n", run.bytes_in, run.bytes_out, run.rewrite_ns);
    return fclose(run.list) == 0 ? 0 : 1;
}
