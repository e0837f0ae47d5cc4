/*
 * Findings on CPU time: methods, the collector, the JIT compilers, and what threads waited for CPUs.
 *
 * A method's time here is that of its own code and of what it calls of libraries: the innermost method of the program's
 * own is whose code can be changed.
 */
#include "report/findings/findings_internal.h"

#include "core/trace/recording_info.h"
#include "report/recompilation.h"
#include "report/view/tables.h"
#include "report/view/throttled.h"
#include "report/view/waits.h"

/* Of the time that threads waited for a CPU: what a quota took is most of it, or a part worth a word. */
#define QUOTA_MOST 0.5
#define QUOTA_SOME 0.05

#define METHODS_MOST 3u /* that have a line; --view phases has the others */

/* ---- the sentence ---- */

/* " in calls of JsonServlet.doGet": the innermost phase above it, or else the next method of the program's own. */
static const char *called_by(const struct findings_making *making, const struct findings_sums *sums, uint32_t method)
{
    const struct calltree *tree = making->source->tree;
    uint32_t node = sums->heaviest[method], found = CALLTREE_NONE;
    for (; tree->nodes[node].parent != node; node = tree->nodes[node].parent) {
        uint32_t of = tree->nodes[node].method;
        bool is_other = of < tree->n_methods && of != method && !making->is_library[of];
        if (is_other && calltree_calls(tree, node) > 0) {
            found = of;
            break;
        }
        if (is_other && found == CALLTREE_NONE)
            found = of;
    }
    const char *label = found == CALLTREE_NONE ? "" : findings_label(making, found);
    return label[0] == '\0' ? "" : arena_printf(making->source->arena, ", called by %s", label);
}

/* Whose own code a method's time is: its own, or that of what it calls of libraries. */
struct leaves {
    uint64_t own;  /* ticks in the method itself */
    uint32_t most; /* the method with most, */
    uint64_t of_most;
};

static struct leaves sum_leaves(const struct findings_making *making, const struct findings_sums *sums, uint32_t method)
{
    const struct calltree *tree = making->source->tree;
    uint64_t *ticks = arena_alloc(making->source->arena, ((size_t)tree->n_methods + 1) * sizeof *ticks);
    uint32_t most = method;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t leaf = tree->nodes[i].method;
        if (leaf >= tree->n_methods || sums->of[i] != method)
            continue;
        ticks[leaf] += tree->nodes[i].cpu_ticks;
        most = ticks[leaf] > ticks[most] ? leaf : most;
    }
    return (struct leaves){ ticks[method], most, ticks[most] };
}

/*
 * "Shop.price itself uses", or "Shop.price (with the library code that it calls) uses" where that has more than a half.
 */
static const char *who_uses(const struct findings_making *making, const struct leaves *leaves, uint64_t all,
                            const char *label)
{
    const char *how = 2 * leaves->own >= all ? "itself" : "(with the library code that it calls)";
    return arena_printf(making->source->arena, "%s %s uses", label, how);
}

/* ", mostly in SHA2.implCompress0": where the half of it is one other method's. */
static const char *mostly_in(const struct findings_making *making, const struct leaves *leaves, uint64_t all,
                             uint32_t method)
{
    bool is_most = leaves->most != method && 2 * leaves->of_most > all;
    const char *label = is_most ? findings_label(making, leaves->most) : "";
    return label[0] == '\0' ? "" : arena_printf(making->source->arena, ", mostly in %s", label);
}

static void add_method(struct findings_making *making, const struct finding_rule *rule,
                       const struct findings_sums *sums, uint32_t method)
{
    struct arena *arena = making->source->arena;
    double share = (double)sums->ticks[method] / making->all_ticks, error = sums->errors[method];
    double ns = report_ns(making->source, sums->ticks[method]);
    const struct leaves leaves = sum_leaves(making, sums, method);
    const char *label = findings_label(making, method);
    const char *who = who_uses(making, &leaves, sums->ticks[method], label);
    const char *in = mostly_in(making, &leaves, sums->ticks[method], method);
    const char *from = called_by(making, sums, method), *time = findings_time(making, ns);
    const char *part = findings_share(making, share, error);
    const struct finding f = { .subject = label,
                               .text = arena_printf(arena, "%s %s of the CPU time, %s%s%s", who, part, time, in, from),
                               .view = arena_printf(arena, "callers=%s", label),
                               .cost_ns = ns,
                               .share = share,
                               .low = share - error,
                               .high = share + error };
    findings_add(making, rule, &f);
}

