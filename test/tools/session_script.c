/*
 * A recording whose commands to the agent come from a script:
 *
 *     session_script AGENT TRACE SCRIPT live|all PID
 *     session_script AGENT TRACE SCRIPT live|all [--include PATTERN] -- COMMAND...
 *
 * The script has one step a line, each begins when the one before has been answered:
 *
 *     wait MS
 *     until N                    methods have probes
 *     instrument CLASS NAME DESCRIPTOR [CLASS NAME DESCRIPTOR]...
 *     enable WHICH | disable WHICH | remove WHICH       all, every (second), the id, or a part of CLASS.NAME
 *     stress MS                  in each round switch some methods on or off by chance, all on at the end
 *     dependents
 *     jit                        log what the JIT compiler does with methods that are instrumented later
 *     begin COMMAND ...          one of those above, without waiting for its answer
 *     die                        like a kill -9
 *     run                        until the target ends
 *
 * At the script's end the recording ends.  Each answer is a line on the output.
 */
#include "core/recorder/recorder.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_METHODS 65536
#define MAX_WORDS   3000

static struct {
    FILE *in;
    char *names[MAX_METHODS]; /* by id; NULL: not told of */
    bool off[MAX_METHODS];
    uint32_t n_ids;     /* ids are below this */
    uint32_t n_methods; /* told of */
    bool waits, stress, runs;
    uint64_t until_ns; /* of a wait or a stress */
    uint32_t needed;   /* methods to wait for */
    uint64_t n_switched, n_words, random;
    struct err err; /* what a listener found wrong, or "" */
} script;

static void hear_method(void *context, const struct trace_method *method)
{
    (void)context;
    char name[4096];
    if (method->id >= MAX_METHODS || script.names[method->id] != NULL) {
        err_set(&script.err, "method %" PRIu32 " comes twice or is out of range", method->id);
        return;
    }
    snprintf(name, sizeof name, "%s.%s", method->names.class_name, method->names.method);
    script.names[method->id] = strdup(name);
    script.n_methods++;
    if (method->id >= script.n_ids)
        script.n_ids = method->id + 1;
}

static void hear_records(void *context, uint32_t thread, const uint64_t *words, size_t n_words, uint64_t now)
{
    (void)context;
    (void)thread;
    (void)words;
    (void)now;
    script.n_words += n_words;
}

static int hear_answer(void *context, const struct recorder_answer *answer, struct err *err)
{
    (void)context;
    (void)err;
    if (script.stress)
        return 0;
    if (answer->refused != NULL)
        printf("refused %s\n", answer->refused);
    else
        printf("%s ids=%zu unknown=%" PRIu32 " classes=%" PRIu32 " methods=%" PRIu32 " batches=%" PRIu32
               " pause_ms=%.1f total_ms=%.1f\n",
               wire_name(wire_answer((enum wire_kind)answer->command)), answer->n_ids, answer->n_unknown,
               answer->n_classes, answer->n_methods, answer->n_batches, answer->longest_pause_ms, answer->total_ms);
    fflush(stdout);
    return 0;
}

/* ---- steps ---- */

static uint32_t chosen[MAX_METHODS];

static size_t choose(const char *which)
{
    size_t n = 0;
    char *end;
    unsigned long id = strtoul(which, &end, 10);
    if (*end == '\0' && end != which) {
        chosen[0] = (uint32_t)id;
        return 1;
    }
    for (uint32_t i = 0; i < script.n_ids; i++)
        if (script.names[i] != NULL && (strcmp(which, "all") == 0 || (strcmp(which, "every") == 0 && i % 2 == 0) ||
                                        strstr(script.names[i], which) != NULL))
            chosen[n++] = i;
    return n;
}

static int instrument(struct recorder_link *link, char **words, size_t n, struct err *err)
{
    struct recorder_phase phases[MAX_WORDS / 3];
    for (size_t i = 0; i + 2 < n; i += 3) {
        phases[i / 3].class_name = words[i];
        phases[i / 3].name = words[i + 1];
        phases[i / 3].descriptor = words[i + 2];
    }
    return recorder_instrument(link, phases, n / 3, NULL, 0, err);
}

static int give(struct recorder_link *link, char **words, size_t n, struct err *err)
{
    const char *what = words[0], *which = n > 1 ? words[1] : "all";
    if (strcmp(what, "instrument") == 0)
        return instrument(link, words + 1, n - 1, err);
    if (strcmp(what, "enable") == 0)
        return recorder_enable(link, chosen, choose(which)), 0;
    if (strcmp(what, "disable") == 0)
        return recorder_disable(link, chosen, choose(which)), 0;
    if (strcmp(what, "remove") == 0)
        return recorder_remove(link, chosen, choose(which)), 0;
    if (strcmp(what, "jit") == 0)
        return recorder_jit(link, err);
    if (strcmp(what, "dependents") == 0)
        return recorder_dependents(link), 0;
    return err_set(err, "unknown step '%s'", what);
}

