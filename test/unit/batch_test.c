#include "core/wire/batch.h"

#include "test/unit/tap.h"

/* The size of the 12th batch where a stop takes fixed_ms and class_ms for each class; *longest_ms: of the last four. */
static uint32_t settles_at(double fixed_ms, double class_ms, double *longest_ms)
{
    struct class_batch batch = BATCH_START;
    *longest_ms = 0;
    for (int i = 0; i < 12; i++) {
        double stop_ms = fixed_ms + class_ms * batch.n_classes;
        if (i >= 8 && stop_ms > *longest_ms)
            *longest_ms = stop_ms;
        batch_learn(&batch, batch.n_classes, 1000, stop_ms);
    }
    return batch.n_classes;
}

static void test_sizes(void)
{
    struct class_batch batch = BATCH_START;
    double longest_ms;
    CHECK_NUMBER("the first batch is a small one", batch.n_classes, 50);
    batch_learn(&batch, 50, 1000, 16);
    CHECK_NUMBER("a short stop: twice as many", batch.n_classes, 100);
    batch_learn(&batch, 100, 1000, 20);
    CHECK_NUMBER("4 ms for 50 classes, room for 38 ms: still not more than twice as many", batch.n_classes, 200);
    batch_learn(&batch, 200, 1000, 84);
    CHECK("much more for 100 classes more: fewer", batch.n_classes < 200 && batch.n_classes > 50);
    batch_learn(&batch, 0, 1000, 1);
    CHECK("a batch of nothing teaches nothing", batch.n_classes < 200 && batch.n_classes > 50);
    CHECK("where classes are cheap, batches grow to the most there is",
          settles_at(12, 0.001, &longest_ms) == BATCH_MAX);
    settles_at(15, 0.1, &longest_ms);
    CHECK("where they cost what was measured, no stop is over the aim", longest_ms <= BATCH_STOP_MS + 1);
    settles_at(20, 2, &longest_ms);
    CHECK("nor where they cost 20 times as much", longest_ms <= BATCH_STOP_MS + 1);
}

static void test_long_stops(void)
{
    struct class_batch batch = BATCH_START;
    double longest_ms;
    batch_learn(&batch, 50, 1000, 80);
    CHECK_NUMBER("a first stop that is too long: half as many classes", batch.n_classes, 25);
    batch_learn(&batch, 25, 1000, 75);
    CHECK_NUMBER("that did not help: the fixed part is too long, and more stops would be no shorter ones",
                 batch.n_classes, 50);
    batch_learn(&batch, 50, 1000, 20);
    CHECK_NUMBER("it was the moment's load: the next one is larger", batch.n_classes, 100);
    settles_at(200, 0.3, &longest_ms);
    CHECK("stops take 1.6 times their fixed part", longest_ms > 310 && longest_ms < 330);
}

/* What 20,000 classes of JDK 25 do: 22 ms and 0.075 for a class, but times 0.8 to 1.2. */
static void test_spread(void)
{
    uint32_t n_stops = 0, n_long = 0;
    for (uint32_t seed = 1; seed <= 1000; seed++) {
        struct class_batch batch = BATCH_START;
        uint32_t n_left = 20000;
        for (uint32_t random = seed, n; n_left > 0; n_left -= n, n_stops++) {
            n = batch.n_classes < n_left ? batch.n_classes : n_left;
            random = random * 1664525u + 1013904223u;
            double stop_ms = (22 + 0.075 * n) * (0.8 + 0.4 * (random >> 8) / (1 << 24));
            n_long += stop_ms > BATCH_STOP_MS;
            batch_learn(&batch, n, 3 * stop_ms, stop_ms);
        }
    }
    CHECK("where batches of one size differ by a fifth, one of 50 stops is over the aim at most",
          n_long * 50 <= n_stops);
    CHECK("for which stops are not many more", n_stops <= 100 * 1000);
    printf("# of %u stops %u\n", (unsigned)n_stops, (unsigned)n_long);
}

/* All stops together in ms where one takes 200 ms and 0.2 for a class, times 0.4 to 2.8: a busy machine. */
static double busy_stops(uint32_t n_classes, uint32_t seed, uint32_t *n_batches)
{
    struct class_batch batch = BATCH_START;
    double all_ms = 0;
    *n_batches = 0;
    for (uint32_t n; n_classes > 0; n_classes -= n, ++*n_batches) {
        n = batch.n_classes < n_classes ? batch.n_classes : n_classes;
        seed = seed * 1664525u + 1013904223u;
        double stop_ms = (200 + 0.2 * n) * (0.4 + 2.4 * (seed >> 8) / (1 << 24));
        all_ms += stop_ms;
        batch_learn(&batch, n, 1000, stop_ms);
    }
    return all_ms;
}

static void test_load(void)
{
    double all_ms = 0;
    uint32_t n_all = 0, n;
    for (uint32_t seed = 1; seed <= 1000; seed++) {
        all_ms += busy_stops(3000, seed, &n);
        n_all += n;
    }
    CHECK("where stops are long and differ much, 3000 classes take few of them: 10 s at most, on an average",
          n_all <= 20 * 1000 && all_ms <= 10e3 * 1000);
}

/* The rest after a call. */
static double rest_ms(double call_ms, double stop_ms)
{
    struct class_batch batch = BATCH_START;
    batch_learn(&batch, 50, call_ms, stop_ms);
    return batch.rest_ms;
}

static void test_rests(void)
{
    struct class_batch batch = BATCH_START;
    CHECK("no rest before the first batch", batch.rest_ms == 0);
    CHECK("the classes were examined for long enough: no rest", rest_ms(200, 20) == 0);
    CHECK("a stop of 20 ms in a call of 30 ms: 50 ms of rest", rest_ms(30, 20) == 50);
    CHECK("all of it was a stop: three times as long", rest_ms(20, 20) == 60);
}

int main(void)
{
    test_sizes();
    test_long_stops();
    test_spread();
    test_load();
    test_rests();
    return tap_done();
}