void findings_of_cpu(struct findings_making *making, const struct finding_rule *rule)
{
    struct findings_sums sums;
    if (!making->has_cpu_time)
        return;
    findings_sum(making, findings_own_code, NULL, &sums);
    for (uint32_t taken = 0; taken < METHODS_MOST; taken++) {
        uint32_t most = findings_most(making, &sums);
        if (sums.ticks[most] == 0)
            break;
        add_method(making, rule, &sums, most);
        sums.ticks[most] = 0;
    }
}

/* ---- the JVM's own threads ---- */

/* The collector's pauses, as the JVM counted them. */
double findings_pauses(const struct findings_making *making, const char *kind, double *ns)
{
    const struct report_source *source = making->source;
    struct info_collector told;
    double n = 0;
    *ns = 0;
    for (uint32_t i = 0; info_read(source->reader, INFO_PAUSES_GC, i, source->arena, &told) >= 3; i++)
        if (kind[0] == '\0' || strcmp(pause_kind(told.name), kind) == 0) {
            n += (double)told.n;
            *ns += (double)told.ns;
        }
    return n;
}

static double longest_pause(const struct report_source *source)
{
    double longest_ns = 0;
    for (size_t i = 0; i < trace_n_collections(source->reader); i++)
        longest_ns = fmax(longest_ns, (double)trace_collection(source->reader, i)->ns);
    return longest_ns;
}

/* Of the pauses, what the collector had a CPU for. */
static double undelayed_part(const struct findings_making *making)
{
    const struct calltree *tree = making->source->tree;
    double ran = 0, waited = 0;
    for (uint32_t i = 0; i < tree->n_threads; i++)
        if (tree->threads[i].part == VM_PART_GC) {
            ran += (double)tree->threads[i].cpu_ticks;
            waited += (double)tree->threads[i].wait_ticks;
        }
    return ran > 0 ? ran / (ran + waited) : 1;
}

#define COLLECTIONS_LEAST 3   /* fewer are no rule of the program */
#define RECOMPILATION     0.5 /* of what the compilers took, for changed classes: then it is the reason */

void findings_of_collector(struct findings_making *making, const struct finding_rule *rule)
{
    const struct report_source *source = making->source;
    struct arena *arena = source->arena;
    double pauses_ns, n_pauses = findings_pauses(making, "", &pauses_ns), longest_ns = longest_pause(source);
    double cpu_ns = report_ns(source, making->shares.part_ticks[VM_PART_GC]);
    double cpu_share = making->cpu_ns > 0 ? cpu_ns / making->cpu_ns : 0;
    double wall_share = making->duration_ns > 0 ? undelayed_part(making) * pauses_ns / making->duration_ns : 0;
    if (!making->has_cpu_time || n_pauses < COLLECTIONS_LEAST)
        return;
    const char *cpu = findings_time(making, cpu_ns), *stops = findings_time(making, pauses_ns);
    const char *longest = longest_ns > 0 ? findings_time(making, longest_ns) : "";
    const char *used =
        cpu_ns <= 0 ? "" : arena_printf(arena, "uses %.0f %% of the CPU time, %s, and ", cpu_share * 100, cpu);
    double share = fmax(cpu_share, wall_share);
    const struct finding f = {
        .subject = "garbage collector",
        .text = arena_printf(arena,
                             "garbage collector: %sstopped the program %.0f times "
                             "for %s%s%s",
                             used, n_pauses, stops, longest[0] == '\0' ? "" : ", longest ", longest),
        .view = trace_n_collections(source->reader) > 0 ? "collections" : "pauses",
        .cost_ns = fmax(cpu_ns, wall_share * making->duration_ns),
        .size = arena_printf(arena, "%.0f %% of the %s", share * 100, cpu_share < wall_share ? "time" : "CPU time"),
        .share = share,
        .low = share,
        .high = share
    };
    findings_add(making, rule, &f);
}

