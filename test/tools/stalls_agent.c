/*
 * Loaded before a program (LD_PRELOAD) in the emulated machine, whose PMU counts no stalls and no operations: opens
 * instructions, or cycles, in the place of those events, so that what they count is known.
 */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INST_RETIRED 0x08
#define CPU_CYCLES   0x11

/* Arm's event numbers.  STALL_BACKEND and BR_MIS_PRED stay what they are: 0. */
static const struct {
    unsigned long long event, instead;
} events[] = {
    { 0x23, INST_RETIRED }, /* STALL_FRONTEND */
    { 0x3a, INST_RETIRED }, /* OP_RETIRED */
    { 0x3b, CPU_CYCLES },   /* OP_SPEC */
    { 0x3d, INST_RETIRED }, /* STALL_SLOT_BACKEND */
    { 0x3e, INST_RETIRED }, /* STALL_SLOT_FRONTEND */
};

__attribute__((visibility("default"))) long syscall(long number, ...)
{
    static long (*next)(long, ...);
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    struct perf_event_attr *attr = (struct perf_event_attr *)a[0];
    unsigned long long config = number == SYS_perf_event_open ? attr->config : 0;
    for (size_t i = 0; i < sizeof events / sizeof events[0] && config != 0; i++)
        if (attr->type >= PERF_TYPE_RAW && config == events[i].event)
            attr->config = events[i].instead;
    long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (config != 0)
        attr->config = config;
    return result;
}
