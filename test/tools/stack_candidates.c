/*
 * Samples the stacks of a JVM, one that runs or a new one from its start, and prints what is worth probes:
 *
 *     stack_candidates [-a] [-w WEIGHT] [-p PHASES] AGENT TRACE MS N PID
 *     stack_candidates [-a] [-w WEIGHT] [-p PHASES] AGENT TRACE MS N -- COMMAND...
 *     stack_candidates [-a] [-w WEIGHT] [-p PHASES] -l LOG...
 *
 * One line per candidate, all methods seen with -a:
 *
 *     OVER 0.412 0.380..0.443 self=0.010 samples=412 calls=17 per_call_ms=24.2 org/h2/Main.run()V over the weight
 *
 * then SAMPLES, what it cost, and with -p one line per step of share: how many of the phases in a phases.json are
 * candidates.  The log goes to TRACE.samples.
 */
#include "core/recorder/recorder.h"
#include "phases/samples/candidates.h"
#include "phases/select/phases_file.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct candidates *candidates;
    FILE *log;
    uint32_t ms, n;
    bool asked;
    const char *phases;
    bool all;
} run;

static int hear_samples(void *context, const uint8_t *bytes, size_t n_bytes, struct err *err)
{
    (void)context;
    fwrite(bytes, 1, n_bytes, run.log);
    return candidates_feed(run.candidates, bytes, n_bytes, err);
}

static int hear_answer(void *context, const struct recorder_answer *answer, struct err *err)
{
    (void)context;
    if (answer->refused != NULL)
        return err_set(err, "the agent takes no samples: %s", answer->refused);
    return kill(getpid(), SIGTERM); /* the recording ends like one that is interrupted */
}

static int hear_round(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    (void)context;
    if (!status->ready || run.asked)
        return 0;
    run.asked = true;
    return recorder_sample(link, run.ms, run.n, err);
}

static void print_candidates(const struct candidate_list *list)
{
    for (size_t i = 0; i < (run.all ? list->n_all : list->n); i++) {
        const struct candidate *c = &list->all[i];
        printf("%s %.3f %.3f..%.3f self=%.3f samples=%" PRIu64 " calls=%" PRIu64 " per_call_ms=%.1f %s.%s%s %s\n",
               CANDIDATE_IS_ONE(c->reason) ? "OVER" : "UNDER", c->share, c->share_low, c->share_high, c->self_share,
               c->n_samples, c->n_calls_least, c->per_call_most_ns / 1e6, c->class_name, c->name, c->descriptor,
               candidate_reason_text(c->reason));
    }
}

static void print_totals(const struct candidate_list *list)
{
    const struct sample_totals *t = candidates_totals(run.candidates);
    printf("SAMPLES rounds=%" PRIu64 " samples=%" PRIu64 " effective=%.0f late=%" PRIu64 " longest_us=%.0f cost_ms=%.2f"
           " total_ms=%.0f cpu_ms=%.1f unseen_ms=%.1f methods=%zu candidates=%zu\n",
           t->n_rounds, t->n_samples, list->n_effective, t->n_late, (double)t->longest_ns / 1e3,
           (double)t->cost_ns / 1e6, (double)t->total_ns / 1e6, (double)t->cpu_ns / 1e6, (double)t->unseen_cpu_ns / 1e6,
           list->n_all, list->n);
}

static const struct candidate *find(const struct candidate_list *list, const struct phases_file_row *row)
{
    for (size_t i = 0; i < list->n_all; i++) {
        const struct candidate *c = &list->all[i];
        if (strcmp(c->class_name, row->class_name) == 0 && strcmp(c->name, row->method) == 0 &&
            strcmp(c->descriptor, row->descriptor) == 0)
            return c;
    }
    return NULL;
}

