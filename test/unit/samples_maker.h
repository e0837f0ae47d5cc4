/* Logs of stack samples, made by hand for the tests. */
#ifndef TEST_UNIT_SAMPLES_MAKER_H
#define TEST_UNIT_SAMPLES_MAKER_H

#include "core/wire/samples.h"

#include <string.h>

#define NORMAL (SAMPLE_HAS_LOOP | SAMPLE_HAS_CALLS | SAMPLE_IS_WANTED)

struct samples_maker {
    uint8_t bytes[1 << 20];
    struct sink s;
};

static inline void samples_maker_open(struct samples_maker *m)
{
    m->s = sink_into(m->bytes, sizeof m->bytes);
}

static inline size_t samples_maker_bytes(const struct samples_maker *m)
{
    return (size_t)(m->s.at - m->bytes);
}

static inline struct wire_text samples_text(const char *text)
{
    return (struct wire_text){ text, strlen(text) };
}

/* Class Main, 100 bytes of code. */
static inline void samples_maker_method(struct samples_maker *m, uint32_t number, const char *name, uint32_t flags)
{
    struct sample_method method = { number, 100, flags, samples_text("Main"), samples_text(name), samples_text("()V") };
    samples_put_method(&m->s, &method);
}

/* A stack as digits, outermost first: methods 0 to 9. */
static inline void samples_maker_stack(struct samples_maker *m, uint32_t thread, uint64_t cpu_ns, const char *frames,
                                       uint32_t n_same)
{
    uint32_t methods[SAMPLES_MAX_FRAMES], n = 0;
    for (; frames[n] != '\0' && frames[n] != '~'; n++)
        methods[n] = (uint32_t)(frames[n] - '0');
    struct sample_stack stack = { thread, 0, cpu_ns, frames[n] == '~', n, n_same, methods };
    samples_put_stack(&m->s, &stack);
}

#endif
