/* How each kind of event is opened: perf_event_attr. */
#include "core/perf/perf_rings_internal.h"

#define PERIOD_LEAST 0.541 /* ln 4 * 4 / 3 / 4: up to four times as long, there are on average as many samples */

/* What both kinds of events have. */
static void fill_common(const struct perf_rings *rings, struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = PERF_TYPE_SOFTWARE;
    attr->sample_id_all = 1;
    attr->inherit = 1;
    attr->inherit_thread = !rings->inherit_children;
    attr->exclude_hv = 1;
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC_RAW;
    attr->watermark = 1;
    /* A ring of stacks may turn out to be half as large: the kernel lets a user pin less. */
    attr->wakeup_watermark = (uint32_t)(rings->ring_bytes / (rings->options.stack_bytes > 0 ? 4 : 2));
}

void perf_attr_switches(const struct perf_rings *rings, struct perf_event_attr *attr)
{
    fill_common(rings, attr);
    attr->config = PERF_COUNT_SW_DUMMY;
    if (rings->options.fault_period > 0) {
        attr->config = PERF_COUNT_SW_PAGE_FAULTS;
        attr->sample_period = rings->options.fault_period;
    }
    attr->sample_type = KERNEL_SAMPLE_TYPE;
    attr->context_switch = !rings->options.no_switches;
    attr->task = 1;
    attr->comm = 1;
    attr->exclude_kernel = 1;
}

static const struct counter_code cpu_clock = { .type = PERF_TYPE_SOFTWARE,
                                               .exclude = COUNTER_NO_HYPERVISOR,
                                               .config = PERF_COUNT_SW_CPU_CLOCK };

const struct counter_code *perf_attr_trigger(const struct perf_rings *rings)
{
    return rings->options.trigger.n == 0 ? &cpu_clock : &rings->options.trigger.codes[0];
}

static void fill_code(const struct perf_rings *rings, const struct counter_code *code, struct perf_event_attr *attr)
{
    attr->type = code->type;
    attr->config = code->config;
    attr->config1 = code->config1;
    attr->config2 = code->config2;
    attr->exclude_user = (code->exclude & COUNTER_NO_USER) != 0;
    attr->exclude_kernel = (code->exclude & COUNTER_NO_KERNEL) != 0 || rings->user_ip_samples_only;
    attr->exclude_hv = (code->exclude & COUNTER_NO_HYPERVISOR) != 0;
}

/* An event that the kernel counts in software would take a sample each time, if it were to tell the period. */
bool perf_attr_has_period(const struct perf_rings *rings)
{
    const struct kernel_trigger *trigger = &rings->options.trigger;
    return trigger->n == 0 || trigger->is_clock || trigger->period == 0 || trigger->codes[0].type != PERF_TYPE_SOFTWARE;
}

static void drop_inheritance(const struct perf_rings *rings, struct perf_event_attr *attr)
{
    if (!rings->ip_samples_not_inherited)
        return;
    attr->inherit = 0;
    attr->inherit_thread = 0;
}

double perf_rings_drawn(double random, bool is_frequency)
{
    return is_frequency ? 0.875 + random / 4 : PERIOD_LEAST * pow(4, random);
}

/* For each event another one. */
static uint64_t draw(struct perf_rings *rings, uint64_t period, bool is_frequency)
{
    double random;
    drand48_r(&rings->random, &random);
    return (uint64_t)((double)period * perf_rings_drawn(random, is_frequency));
}

/*
 * Where nothing else is told of than IP samples and threads, IP samples' events tell of threads, too: each event more
 * makes each switch of a thread dearer.
 */
bool perf_attr_tells_all(const struct perf_rings *rings)
{
    const struct perf_rings_options *options = &rings->options;
    return options->stack_bytes > 0 && options->no_switches && options->fault_period == 0 &&
           !rings->ip_samples_not_inherited;
}

/* A clock's period is in ns of the time that the thread has this CPU. */
void perf_attr_ip_samples(struct perf_rings *rings, struct perf_event_attr *attr)
{
    const struct kernel_trigger *trigger = &rings->options.trigger;
    fill_common(rings, attr);
    fill_code(rings, perf_attr_trigger(rings), attr);
    drop_inheritance(rings, attr);
    attr->task = attr->comm = perf_attr_tells_all(rings);
    attr->precise_ip = trigger->precise & 3u;
    attr->freq = trigger->n > 0 && trigger->period == 0 && !trigger->is_clock;
    attr->sample_period = attr->freq             ? rings->options.ip_samples_hz
                          : trigger->period != 0 ? trigger->period
                                                 : 1000000000 / rings->options.ip_samples_hz;
    if (rings->options.stack_bytes > 0 && attr->sample_period > 8)
        attr->sample_period = draw(rings, attr->sample_period, attr->freq);
    attr->sample_type = KERNEL_IP_SAMPLE_TYPE | (rings->options.n_ip_events > 0 ? (unsigned)PERF_SAMPLE_PERIOD : 0);
    attr->sample_regs_user = KERNEL_IP_SAMPLE_REGISTERS;
    if (rings->options.stack_bytes > 0) {
        attr->sample_type = KERNEL_STACK_TYPE | (perf_attr_has_period(rings) ? (unsigned)PERF_SAMPLE_PERIOD : 0);
        attr->sample_regs_user = KERNEL_STACK_REGISTERS;
        attr->sample_stack_user = rings->options.stack_bytes;
    }
    if (trigger->n > 1) {
        attr->sample_type |= PERF_SAMPLE_READ;
        attr->read_format = KERNEL_READ_FORMAT;
    }
}

/* The same for all that runs on a CPU, by one of its two clocks. */
void perf_attr_cpu_samples(struct perf_rings *rings, uint32_t half, struct perf_event_attr *attr)
{
    perf_attr_ip_samples(rings, attr);
    attr->sample_period = 2 * perf_rings_mark(attr->sample_period, half, 0);
    attr->inherit = attr->inherit_thread = 0;
    attr->exclude_idle = 1;
    attr->disabled = 1;
}

/*
 * One that takes IP samples of its own.  Those that the kernel counts in software come in bursts, which no frequency
 * follows: each of them is a sample.
 */
void perf_attr_ip_event(const struct perf_rings *rings, uint32_t i, struct perf_event_attr *attr)
{
    fill_common(rings, attr);
    fill_code(rings, &rings->options.ip_events[i], attr);
    attr->freq = attr->type != PERF_TYPE_SOFTWARE;
    attr->sample_period = attr->freq ? rings->options.ip_events_hz : 1;
    attr->sample_type = KERNEL_IP_SAMPLE_TYPE | PERF_SAMPLE_PERIOD;
    attr->sample_regs_user = KERNEL_IP_SAMPLE_REGISTERS;
}

/* One that is read with each IP sample. */
void perf_attr_member(const struct perf_rings *rings, uint32_t i, struct perf_event_attr *attr)
{
    fill_common(rings, attr);
    fill_code(rings, &rings->options.trigger.codes[i], attr);
    drop_inheritance(rings, attr);
    attr->watermark = 0;
    attr->wakeup_watermark = 0;
    attr->read_format = KERNEL_READ_FORMAT;
}
