/*
 * What becomes of sampled methods' code: the JVM's own counts of each method, read from outside in rounds.
 *
 * A piece of C2's code that is counted as discarded was compiled before.  So C2 has compiled a method as often as it
 * was discarded since, once more if it has such code now, and once less if it had some at first.
 */
#include "core/recorder/sample_log.h"

#include "core/base/ticks.h"
#include "core/base/xalloc.h"
#include "core/hotspot/vm.h"

#define C2_TIER   4u
#define AT_ONCE   32u
#define ROUND_NS  UINT64_C(400000000) /* between two looks, and so much more */
#define METHOD_NS UINT64_C(500000)    /* for each method: a look takes some 0.5 us for it */

struct method_code {
    bool is_begun, is_gone; /* its class was unloaded */
    bool is_c2;
    uint64_t code;                /* in which its calls begin */
    struct vm_code_counts counts; /* as of the look before */
    int64_t n_compiled, n_told;   /* less at first, if it had code already; of these in the trace */
};

struct code_look {
    struct sample_log *log;
    struct trace_writer *writer;
    struct vm *vm;
    uint64_t ticks;
    bool from_start;
};

static int write_change(const struct code_look *look, uint32_t method, const char *what, uint64_t n, struct err *err)
{
    const struct sample_log *log = look->log;
    uint32_t number =
        method < log->samplers[SAMPLE_LOG_STACKS].room ? log->samplers[SAMPLE_LOG_STACKS].method_of[method] : 0;
    struct trace_code_change change = { .ticks = look->ticks, .what = what, .n = n };
    change.context = number < log->context_of_room ? log->context_of[number] : 0;
    return n == 0 || change.context == 0 ? 0 : trace_write_code(look->writer, &change, err);
}

static int write_changes(const struct code_look *look, uint32_t method, struct method_code *code,
                         const struct vm_code_counts *counts, struct err *err)
{
    uint32_t n_discarded = counts->n_discarded - code->counts.n_discarded;
    int64_t n_new = code->n_compiled - code->n_told;
    if (write_change(look, method, TRACE_CODE_DISCARDED, n_discarded, err) < 0 ||
        write_change(look, method, TRACE_CODE_COMPILED, n_new > 0 ? (uint64_t)n_new : 0, err) < 0)
        return -1;
    code->n_told += n_new > 0 ? n_new : 0;
    for (uint32_t i = 0; counts->traps.are_known && code->counts.traps.are_known && i < VM_TRAP_REASONS; i++) {
        const char *reason = vm_trap_reason(look->vm, i);
        uint32_t n = counts->traps.n[i] - code->counts.traps.n[i];
        if (n > 0 && write_change(look, method, reason == NULL ? "other" : reason, n, err) < 0)
            return -1;
    }
    return 0;
}

/* Counts do not go back, unless they are those of another method. */
static bool is_same(const struct code_look *look, const struct sampled_method *method, const struct method_code *code,
                    const struct vm_code_counts *counts)
{
    uint64_t key;
    bool goes_back = counts->n_discarded < code->counts.n_discarded;
    for (uint32_t i = 0; i < VM_TRAP_REASONS; i++)
        goes_back = goes_back || (counts->traps.are_known && counts->traps.n[i] < code->counts.traps.n[i]);
    vm_methods_keys(look->vm, &method->address, 1, &key, NULL);
    return !goes_back && key == method->key;
}

static int compare(const struct code_look *look, uint32_t number, const struct sampled_method *method,
                   const struct vm_code_counts *counts, uint64_t at, struct err *err)
{
    struct method_code *code = &look->log->codes[number];
    bool is_c2 = at == code->code ? code->is_c2 : at != 0 && vm_code_tier(look->vm, at) == C2_TIER;
    bool is_first = !code->is_begun;
    if (code->is_gone || !counts->is_known)
        return 0;
    if (is_first)
        *code = (struct method_code){ .is_begun = true, .counts = { .is_known = true, .traps.are_known = true } };
    else if (is_c2 == code->is_c2 && memcmp(counts, &code->counts, sizeof *counts) == 0)
        return 0;
    code->is_gone = !is_same(look, method, code, counts);
    if (code->is_gone)
        return 0;
    code->n_compiled += (int64_t)(counts->n_discarded - code->counts.n_discarded) + is_c2 - code->is_c2;
    if (is_first && !look->from_start)
        code->n_compiled = 0;
    else if (write_changes(look, number, code, counts, err) < 0)
        return -1;
    code->counts = *counts;
    code->code = at;
    code->is_c2 = is_c2;
    return 0;
}

static int look_at(const struct code_look *look, const struct sampled_method *methods, uint32_t first, uint32_t n,
                   struct err *err)
{
    uint64_t addresses[AT_ONCE] = { 0 }, codes[AT_ONCE];
    struct vm_code_counts counts[AT_ONCE];
    for (uint32_t i = 0; i < n; i++)
        addresses[i] = methods[first + i].address;
    vm_code_counts_read(look->vm, addresses, n, counts);
    vm_methods_codes(look->vm, addresses, n, codes);
    for (uint32_t i = 0; i < n; i++)
        if (compare(look, first + i, &methods[first + i], &counts[i], codes[i], err) < 0)
            return -1;
    return 0;
}

int sample_log_write_code(struct sample_log *log, struct trace_writer *writer, const struct stack_sampler *sampler,
                          uint64_t ticks, bool is_last, struct err *err)
{
    struct code_look look = { .log = log, .writer = writer, .ticks = ticks };
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    uint32_t n;
    const struct sampled_method *methods = stack_sampler_methods(sampler, &n, &look.from_start);
    if (n == 0 || (!is_last && now_ns - log->looked_ns < ROUND_NS + n * METHOD_NS))
        return 0;
    look.vm = methods[0].vm;
    bool are_there = vm_code_counts_are_there(look.vm);
    if (log->looked_ns == 0 &&
        info_write_text(writer, INFO_SAMPLE_CODE, are_there ? "counted" : "not_exported", err) < 0)
        return -1;
    log->looked_ns = now_ns;
    xgrow_zeroed(log->codes, log->codes_room, n);
    for (uint32_t i = 0; are_there && i < n; i += AT_ONCE)
        if (look_at(&look, methods, i, n - i < AT_ONCE ? n - i : AT_ONCE, err) < 0)
            return -1;
    return 0;
}
