#include "core/agent/batch.h"

#include "test/unit/tap.h"

/* The size of the 12th batch where a stop takes fixed_ms and class_ms for each class; *longest_ms: of the last four. */
static uint32_t settles_at(double fixed_ms, double class_ms, double *longest_ms)
{
    struct batch batch = BATCH_START;
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
    struct batch batch = BATCH_START;
    double longest_ms;
    CHECK_NUMBER("the first batch is a small one", batch.n_classes, 50);
    batch_learn(&batch, 50, 1000, 16);
    CHECK_NUMBER("a short stop: twice as many", batch.n_classes, 100);
    batch_learn(&batch, 100, 1000, 20);
    CHECK_NUMBER("4 ms for 100 classes, room for 34 ms: still not more than twice as many", batch.n_classes, 200);
    batch_learn(&batch, 200, 1000, 84);
    CHECK_NUMBER("68 ms for 200 classes, room for 34 ms: half as many", batch.n_classes, 100);
    batch_learn(&batch, 3, 1000, 30);
    CHECK_NUMBER("few classes that take long: fewer, but not so few that stops are all there is", batch.n_classes, 10);
    CHECK("where classes are cheap, batches grow to the most there is",
          settles_at(12, 0.001, &longest_ms) == BATCH_MAX);
    settles_at(15, 0.1, &longest_ms);
    CHECK("where they are as dear as was measured, no stop is over the aim", longest_ms <= BATCH_STOP_MS + 1);
    settles_at(20, 2, &longest_ms);
    CHECK("nor where they are 20 times as dear", longest_ms <= BATCH_STOP_MS + 1);
}

static void test_long_stops(void)
{
    struct batch batch = BATCH_START;
    batch_learn(&batch, 50, 1000, 80);
    CHECK_NUMBER("a first stop that is too long: half as many classes", batch.n_classes, 25);
    batch_learn(&batch, 25, 1000, 75);
    CHECK_NUMBER("that did not help: the fixed part is too long, and more stops would be no shorter ones",
                 batch.n_classes, 50);
    batch_learn(&batch, 50, 1000, 20);
    CHECK_NUMBER("it was the moment's load: the next one is larger", batch.n_classes, 100);
    batch_learn(&batch, 0, 1000, 1);
    CHECK_NUMBER("a batch of nothing teaches nothing", batch.n_classes, 100);
}

/* The rest after a call. */
static double rest_ms(double call_ms, double stop_ms)
{
    struct batch batch = BATCH_START;
    batch_learn(&batch, 50, call_ms, stop_ms);
    return batch.rest_ms;
}

static void test_rests(void)
{
    struct batch batch = BATCH_START;
    CHECK("no rest before the first batch", batch.rest_ms == 0);
    CHECK("the classes were looked at for long enough: no rest", rest_ms(200, 20) == 0);
    CHECK("a stop of 20 ms in a call of 30 ms: 50 ms of rest", rest_ms(30, 20) == 50);
    CHECK("all of it was a stop: three times as long", rest_ms(20, 20) == 60);
}

int main(void)
{
    test_sizes();
    test_long_stops();
    test_rests();
    return tap_done();
}
