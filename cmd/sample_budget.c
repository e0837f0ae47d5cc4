#include "cmd/sample_run.h"

#include "core/jvm/process.h"

#define LEAST_NS    UINT64_C(200000000) /* of the JVM's CPU time between two looks at the cost */
#define AT_ONCE     4.0                 /* times as seldom, at one look */
#define TOLERANCE   1.1                 /* the cost may be so much more than the limit */
#define SLACK       0.7                 /* where it is less than this part of it, samples are taken more often */
#define STRETCH_MAX 1000.0

/* How many times as long periods are to be for a cost, from what they are now. */
static double times_for(const struct sample_budget *budget, double cost)
{
    double times = cost / budget->share;
    if (times <= TOLERANCE && times >= SLACK)
        return 1;
    times = times > AT_ONCE ? AT_ONCE : times < 0.5 ? 0.5 : times;
    if (times * budget->stretch < 1)
        return 1 / budget->stretch;
    return times * budget->stretch > STRETCH_MAX ? STRETCH_MAX / budget->stretch : times;
}

void sample_budget_begin(struct sample_budget *budget, struct stack_sampler_options *how)
{
    budget->stretch = budget->most = 1;
    if (budget->share <= 0)
        return;
    budget->sample_ns = kernel_sample_cost_ns(how->stack_bytes, &budget->is_measured);
    double hz = budget->share / 2 * 1e9 / (double)budget->sample_ns;
    if (how->trigger.period != 0 || hz >= how->hz)
        return;
    uint32_t asked_hz = how->hz;
    how->hz = hz < 1 ? 1 : (uint32_t)hz;
    budget->stretch = budget->most = (double)asked_hz / how->hz;
}

/* Compare what samples have cost since the last look with the limit. */
static void steer(struct sample_budget *budget, uint64_t own_ns, uint64_t jvm_ns, uint64_t n_samples,
                  struct stack_sampler *sampler)
{
    uint64_t kernel_ns = n_samples * budget->sample_ns;
    double times = times_for(budget, (double)(own_ns + kernel_ns) / (double)jvm_ns);
    budget->own_sum_ns += own_ns;
    budget->kernel_sum_ns += kernel_ns;
    budget->jvm_sum_ns += jvm_ns;
    if (times != 1)
        stack_sampler_stretch(sampler, times);
    budget->stretch *= times;
    budget->most = budget->stretch > budget->most ? budget->stretch : budget->most;
}

void sample_budget_round(struct sample_budget *budget, struct stack_sampler *sampler)
{
    uint64_t own = clock_ns(CLOCK_PROCESS_CPUTIME_ID), jvm;
    pid_t pid = stack_sampler_pid(sampler);
    if (budget->is_paused)
        stack_sampler_pause(sampler, true); /* threads that have started meanwhile */
    if (budget->share <= 0 || budget->is_paused || pid == 0 || jvm_process_cpu_ns(pid, &jvm) < 0 ||
        (budget->jvm_ns != 0 && jvm < budget->jvm_ns + LEAST_NS))
        return;
    struct stack_sampler_state state;
    stack_sampler_state(sampler, &state);
    uint64_t n_samples = state.n_samples - state.n_waiting + state.n_lost;
    if (budget->jvm_ns != 0)
        steer(budget, own - budget->own_ns, jvm - budget->jvm_ns, n_samples - budget->n_samples, sampler);
    budget->own_ns = own;
    budget->jvm_ns = jvm;
    budget->n_samples = n_samples;
}

void sample_budget_pause(struct sample_budget *budget, struct stack_sampler *sampler)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    budget->is_paused = !budget->is_paused;
    stack_sampler_pause(sampler, budget->is_paused);
    if (budget->is_paused) {
        budget->n_pauses++;
        budget->since_ns = now;
    } else {
        budget->paused_ns += now - budget->since_ns;
        budget->jvm_ns = 0;
    }
    fprintf(stderr, budget->is_paused ? "mmprof: paused; 'kill -USR1 %d' resumes it\n" : "mmprof: resumed\n",
            (int)getpid());
}

void sample_budget_tell(const struct sample_budget *budget, struct table *table)
{
    struct arena *arena = table->arena;
    if (budget->own_sum_ns > 0) {
        double cost = (double)budget->own_sum_ns / (double)budget->jvm_sum_ns;
        double kernel = (double)budget->kernel_sum_ns / (double)budget->jvm_sum_ns;
        table_metadata_number(table, "budget_share", budget->share, NULL);
        table_metadata_number(table, "own_cpu_share", cost, NULL);
        table_metadata_number(table, "kernel_cpu_share", kernel, NULL);
        table_metadata_number(table, "sample_ns", (double)budget->sample_ns, NULL);
        double hz = 1e9 * kernel / (double)budget->sample_ns;
        table_metadata_number(table, "samples_per_cpu_second", hz, NULL);
        table_metadata_number(table, "period_stretch", budget->most, NULL);
        table_note(table,
                   arena_printf(arena,
                                "%.0f samples per second of CPU time; sampling overhead %.2f %% in mmprof + %.2f %% in "
                                "the kernel (%.1f us per sample%s; budget %.2f %%); interval stretched up to %.1fx",
                                hz, 100 * cost, 100 * kernel, (double)budget->sample_ns / 1e3,
                                budget->is_measured ? "" : ", assumed", 100 * budget->share, budget->most));
    }
    if (budget->n_pauses > 0) {
        uint64_t ns = budget->paused_ns + (budget->is_paused ? clock_ns(CLOCK_MONOTONIC) - budget->since_ns : 0);
        table_metadata_number(table, "paused_ns", (double)ns, NULL);
        table_note(table, arena_printf(arena, "sampling was paused for %.1f s (signal USR1)", (double)ns / 1e9));
    }
}
