#include "core/perf/perf_records.h"

#include "core/base/bytes.h"

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

/*
 * After the fields of each SAMPLE: perhaps the period; which registers these are, none in a thread of the kernel, and
 * the one asked for.
 */
static int decode_ip_sample(struct cursor *in, uint16_t misc, unsigned format, struct kernel_event *event)
{
    decode_sample_id(in, event);
    event->kind = KERNEL_IP_SAMPLE;
    event->in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    event->stack.period = (format & KERNEL_WITH_PERIOD) != 0 ? cursor_u64le(in) : 0;
    event->count = cursor_u64le(in) == PERF_SAMPLE_REGS_ABI_NONE ? KERNEL_UNKNOWN : cursor_u64le(in);
    return in->bad ? -1 : 1;
}

/* How many there are, two times, and they; the reader looks at them again.  NULL: damaged. */
static const uint8_t *skip_values(struct cursor *in)
{
    uint64_t n = cursor_u64le(in);
    return n > 0 && n <= KERNEL_VALUES_MAX ? cursor_bytes(in, (size_t)(n + 2) * 8) : NULL;
}

bool kernel_values(const struct kernel_stack *stack, struct kernel_values *values)
{
    if (stack->values == NULL)
        return false;
    struct cursor in = cursor_over(stack->values, (KERNEL_VALUES_MAX + 3) * 8);
    values->n = (uint32_t)cursor_u64le(&in);
    values->enabled_ns = cursor_u64le(&in);
    values->running_ns = cursor_u64le(&in);
    for (uint32_t i = 0; i < values->n; i++)
        values->values[i] = cursor_u64le(&in);
    return true;
}

/* The same with perhaps a period and values, registers and the stack: room for n bytes, how many were copied. */
static int decode_stack(struct cursor *in, uint16_t misc, unsigned format, struct kernel_event *event)
{
    uint64_t registers[KERNEL_REGISTERS + 1] = { [KERNEL_PC] = KERNEL_UNKNOWN }, n_room, n_bytes = 0;
    const uint8_t *values = NULL, *bytes = NULL;
    decode_sample_id(in, event);
    event->kind = KERNEL_IP_SAMPLE;
    event->in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    uint64_t period = (format & KERNEL_WITH_PERIOD) != 0 ? cursor_u64le(in) : 0;
    if ((format & KERNEL_WITH_VALUES) != 0 && (values = skip_values(in)) == NULL)
        return -1;
    for (size_t i = 0, n = cursor_u64le(in) == PERF_SAMPLE_REGS_ABI_NONE ? 0 : KERNEL_REGISTERS; i < n; i++)
        registers[i] = cursor_u64le(in);
    n_room = cursor_u64le(in);
    if (n_room > 0 && n_room <= cursor_left(in))
        bytes = cursor_bytes(in, (size_t)n_room);
    if (bytes != NULL)
        n_bytes = cursor_u64le(in);
    if (in->bad || (n_room > 0 && bytes == NULL) || n_bytes > n_room)
        return -1;
    event->count = registers[KERNEL_PC];
    event->stack = (struct kernel_stack){ .sp = registers[KERNEL_SP],
                                          .fp = registers[KERNEL_FP],
                                          .link = registers[KERNEL_LINK],
                                          .bytecode = registers[KERNEL_BYTECODE],
                                          .bytes = n_bytes > 0 ? bytes : NULL,
                                          .n_bytes = (size_t)n_bytes,
                                          .period = period,
                                          .values = values == NULL ? NULL : values - 8 };
    return 1;
}

/* A page fault's sample has nothing behind its first fields. */
static int decode_sample(struct cursor *in, uint16_t misc, unsigned format, struct kernel_event *event)
{
    event->kind = KERNEL_PAGE_FAULT;
    if (cursor_left(in) <= SAMPLE_ID_BYTES)
        return 1;
    return (format & KERNEL_WITH_STACK) != 0 ? decode_stack(in, misc, format, event)
                                             : decode_ip_sample(in, misc, format, event);
}

int kernel_record_decode(const uint8_t *record, size_t n, unsigned format, struct kernel_event *event)
{
    struct cursor header = cursor_over(record, n);
    uint32_t type = cursor_u32le(&header);
    uint16_t misc = cursor_u16le(&header);
    cursor_u16le(&header);
    if (n < HEADER_BYTES + SAMPLE_ID_BYTES)
        return -1;
    if ((format & KERNEL_NAMES_ONLY) != 0 && type != PERF_RECORD_COMM)
        return 0;
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
        return decode_sample(&header, misc, format, event);
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

int perf_records_walk(const uint8_t *data, size_t size, unsigned format, uint64_t *tail, uint64_t head, uint8_t *copy,
                      uint64_t *n_bad, kernel_event_fn *fn, void *context)
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
        const uint8_t *record = data + (*tail & (size - 1));
        if (n > size - (size_t)(*tail & (size - 1))) {
            copy_out(data, size, *tail, copy, n);
            record = copy;
        }
        *tail += n;
        struct kernel_event event;
        int rc = kernel_record_decode(record, n, format, &event);
        *n_bad += rc < 0;
        if (rc > 0 && fn(&event, context) < 0)
            return -1;
    }
    *n_bad += *tail != head;
    *tail = head;
    return 0;
}