static int step(struct recorder_link *link, uint64_t now_ns, struct err *err)
{
    static char line[65536];
    char *words[MAX_WORDS], *rest;
    size_t n = 0;
    if (fgets(line, sizeof line, script.in) == NULL) {
        script.runs = true;
        return kill(getpid(), SIGTERM);
    }
    for (char *word = strtok_r(line, " \n", &rest); word != NULL && n < MAX_WORDS; word = strtok_r(NULL, " \n", &rest))
        words[n++] = word;
    uint64_t number = n > 1 ? strtoull(words[1], NULL, 10) : 0;
    script.waits = true;
    if (n == 0)
        return 0;
    if (strcmp(words[0], "wait") == 0 || strcmp(words[0], "stress") == 0) {
        script.until_ns = now_ns + number * 1000000;
        script.stress = words[0][0] == 's';
        return 0;
    }
    if (strcmp(words[0], "until") == 0)
        script.needed = (uint32_t)number;
    else if (strcmp(words[0], "die") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(words[0], "run") == 0)
        script.runs = true;
    else if (strcmp(words[0], "begin") == 0 && n > 1)
        script.waits = false;
    else
        return give(link, words, n, err);
    return script.waits ? 0 : give(link, words + 1, n - 1, err);
}

static uint64_t chance(void)
{
    script.random ^= script.random << 13;
    script.random ^= script.random >> 7;
    return script.random ^= script.random << 17;
}

/* A few methods off that were on, and the other way round. */
static void stress(struct recorder_link *link)
{
    uint32_t on[16], off[16];
    size_t n_on = 0, n_off = 0;
    for (int i = 0; i < 16; i++) {
        uint32_t id = (uint32_t)(chance() % script.n_ids);
        if (script.names[id] == NULL)
            continue;
        script.off[id] = !script.off[id];
        if (script.off[id])
            off[n_off++] = id;
        else
            on[n_on++] = id;
    }
    script.n_switched += n_on + n_off;
    recorder_disable(link, off, n_off);
    recorder_enable(link, on, n_on);
}

static int hear_round(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    (void)context;
    if (script.err.text[0] != '\0') {
        *err = script.err;
        return -1;
    }
    if (!status->ready || script.runs || (script.waits && (status->busy || status->n_flags > 0)))
        return 0;
    if (status->monotonic_ns < script.until_ns || script.n_methods < script.needed)
        return script.stress && script.n_ids > 0 ? (stress(link), 0) : 0;
    if (script.stress) {
        script.stress = false;
        return recorder_enable(link, chosen, choose("all")), 0;
    }
    return step(link, status->monotonic_ns, err);
}

int main(int argc, char **argv)
{
    struct recorder_observer observer = {
        .method = hear_method,
        .records = hear_records,
        .answer = hear_answer,
        .round = hear_round,
    };
    struct recorder_plan plan = { .ring_bytes = UINT64_C(16) << 20, .observer = &observer };
    struct recorder_summary summary;
    const char *include = NULL;
    struct err err = { "" };
    int at = 5;
    if (argc < 6 || (script.in = fopen(argv[3], "r")) == NULL) {
        fputs("usage: session_script AGENT TRACE SCRIPT live|all [--include PATTERN] PID | -- COMMAND...\n", stderr);
        return 2;
    }
    script.random = 88172645463325252u;
    plan.agent = argv[1];
    plan.output = argv[2];
    plan.is_live = strcmp(argv[4], "live") == 0;
    if (strcmp(argv[at], "--include") == 0 && at + 2 < argc) {
        include = argv[at + 1];
        plan.includes = &include;
        plan.n_includes = 1;
        at += 2;
    }
    if (strcmp(argv[at], "--") == 0)
        plan.argv = argv + at + 1;
    else
        plan.pid = (pid_t)atoi(argv[at]);
    if (recorder_run(&plan, &summary, &err) < 0) {
        fprintf(stderr, "session_script: %s\n", err.text);
        return 1;
    }
    printf("END records=%" PRIu64 " words=%" PRIu64 " lost=%" PRIu64 " switched=%" PRIu64 "\n", summary.n_records,
           script.n_words, summary.n_lost, script.n_switched);
    recorder_wait(&summary, -1);
    return summary.command_status;
}
