/*
 * Samples the stacks of a JVM, one that runs or a new one from its start, and prints what is worth probes:
 *
 *     stack_candidates [-a] [-p PHASES] AGENT TRACE perf|polling SECONDS PID
 *     stack_candidates [-a] [-p PHASES] AGENT TRACE perf|polling 0 -- COMMAND...
 *
 * One line per candidate, all methods seen with -a:
 *
 *     OVER 0.412 0.380..0.443 self=0.010 samples=412 calls=17 per_call_ms=24.2 org/h2/Main.run()V over the weight
 *
 * then SAMPLES, and with -p one line per step of share: how many of the phases in a phases.json are candidates.
 */
#include "core/recorder/recorder.h"
#include "test/tools/candidate_texts.h"
#include "phases/live/live_session.h"
#include "phases/select/phases_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct live_samples *samples;
    struct arena arena;
    struct candidate_list list;
    uint64_t n;
    const char *phases;
    bool all;
} run;

static int hear_stack(void *context, const struct stack_sample *sample, uint32_t thread, struct err *err)
{
    (void)context;
    (void)err;
    run.n++;
    live_samples_add(run.samples, sample, thread);
    return 0;
}

static int finish(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    const struct candidates_criteria criteria = CANDIDATES_CRITERIA;
    const struct agent_config *rules = recorder_rules(link, err);
    (void)context;
    if (rules == NULL)
        return -1;
    return candidates_choose(live_samples_candidates(run.samples, rules, status->jvm_cpu_ns), &criteria, &run.arena,
                             &run.list, err);
}

static void print_candidates(const struct candidate_list *list)
{
    for (size_t i = 0; i < (run.all ? list->n_all : list->n); i++) {
        const struct candidate *c = &list->all[i];
        printf("%s %.3f %.3f..%.3f self=%.3f samples=%" PRIu64 " calls=%" PRIu64 " per_call_ms=%.1f %s.%s%s %s\n",
               CANDIDATE_IS_ONE(c->reason) ? "OVER" : "UNDER", c->share, c->share_low, c->share_high, c->self_share,
               c->n_samples, c->n_calls_least, c->per_call_most_ns / 1e6, c->names.class_name, c->names.method,
               c->names.descriptor, candidate_reason_text(c->reason));
    }
}

static void print_totals(const struct candidate_list *list)
{
    printf("SAMPLES samples=%" PRIu64 " effective=%.0f methods=%zu candidates=%zu\n", run.n, list->n_effective,
           list->n_all, list->n);
}

static const struct candidate *find(const struct candidate_list *list, const struct phases_file_row *row)
{
    for (size_t i = 0; i < list->n_all; i++) {
        const struct candidate *c = &list->all[i];
        if (strcmp(c->names.class_name, row->names.class_name) == 0 &&
            strcmp(c->names.method, row->names.method) == 0 && strcmp(c->names.descriptor, row->names.descriptor) == 0)
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
                   file->rows[i].names.class_name, file->rows[i].names.method,
                   c == NULL ? "not seen" : candidate_reason_text(c->reason));
    }
    printf("RECALL share=%.3f phases=%zu found=%zu unseen=%zu", share, n, n_found, n_unseen);
    for (int i = CANDIDATE_UNWANTED; i < CANDIDATE_N_REASONS; i++)
        printf(" %d:%zu", i, reasons[i]);
    printf("\n");
}

static int sample(char **argv, struct err *err)
{
    struct recorder_observer observer = { .stack = hear_stack, .finish = finish };
    struct recorder_plan plan = { .agent = argv[0],
                                  .output = argv[1],
                                  .min_bytecodes = 50,
                                  .polls_stacks = strcmp(argv[2], "polling") == 0,
                                  .polling_part = 0.05,
                                  .stacks_hz = 200,
                                  .duration_s = atof(argv[3]),
                                  .argv = strcmp(argv[4], "--") == 0 ? argv + 5 : NULL,
                                  .ring_bytes = UINT64_C(1) << 20,
                                  .observer = &observer,
                                  .is_live = true };
    struct recorder_summary summary;
    plan.pid = plan.argv != NULL ? 0 : (pid_t)atoi(argv[4]);
    int rc = recorder_run(&plan, &summary, err);
    recorder_wait(&summary, -1);
    return rc;
}

static int judge(struct err *err)
{
    static const double shares[] = { 0.1, 0.05, 0.02, 0.01 };
    struct phases_file file;
    print_candidates(&run.list);
    print_totals(&run.list);
    if (run.phases == NULL)
        return 0;
    if (phases_file_read(run.phases, &run.arena, &file, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        print_recall(&run.list, &file, shares[i]);
    return 0;
}

int main(int argc, char **argv)
{
    struct err err = { "" };
    for (int option; (option = getopt(argc, argv, "+ap:")) != -1;) {
        run.all = run.all || option == 'a';
        if (option == 'p')
            run.phases = optarg;
    }
    if (argc - optind < 5) {
        fputs("usage: stack_candidates [-a] [-p PHASES] AGENT TRACE perf|polling SECONDS PID | ... -- COMMAND...\n",
              stderr);
        return 2;
    }
    run.samples = live_samples_open();
    int rc = sample(argv + optind, &err) < 0 || judge(&err) < 0 ? -1 : 0;
    if (rc < 0)
        fprintf(stderr, "stack_candidates: %s\n", err.text);
    live_samples_close(run.samples);
    arena_free(&run.arena);
    return rc < 0;
}
