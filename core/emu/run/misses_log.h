/*
 * From the plugin's log of misses into the trace: addresses of instructions become code locations, thread ids become
 * threads.  Which bytecode an instruction is from the plugin says by the code that was at its address some time later:
 * it is told where it agrees with what the JVM told of the code that was there then.
 *
 * What is in the log waits until the JVM has told what code was there: it tells some ms late, and in an emulator later.
 */
#ifndef CORE_EMU_RUN_MISSES_LOG_H
#define CORE_EMU_RUN_MISSES_LOG_H

#include "core/recorder/ip_samples.h"
#include "core/recorder/threads.h"
#include "core/trace/misses.h"

struct misses_log {
    int fd;                        /* borrowed; -1: none */
    struct ip_samples *ip_samples; /* borrowed, as the threads */
    struct threads *threads;       /* who is in the log is known by then */
    uint64_t read_bytes;
    uint8_t *bytes;        /* owned: a piece of the log */
    uint64_t maps_read_ns; /* when */
    bool is_damaged;
    /* The bytecode of the entries that follow, plus 1; of each, its index in its method; of a location, what was told.
     */
    uint32_t bytecode;
    uint16_t *indexes; /* owned */
    size_t indexes_room;
    struct hash_set told;
};

void misses_log_init(struct misses_log *log, int fd, struct ip_samples *ip_samples, struct threads *threads);
void misses_log_free(struct misses_log *log);

/*
 * Write what has waited long enough, or with is_last all.  now_ns: CLOCK_MONOTONIC_RAW; until_ticks: what was logged
 * before has waited.  Returns 0, or -1 with *err set.
 */
int misses_log_write(struct misses_log *log, struct trace_writer *writer, uint64_t now_ns, uint64_t until_ticks,
                     bool is_last, struct err *err);

#endif
