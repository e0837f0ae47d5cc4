/*
 * The same moments of a JVM, walked again and again:
 *
 *     walk_again PID FILE SECONDS    keeps registers and stacks of its samples
 *     walk_again PID FILE            walks them as 'mmprof sample' does, and prints a line for each: how its walk
 * ended, then each frame's kind, method, line and bytecode; or "refused: WHY", status 2
 *
 * Where the JVM says meanwhile that its structures are elsewhere (moved_fields.py), lines differ that are read wrongly.
 */
#include "core/base/err.h"
#include "core/hotspot/known_methods.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_methods.h"
#include "core/perf/perf_rings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STACK_BYTES 16384u
#define HZ          199

/* What the file has of each, followed by the stack's bytes. */
struct moment {
    uint64_t pc, sp, fp, link, bytecode, n_bytes;
};

static int fail(const struct err *err)
{
    fprintf(stderr, "walk_again: %s\n", err->text);
    return 1;
}

/* ---- keeping ---- */

static int ignore(const struct kernel_event *event, void *context)
{
    (void)event;
    (void)context;
    return 0;
}

static int keep(const struct kernel_event *event, void *context)
{
    const struct moment moment = { event->count,      event->stack.sp,       event->stack.fp,
                                   event->stack.link, event->stack.bytecode, event->stack.n_bytes };
    bool is_kept = event->count == KERNEL_UNKNOWN ||
                   (fwrite(&moment, sizeof moment, 1, context) == 1 &&
                    fwrite(event->stack.bytes, 1, event->stack.n_bytes, context) == event->stack.n_bytes);
    return is_kept ? 0 : -1;
}

static int keep_all(pid_t pid, FILE *file, double seconds)
{
    struct perf_rings_options options = {
        .ip_samples_hz = HZ, .no_switches = true, .stack_bytes = STACK_BYTES, .stack_fn = keep, .stack_context = file
    };
    struct perf_rings *rings;
    struct err err;
    if (perf_rings_open(&rings, pid, &options, &err) < 0)
        return fail(&err);
    for (int i = 0; i < (int)(seconds * 10); i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
        if (perf_rings_drain(rings, KERNEL_UNKNOWN, ignore, NULL) < 0)
            return fail(&err);
    }
    perf_rings_close(rings);
    return 0;
}

/* ---- walking ---- */

static uint32_t line_of(const struct vm_method *method, int32_t index)
{
    const struct code_line *best = NULL;
    for (const struct code_line *at = method->lines; at < method->lines + method->n_lines; at++)
        if ((int32_t)at->index <= index && (best == NULL || at->index > best->index))
            best = at;
    return best == NULL ? 0 : best->line;
}

static void print_frame(struct vm *vm, const struct java_frame *frame)
{
    static const char *const kinds[] = { "interpreted", "compiled", "inlined", "native", "stub" };
    static struct vm_method m;
    const struct known_method *known = frame->method;
    printf(" %s", kinds[frame->kind]);
    if (frame->kind == FRAME_COMPILED)
        printf("%u", frame->tier);
    if (known == NULL || !vm_method_read_parts(vm, &m, known->address, &known->parts, NULL))
        printf(":?");
    else
        printf(":%.*s.%.*s%.*s(%.*s:%u)@%d", (int)m.n_class_name, m.class_name, (int)m.n_name, m.name,
               (int)m.n_descriptor, m.descriptor, (int)m.n_source, m.source, line_of(&m, frame->index), frame->index);
}

static void print_walk(struct vm *vm, struct stack_walker *walker, const struct moment *moment, const uint8_t *bytes)
{
    static struct java_stack stack;
    const struct thread_state thread = { .pc = moment->pc,
                                         .sp = moment->sp,
                                         .fp = moment->fp,
                                         .link = moment->link,
                                         .bytecode = moment->bytecode,
                                         .stack = bytes,
                                         .n_bytes = moment->n_bytes };
    stack_walk(walker, &thread, &stack);
    printf("%d%s%s", stack.end, stack.is_guessed ? " guessed" : "", stack.is_in_java ? " java" : " native");
    for (uint32_t i = 0; i < stack.n; i++)
        print_frame(vm, &stack.frames[i]);
    printf("\n");
}

static int refused(const struct err *err)
{
    printf("refused: %.*s\n", (int)strcspn(err->text, "\n"), err->text);
    return 2;
}

static int walk_all(pid_t pid, FILE *file)
{
    static uint8_t bytes[STACK_BYTES];
    struct moment moment;
    struct err err;
    struct vm *vm = vm_open(pid, &err);
    struct stack_walker *walker = vm == NULL ? NULL : stack_walker_open(vm, frame_rules_here(), &err);
    if (walker == NULL || vm_check_stacks(walker, &err) < 0)
        return refused(&err);
    if (vm_methods_why_not(vm) != NULL)
        return refused(&(struct err){ "methods cannot be named" });
    stack_walker_round(walker);
    while (fread(&moment, sizeof moment, 1, file) == 1 && moment.n_bytes <= sizeof bytes &&
           fread(bytes, 1, moment.n_bytes, file) == moment.n_bytes)
        print_walk(vm, walker, &moment, bytes);
    stack_walker_close(walker);
    vm_close(vm);
    return 0;
}

int main(int argc, char **argv)
{
    pid_t pid = argc < 3 ? 0 : (pid_t)atoi(argv[1]);
    FILE *file = argc < 3 ? NULL : fopen(argv[2], argc == 3 ? "rb" : "wb");
    if (file == NULL) {
        fprintf(stderr, "usage: walk_again PID FILE [SECONDS]\n");
        return 1;
    }
    int rc = argc == 3 ? walk_all(pid, file) : keep_all(pid, file, atof(argv[3]));
    return fclose(file) == 0 ? rc : 1;
}
