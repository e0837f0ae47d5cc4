#include "core/emu/model/sim_slots.h"

#include "test/unit/tap.h"

static struct err err;

static void test_reading(void)
{
    static const struct {
        const char *text;
        uint64_t warm_up, counted, period;
    } rows[] = {
        { "2M+1M/20M", 2000000, 1000000, 20000000 },
        { "0+500K/1M", 0, 500000, 1000000 },
        { "1+1/2", 1, 1, 2 },
        { "1G+1G/20G", 1000000000, 1000000000, UINT64_C(20000000000) },
    };
    static const char *const bad[] = {
        "",          "1M",        "1M+1M",  "1M+1M/",  "1M/1M+5M",          "+1M/5M",           "1M+0/5M", "3M+3M/5M",
        "1M+1M/5Mx", "1 M+1M/5M", "-1+1/5", "1M+1M/0", "9999999999999+1/5", "1+1/999999999999G"
    };
    struct sim_window window;
    char text[SIM_WINDOW_TEXT_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool is_read = sim_window_read(rows[i].text, &window, &err) == 0;
        CHECK(rows[i].text, is_read && window.warm_up == rows[i].warm_up && window.counted == rows[i].counted &&
                                window.period == rows[i].period);
    }
    bool is_refused = true;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bool is_read = sim_window_read(bad[i], &window, &err) == 0;
        if (is_read)
            printf("# it reads '%s'\n", bad[i]);
        is_refused = is_refused && !is_read;
    }
    CHECK("all else is refused", is_refused);
    sim_window_read("2M+1M/20M", &window, &err);
    sim_window_print(&window, text, sizeof text);
    CHECK_TEXT("it is printed in instructions", text, "2000000+1000000/20000000");
    struct sim_window none = { 0, 0, 0 }, large = { 5, 5, 9 };
    CHECK("no window at all is right, too", sim_window_check(&none, &err) == 0);
    CHECK("one that does not fit is not", sim_window_check(&large, &err) < 0);
}

/* Steps of 7 instructions, as blocks are.  Counts what each phase has. */
static void walk(const char *sizes, uint32_t number, uint64_t n_periods, uint64_t *phases)
{
    struct sim_window window;
    struct sim_window_state state;
    phases[SIM_SKIPPED] = phases[SIM_WARMING_UP] = phases[SIM_COUNTED] = 0;
    if (sim_window_read(sizes, &window, &err) < 0)
        return;
    sim_window_begin(&state, &window, number);
    for (uint64_t n = 0; n < n_periods * window.period; n += 7) {
        if ((state.left -= 7) < 0)
            sim_window_next(&state, &window);
        phases[state.phase] += 7;
    }
}

static bool is_near(uint64_t value, uint64_t expected)
{
    return value > expected - expected / 100 && value < expected + expected / 100;
}

static void test_phases(void)
{
    uint64_t phases[3], again[3];
    walk("2K+1K/20K", 3, 1000, phases);
    CHECK("of each period so much is counted", is_near(phases[SIM_COUNTED], 1000 * 1000));
    CHECK("so much warms up", is_near(phases[SIM_WARMING_UP], 1000 * 2000));
    CHECK("and the rest is skipped", is_near(phases[SIM_SKIPPED], 1000 * 17000));
    walk("2K+1K/20K", 3, 1000, again);
    CHECK("once more: the same", memcmp(phases, again, sizeof phases) == 0);
    walk("0+1K/20K", 4, 1000, phases);
    CHECK("without warming up", phases[SIM_WARMING_UP] <= 7 && is_near(phases[SIM_COUNTED], 1000 * 1000));
    walk("10K+10K/20K", 5, 1000, phases);
    CHECK("windows that leave nothing between them",
          phases[SIM_SKIPPED] <= 7 * 1001 && is_near(phases[SIM_COUNTED], 10000 * 1000));
}

/* The first window, of many threads. */
static void test_first_windows(void)
{
    struct sim_window window = { 100, 100, 10000 };
    struct sim_window_state state;
    uint64_t n_early = 0;
    for (uint32_t number = 0; number < 1000; number++) {
        sim_window_begin(&state, &window, number);
        n_early += state.left < 4900;
    }
    CHECK("a window may be anywhere in its period", n_early > 400 && n_early < 600);
}

static void test_late(void)
{
    struct sim_window window = { .warm_up = 100, .counted = 50, .period = 1000 };
    struct sim_window_state state = { .phase = SIM_SKIPPED, .left = 5, .behind = 300 };
    sim_window_begin_late(&state, 2, 7);
    sim_window_next(&state, &window);
    CHECK("a block that is partly in the window is of its warm-up",
          state.phase == SIM_WARMING_UP && state.left == 98 && state.behind == 300);
    state = (struct sim_window_state){ .phase = SIM_SKIPPED, .behind = 300 };
    sim_window_begin_late(&state, 47, 7);
    sim_window_next(&state, &window);
    CHECK("what a thread is late is not of the warm-up, but of what is behind",
          state.phase == SIM_WARMING_UP && state.left == 93 && state.behind == 260);
    sim_window_begin_late(&state, 5000, 7);
    CHECK("no more than there is", state.behind == 0 && state.left == -7);
}

int main(void)
{
    test_reading();
    test_phases();
    test_late();
    test_first_windows();
    return tap_done();
}