/* Why they are busy: a live recording knows how much of it its changes cost, others with probes do not. */
static const char *why_compiled(const struct findings_making *making, double compilers_ns)
{
    const struct trace_reader *reader = making->source->reader;
    bool is_known;
    const char *full = report_full_code_cache(making->source, &is_known);
    double ms = fmax(info_number(reader, INFO_LIVE_RECOMPILING_MS), info_number(reader, INFO_LIVE_COMPILING_MS));
    if (full != NULL)
        return full;
    if (ms * 1e6 > RECOMPILATION * compilers_ns)
        return "the recording caused recompilation; record for longer";
    if (info_text(reader, INFO_LIVE_BUDGET) == NULL && making->source->tree->n_calls > 0)
        return is_known ? "the program is still warming up, or instrumented code is being recompiled"
                        : "the program is still warming up, its code cache is full, or instrumented code is being "
                          "recompiled";
    return is_known ? "the program is still warming up; measure again later"
                    : "the program is still warming up, or its code cache is full";
}

void findings_of_compilers(struct findings_making *making, const struct finding_rule *rule)
{
    const struct report_source *source = making->source;
    double c1_ns = report_ns(source, making->shares.part_ticks[VM_PART_C1]);
    double c2_ns = report_ns(source, making->shares.part_ticks[VM_PART_C2]);
    double share = making->cpu_ns > 0 ? (c1_ns + c2_ns) / making->cpu_ns : 0;
    const char *time = findings_time(making, c1_ns + c2_ns), *why = why_compiled(making, c1_ns + c2_ns);
    if (!making->has_cpu_time)
        return;
    const struct finding f = { .subject = "JIT compilers",
                               .text = arena_printf(source->arena, "JIT compilers use %.0f %% of the CPU time, %s: %s",
                                                    share * 100, time, why),
                               .view = "timeline",
                               .cost_ns = c1_ns + c2_ns,
                               .share = share,
                               .low = share,
                               .high = share };
    findings_add(making, rule, &f);
}

/* ---- the kernel and the machine ---- */

void findings_of_faults(struct findings_making *making, const struct finding_rule *rule)
{
    const uint64_t *metrics = making->shares.all_metrics;
    if (!making->has_cpu_time || making->source->tree->n_metrics == 0 || metrics == NULL)
        return;
    double n = (double)metrics[CALLTREE_FAULTS], share = n * FINDINGS_FAULT_NS / making->cpu_ns;
    struct arena *arena = making->source->arena;
    const struct finding f = { .subject = "page faults",
                               .text = arena_printf(
                                   arena,
                                   "page faults: %.0f per second of CPU time, about %.0f %% of it (at 1 us each): "
                                   "memory is used for the first time, or again after its release",
                                   n / making->cpu_ns * 1e9, share * 100),
                               .view = "timeline",
                               .cost_ns = n * FINDINGS_FAULT_NS,
                               .share = share,
                               .low = share,
                               .high = share };
    findings_add(making, rule, &f);
}

#define BEARERS 3    /* methods that are named */
#define BORNE   0.05 /* of the threads' time that a quota took, at least by each */

/* Threads' time for which the quota stopped them, by the method of the program's own whose call that was. */
static double *borne_by(const struct findings_making *making)
{
    const struct calltree *tree = making->source->tree;
    uint32_t *owner = findings_owners(making, tree);
    double *ticks = arena_alloc(making->source->arena, ((size_t)tree->n_methods + 1) * sizeof *ticks);
    for (uint32_t i = 0; i < tree->n_nodes; i++)
        if (owner[i] < tree->n_methods)
            ticks[owner[i]] += making->source->throttled->node_ticks[i];
    return ticks;
}

/* "; threads that could run waited 13.8 s for it: Busy.words 62 %, Busy.sorted 21 %" */
static const char *bearer_words(const struct findings_making *making)
{
    const struct throttled *throttled = making->source->throttled;
    struct arena *arena = making->source->arena;
    if (throttled == NULL || throttled->all_ticks <= 0)
        return "";
    double *ticks = borne_by(making);
    const char *words = arena_printf(arena, "; threads that could run waited %s for it",
                                     findings_time(making, throttled->all_ticks * making->source->tree->ns_per_tick));
    for (int i = 0; i < BEARERS; i++) {
        uint32_t most = 0;
        for (uint32_t k = 1; k < making->source->tree->n_methods; k++)
            most = ticks[k] > ticks[most] ? k : most;
        if (ticks[most] < BORNE * throttled->all_ticks || ticks[most] <= 0)
            break;
        words = arena_printf(arena, "%s%s %s %.0f %%", words, i == 0 ? ":" : ",", findings_label(making, most),
                             ticks[most] / throttled->all_ticks * 100);
        ticks[most] = 0;
    }
    return words;
}