static void print_recall(const struct candidate_list *list, const struct phases_file *file, double share)
{
    size_t n = 0, n_found = 0, n_unseen = 0, reasons[CANDIDATE_N_REASONS] = { 0 };
    for (size_t i = 0; i < file->n_rows; i++) {
        if (file->rows[i].share < share)
            continue;
        const struct candidate *c = find(list, &file->rows[i]);
        n++;
        n_found += c != NULL && CANDIDATE_IS_ONE(c->reason);
        n_unseen += c == NULL;
        if (c != NULL)
            reasons[c->reason]++;
        if (run.all && (c == NULL || !CANDIDATE_IS_ONE(c->reason)))
            printf("MISSED %.4f calls=%" PRIu64 " %s.%s %s\n", file->rows[i].share, file->rows[i].calls,
                   file->rows[i].class_name, file->rows[i].method,
                   c == NULL ? "not seen" : candidate_reason_text(c->reason));
    }
    printf("RECALL share=%.3f phases=%zu found=%zu unseen=%zu", share, n, n_found, n_unseen);
    for (int i = CANDIDATE_UNWANTED; i < CANDIDATE_N_REASONS; i++)
        printf(" %d:%zu", i, reasons[i]);
    printf("\n");
}

static int read_log(const char *path, struct err *err)
{
    uint8_t bytes[65536];
    size_t n;
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return err_set(err, "cannot open '%s'", path);
    int rc = 0;
    while (rc == 0 && (n = fread(bytes, 1, sizeof bytes, in)) > 0)
        rc = candidates_feed(run.candidates, bytes, n, err);
    fclose(in);
    candidates_next_log(run.candidates);
    return rc;
}

static int sample(char **argv, struct err *err)
{
    struct recorder_observer observer = { .samples = hear_samples, .answer = hear_answer, .round = hear_round };
    struct recorder_plan plan = { .ring_bytes = UINT64_C(1) << 20, .observer = &observer, .is_live = true };
    struct recorder_summary summary;
    char path[4096];
    snprintf(path, sizeof path, "%s.samples", argv[1]);
    run.log = fopen(path, "w");
    if (run.log == NULL)
        return err_set(err, "cannot open '%s'", path);
    plan.agent = argv[0];
    plan.output = argv[1];
    plan.min_bytecodes = 50;
    run.ms = (uint32_t)atoi(argv[2]);
    run.n = (uint32_t)atoi(argv[3]);
    plan.argv = strcmp(argv[4], "--") == 0 ? argv + 5 : NULL;
    plan.pid = plan.argv != NULL ? 0 : (pid_t)atoi(argv[4]);
    int rc = recorder_run(&plan, &summary, err);
    recorder_wait(&summary, -1);
    fclose(run.log);
    return rc;
}

static int judge(const struct candidates_wish *wish, struct arena *arena, struct err *err)
{
    static const double shares[] = { 0.1, 0.05, 0.02, 0.01 };
    struct candidate_list list;
    struct phases_file file;
    if (candidates_choose(run.candidates, wish, arena, &list, err) < 0)
        return -1;
    print_candidates(&list);
    print_totals(&list);
    if (run.phases == NULL)
        return 0;
    if (phases_file_read(run.phases, arena, &file, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        print_recall(&list, &file, shares[i]);
    return 0;
}

int main(int argc, char **argv)
{
    struct candidates_wish wish = CANDIDATES_WISH;
    struct arena arena = { NULL, 0 };
    struct err err = { "" };
    bool logs = false;
    for (int option; (option = getopt(argc, argv, "+alw:p:")) != -1;) {
        run.all = run.all || option == 'a';
        logs = logs || option == 'l';
        if (option == 'w')
            wish.weight = atof(optarg);
        if (option == 'p')
            run.phases = optarg;
    }
    if ((logs ? argc - optind < 1 : argc - optind < 5) || candidates_open(&run.candidates, &err) < 0) {
        fputs("usage: stack_candidates [-a] [-w WEIGHT] [-p PHASES] AGENT TRACE MS N PID | AGENT TRACE MS N -- "
              "COMMAND... | -l LOG...\n",
              stderr);
        return 2;
    }
    int rc = 0;
    for (int i = optind; logs && rc == 0 && i < argc; i++)
        rc = read_log(argv[i], &err);
    if (!logs)
        rc = sample(argv + optind, &err);
    if (rc == 0)
        rc = judge(&wish, &arena, &err);
    if (rc < 0)
        fprintf(stderr, "stack_candidates: %s\n", err.text);
    candidates_close(run.candidates);
    arena_free(&arena);
    return rc < 0;
}
