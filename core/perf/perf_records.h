/* What the kernel writes into a perf ring, decoded: context switches, page faults, threads' starts, ends and names. */
#ifndef CORE_PERF_PERF_RECORDS_H
#define CORE_PERF_PERF_RECORDS_H

#include "core/base/std.h"

#include <linux/perf_event.h>

enum kernel_event_kind {
    KERNEL_THREAD_FOUND, /* the thread was there at the start; time_ns is when its records begin */
    KERNEL_CPU_IN,
    KERNEL_CPU_OUT,       /* it waits */
    KERNEL_CPU_PREEMPTED, /* it could run but lost the CPU */
    KERNEL_PAGE_FAULT,
    KERNEL_THREAD_START, /* born; it is not on a CPU yet */
    KERNEL_THREAD_END,   /* it is on a CPU and leaves it now for good: no CPU_OUT follows */
    KERNEL_COMM,         /* it has a new name */
    KERNEL_EXEC,         /* likewise: its process begins another program, and this is its only thread, and the first */
    KERNEL_IP_SAMPLE,    /* it was found at an instruction: 'count' is its address in user space, or KERNEL_UNKNOWN */
    KERNEL_LOST          /* 'count' records of this CPU did not fit; tid is 0 */
};

#define KERNEL_NAME_BYTES 16
#define KERNEL_UNKNOWN    UINT64_MAX
#define KERNEL_VALUES_MAX 8

/* With a sample: more of the thread's registers in user space, and the innermost bytes of its stack there. */
struct kernel_stack {
    uint64_t sp, fp;
    uint64_t link;        /* the link register; 0 on x86-64 */
    uint64_t bytecode;    /* in the interpreter: the bytecode's address */
    const uint8_t *bytes; /* from sp on; NULL: none were copied */
    size_t n_bytes;
    uint64_t period;       /* of the event that took the sample: so much of it since the sample before; 0: not told */
    const uint8_t *values; /* of the events that are read with it: kernel_values; NULL: none are */
};

struct kernel_event {
    enum kernel_event_kind kind;
    bool in_kernel; /* HIT: the kernel worked for it, called from that address */
    uint32_t cpu;
    int32_t pid, tid;             /* in the caller's PID namespace */
    int32_t by_tid;               /* the thread that ran when it was recorded: a START's is the parent's */
    uint64_t time_ns;             /* CLOCK_MONOTONIC_RAW */
    uint64_t count;               /* LOST: records; FOUND: ns on the CPU since its birth, or KERNEL_UNKNOWN */
    uint64_t event_id;            /* of the perf event that recorded it */
    uint32_t ip_event;            /* IP_SAMPLE: 0, the clock's or trigger's; i: taken by ip_events[i - 1] */
    uint64_t order;               /* of arrival */
    char name[KERNEL_NAME_BYTES]; /* COMM, EXEC, FOUND; ends with NUL */
    struct kernel_stack stack;    /* HIT of an event that copies stacks; until the function that gets it returns */
};

/* The events' sample_type that the decoder knows. */
#define KERNEL_SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU)

/* That of IP samples, with one register of user space: its instruction pointer.  A page fault's sample has none. */
#define KERNEL_IP_SAMPLE_TYPE (KERNEL_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER)
#ifdef __x86_64__
#define KERNEL_IP_SAMPLE_REGISTERS (UINT64_C(1) << 8) /* PERF_REG_X86_IP */
#else
#define KERNEL_IP_SAMPLE_REGISTERS (UINT64_C(1) << 32) /* PERF_REG_ARM64_PC */
#endif

/*
 * That of samples with a stack, with the registers below, in this order, of which in the interpreter one points to the
 * bytecode; there is no link register on x86-64: it stays 0.  With PERF_SAMPLE_PERIOD, with the event's period; and
 * with PERF_SAMPLE_READ, with the values of a group of events, in KERNEL_READ_FORMAT.
 */
#define KERNEL_STACK_TYPE  (KERNEL_IP_SAMPLE_TYPE | PERF_SAMPLE_STACK_USER)
#define KERNEL_READ_FORMAT (PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#ifdef __x86_64__
#define KERNEL_STACK_REGISTERS (UINT64_C(7) << 6 | UINT64_C(1) << 21) /* PERF_REG_X86_BP, _SP, _IP, _R13 */
enum { KERNEL_FP, KERNEL_SP, KERNEL_PC, KERNEL_BYTECODE, KERNEL_REGISTERS, KERNEL_LINK = KERNEL_REGISTERS };
#else
#define KERNEL_STACK_REGISTERS (UINT64_C(1) << 22 | UINT64_C(15) << 29) /* PERF_REG_ARM64_X22, _X29, _LR, _SP, _PC */
enum { KERNEL_BYTECODE, KERNEL_FP, KERNEL_LINK, KERNEL_SP, KERNEL_PC, KERNEL_REGISTERS };
#endif

/* What a group's events have counted, in the order of opening. */
struct kernel_values {
    uint32_t n;
    uint64_t enabled_ns, running_ns; /* that they should have counted, and did */
    uint64_t values[KERNEL_VALUES_MAX];
};

/* Of a sample's event.stack, while that is there.  Returns false when there are none. */
bool kernel_values(const struct kernel_stack *stack, struct kernel_values *values);

/* What a ring's samples have, if they have more than page faults' and IP samples': or-ed. */
enum kernel_format {
    KERNEL_WITH_STACK = 1,
    KERNEL_WITH_VALUES = 2,
    KERNEL_WITH_PERIOD = 4,
    KERNEL_NAMES_ONLY = 8 /* other records are of no interest */
};

/*
 * Decode one record of n bytes, its header included.  format: enum kernel_format.  Returns 1; 0 for a kind of record
 * that is of no interest; -1 for one that is too short for what it says it is.
 */
int kernel_record_decode(const uint8_t *record, size_t n, unsigned format, struct kernel_event *event);

/* Returns 0, or -1 to stop. */
typedef int kernel_event_fn(const struct kernel_event *event, void *context);

#define KERNEL_RECORD_MAX_BYTES 65535

/*
 * Decode all records of a ring between *tail and head, which count bytes since the beginning; size is a power of two.
 * *tail is advanced past what was decoded.  A record that is damaged is counted in *n_bad; one whose length cannot be
 * right ends the walk: what follows it up to head is dropped.  copy holds KERNEL_RECORD_MAX_BYTES, for records that
 * wrap around the end.  Returns 0, or -1 when fn said stop.
 */
int perf_records_walk(const uint8_t *data, size_t size, unsigned format, uint64_t *tail, uint64_t head, uint8_t *copy,
                      uint64_t *n_bad, kernel_event_fn *fn, void *context);

#endif
