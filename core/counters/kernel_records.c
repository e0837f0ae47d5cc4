#include "core/counters/kernel_records.h"

#include "core/base/bytes.h"

#include <string.h>

#define HEADER_BYTES    8
#define SAMPLE_ID_BYTES 32 /* of KERNEL_SAMPLE_TYPE: pid, tid, time, id, cpu, nothing */

/* The same fields make up a whole SAMPLE and the end of every other record. */
static void decode_sample_id(struct cursor *in, struct kernel_event *event)
{
    event->pid = (int32_t)cursor_u32le(in);
    event->by_tid = event->tid = (int32_t)cursor_u32le(in);
    event->time_ns = cursor_u64le(in);
    event->event_id = cursor_u64le(in);
    event->cpu = cursor_u32le(in);
    cursor_u32le(in);
}

/* FORK and EXIT: pid, ppid, tid, ptid, time. */
static void decode_task(struct cursor *in, struct kernel_event *event)
{
    event->pid = (int32_t)cursor_u32le(in);
    cursor_u32le(in);
    event->tid = (int32_t)cursor_u32le(in);
    cursor_bytes(in, 12);
}

static void decode_comm(struct cursor *in, struct kernel_event *event)
{
    event->pid = (int32_t)cursor_u32le(in);
    event->tid = (int32_t)cursor_u32le(in);
    size_t n = cursor_left(in), n_name = n < KERNEL_NAME_BYTES - 1 ? n : KERNEL_NAME_BYTES - 1;
    const uint8_t *name = cursor_bytes(in, n);
    if (name != NULL)
        memcpy(event->name, name, n_name);
}

/* After the fields of each SAMPLE: which registers these are, none in a thread of the kernel, and the one asked for. */
static int decode_hit(struct cursor *in, uint16_t misc, struct kernel_event *event)
{
    decode_sample_id(in, event);
    event->kind = KERNEL_HIT;
    event->in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    event->count = cursor_u64le(in) == PERF_SAMPLE_REGS_ABI_NONE ? KERNEL_UNKNOWN : cursor_u64le(in);
    return in->bad ? -1 : 1;
}

/* The same with three registers and the stack: room for n bytes, and how many of them were copied. */
static int decode_stack(struct cursor *in, uint16_t misc, struct kernel_event *event)
{
    uint64_t registers[3] = { 0, 0, KERNEL_UNKNOWN }, n_room, n_bytes = 0;
    decode_sample_id(in, event);
    event->kind = KERNEL_HIT;
    event->in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    for (size_t i = 0, n = cursor_u64le(in) == PERF_SAMPLE_REGS_ABI_NONE ? 0 : 3; i < n; i++)
        registers[i] = cursor_u64le(in);
    n_room = cursor_u64le(in);
    const uint8_t *bytes = n_room > cursor_left(in) ? NULL : cursor_bytes(in, (size_t)n_room);
    if (n_room > 0 && bytes != NULL)
        n_bytes = cursor_u64le(in);
    if (in->bad || (n_room > 0 && bytes == NULL) || n_bytes > n_room)
        return -1;
    event->count = registers[2];
    event->stack = (struct kernel_stack){ registers[1], registers[0], n_bytes > 0 ? bytes : NULL, (size_t)n_bytes };
    return 1;
}

/*
 * Which kind of sample a record is, is told by its length: a page fault's has nothing behind its first fields, a hit's
 * at most one register, and more is a stack's, which has none of both in a thread of the kernel, but says so in a word.
 */
#define HIT_BYTES (HEADER_BYTES + SAMPLE_ID_BYTES + 2 * 8)

static bool has_stack(const uint8_t *record, size_t n)
{
    struct cursor registers = cursor_over(record, n);
    cursor_bytes(&registers, HEADER_BYTES + SAMPLE_ID_BYTES);
    return n > HIT_BYTES || (n == HIT_BYTES && cursor_u64le(&registers) == PERF_SAMPLE_REGS_ABI_NONE);
}

int kernel_record_decode(const uint8_t *record, size_t n, struct kernel_event *event)
{
    struct cursor header = cursor_over(record, n);
    uint32_t type = cursor_u32le(&header);
    uint16_t misc = cursor_u16le(&header);
    cursor_u16le(&header);
    if (n < HEADER_BYTES + SAMPLE_ID_BYTES)
        return -1;
    memset(event, 0, sizeof *event);
    struct cursor id = cursor_over(record + n - SAMPLE_ID_BYTES, SAMPLE_ID_BYTES);
    struct cursor body = cursor_over(record + HEADER_BYTES, n - HEADER_BYTES - SAMPLE_ID_BYTES);
    decode_sample_id(&id, event);
    switch (type) {
    case PERF_RECORD_SWITCH:
        event->kind = (misc & PERF_RECORD_MISC_SWITCH_OUT) == 0           ? KERNEL_CPU_IN
                      : (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0 ? KERNEL_CPU_PREEMPTED
                                                                          : KERNEL_CPU_OUT;
        break;
    case PERF_RECORD_SAMPLE:
        if (n > HEADER_BYTES + SAMPLE_ID_BYTES)
            return has_stack(record, n) ? decode_stack(&header, misc, event) : decode_hit(&header, misc, event);
        event->kind = KERNEL_PAGE_FAULT;
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        event->kind = type == PERF_RECORD_FORK ? KERNEL_THREAD_START : KERNEL_THREAD_END;
        decode_task(&body, event);
        break;
    case PERF_RECORD_COMM:
        event->kind = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0 ? KERNEL_EXEC : KERNEL_COMM;
        decode_comm(&body, event);
        break;
    case PERF_RECORD_LOST:
        event->kind = KERNEL_LOST;
        cursor_u64le(&body);
        event->count = cursor_u64le(&body);
        event->tid = event->pid = 0;
        break;
    default:
        return 0;
    }
    return body.bad ? -1 : 1;
}

static void copy_out(const uint8_t *data, size_t size, uint64_t at, uint8_t *out, size_t n)
{
    size_t start = (size_t)(at & (size - 1)), n_first = n < size - start ? n : size - start;
    memcpy(out, data + start, n_first);
    memcpy(out + n_first, data, n - n_first);
}

int kernel_records_walk(const uint8_t *data, size_t size, uint64_t *tail, uint64_t head, uint8_t *copy, uint64_t *n_bad,
                        kernel_event_fn *fn, void *context)
{
    if (head - *tail > size) {
        ++*n_bad;
        *tail = head;
    }
    while (head - *tail >= HEADER_BYTES) {
        uint8_t length[2];
        copy_out(data, size, *tail + 6, length, sizeof length);
        size_t n = (size_t)length[0] | (size_t)length[1] << 8;
        if (n < HEADER_BYTES || n > head - *tail)
            break;
        copy_out(data, size, *tail, copy, n);
        *tail += n;
        struct kernel_event event;
        int rc = kernel_record_decode(copy, n, &event);
        *n_bad += rc < 0;
        if (rc > 0 && fn(&event, context) < 0)
            return -1;
    }
    *n_bad += *tail != head;
    *tail = head;
    return 0;
}