void findings_of_quota(struct findings_making *making, const struct finding_rule *rule)
{
    const struct quota quota = quota_read(making->source);
    struct arena *arena = making->source->arena;
    double share = making->cpu_ns > 0 ? quota.throttled_ns / making->cpu_ns : 0;
    const struct finding f = { .subject = "CPU quota",
                               .text = arena_printf(arena, "%s%s", quota_words(making->source, &quota),
                                                    bearer_words(making)),
                               .view = "timeline",
                               .cost_ns = quota.throttled_ns,
                               .share = share,
                               .low = share,
                               .high = share };
    if (quota.cpus > 0)
        findings_add(making, rule, &f);
}

/* "AMD EPYC, 2 CPUs": 2; 0: not known. */
static double cpus_of(const struct findings_making *making)
{
    const char *cpu = info_text(making->source->reader, INFO_CPU), *comma = cpu == NULL ? NULL : strrchr(cpu, ',');
    return comma == NULL ? 0 : strtod(comma + 1, NULL);
}

bool findings_others_use_cpus(const struct findings_making *making)
{
    return making->cpu_ns < 0.5 * cpus_of(making) * making->duration_ns;
}

/* Threads that a quota stopped could run, too. */
static const char *why_preempted(const struct findings_making *making, double waited_ns)
{
    const struct quota quota = quota_read(making->source);
    const struct throttled *throttled = making->source->throttled;
    double threads_ns = throttled == NULL ? 0 : report_ns(making->source, (uint64_t)throttled->all_ticks);
    double quota_ns = fmax(quota.throttled_ns, threads_ns);
    if (quota_ns >= QUOTA_MOST * waited_ns)
        return NULL;
    return quota_ns >= QUOTA_SOME * waited_ns ? "too few CPUs; the container's CPU quota explains the smaller part"
           : findings_others_use_cpus(making) ? "other programs use the CPUs; measure again when they are idle"
                                              : "too few CPUs";
}

void findings_of_preempted(struct findings_making *making, const struct finding_rule *rule)
{
    const struct calltree *tree = making->source->tree;
    double waited_ns = 0, cpu_ns = 0;
    for (uint32_t i = 0; i < tree->n_threads; i++)
        if (tree->threads[i].is_known && tree->threads[i].part == VM_PART_APPLICATION) {
            waited_ns += report_ns(making->source, tree->threads[i].wait_ticks);
            cpu_ns += report_ns(making->source, tree->threads[i].cpu_ticks);
        }
    double share = cpu_ns > 0 ? waited_ns / cpu_ns : 0;
    const char *waited = findings_time(making, waited_ns), *ran = findings_time(making, cpu_ns);
    const char *why = why_preempted(making, waited_ns);
    if (!making->has_cpu_time || why == NULL)
        return;
    const struct finding f = { .subject = "application threads",
                               .text = arena_printf(making->source->arena,
                                                    "application threads ran for %s and waited %s for a CPU: %s", ran,
                                                    waited, why),
                               .view = "timeline",
                               .cost_ns = waited_ns,
                               .share = share,
                               .low = share,
                               .high = share };
    findings_add(making, rule, &f);
}

void findings_of_stolen(struct findings_making *making, const struct finding_rule *rule)
{
    double stolen_ns = report_stolen_ns(making->source);
    double share = making->cpu_ns > 0 ? stolen_ns / making->cpu_ns : 0;
    const char *time = findings_time(making, stolen_ns);
    const struct finding f = {
        .subject = "this machine's host",
        .text = arena_printf(
            making->source->arena,
            "this machine's host withheld CPUs for %s (steal time); the program's CPU times include it", time),
        .view = "timeline",
        .cost_ns = stolen_ns,
        .share = share,
        .low = share,
        .high = share
    };
    findings_add(making, rule, &f);
}
