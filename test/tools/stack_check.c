/*
 * Compares mmprof's walk of a JVM's stacks, from outside, with AsyncGetCallTrace's of the same moments, frame by frame:
 *
 *     stack_check FILE PID [SECONDS [SHOWN]]
 *
 * until the JVM ends, or for some seconds (0: no end).  FILE is stack_check_agent.c's.  Prints a line "NAME NUMBER" for
 * each class of outcome, and the first SHOWN of those stacks that differ.
 */
#include "test/tools/stack_check.h"

#include "core/hotspot/known_methods.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm_methods.h"
#include "core/hotspot/vm.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum outcome {
    SAME,         /* all frames, to the bytecode */
    SAME_METHODS, /* but not all bytecodes */
    ITS_NEXT,     /* AsyncGetCallTrace has the code behind the one that the innermost frame is at (see is_its_next) */
    OTHER,
    PREFIX,     /* what was walked of a stack that was cut, or does not hold together, is the same */
    WE_NOT,     /* AsyncGetCallTrace has one; nothing was walked, or other frames */
    IT_NOT,     /* it has none, we have */
    IT_SHORTER, /* it ended before us, the same up to there */
    NEITHER,
    OUTCOMES
};

static const char *const outcomes[OUTCOMES] = { "same",        "other_bytecode",   "agct_one_further",
                                                "other",       "same_but_cut",     "only_agct",
                                                "only_mmprof", "longer_than_agct", "neither" };

static struct {
    struct vm *vm;
    struct stack_walker *walker;
    struct known_methods *methods;
    struct code_blobs *blobs;
    struct java_stack stack;
    uint64_t n, n_by_outcome[OUTCOMES], n_by_end[STACK_ENDS], n_agct[16];
    uint64_t n_java, n_java_whole, n_guessed; /* stacks that have Java methods */
    uint64_t n_frames, n_other_index;
    long shown;
} run;

/* ---- comparing ---- */

static uint64_t address_of(const struct java_frame *frame)
{
    return frame->method == NULL ? 0 : frame->method->address;
}

static uint32_t name_of(const struct java_frame *frame)
{
    static struct vm_method m;
    if (frame->method == NULL || !vm_method_read_parts(run.vm, &m, frame->method->address, &frame->method->parts, NULL))
        return 0;
    return check_name(check_name(check_name(CHECK_NAME, m.class_name, m.n_class_name), m.name, m.n_name), m.descriptor,
                      m.n_descriptor);
}

static bool is_same_method(const struct check_frame *its, const struct java_frame *ours)
{
    if (its->name != 0)
        return its->name == name_of(ours);
    return its->method == address_of(ours) || its->method == 0;
}

static bool is_same_index(const struct check_frame *its, const struct java_frame *ours)
{
    return its->index == ours->index || its->index == -1 || (its->index < 0 && ours->index <= 0) ||
           (ours->index < 0 && its->index == 0);
}

static bool are_frames(const struct code_at *at, const struct scope_frame *frames)
{
    bool are = at->blob != NULL && at->n_frames > 0;
    for (uint32_t i = 0; are && i < at->n_frames; i++)
        are = at->frames[i].method != NULL && at->frames[i].method->address == frames[i].method &&
              at->frames[i].index == frames[i].index;
    return are;
}

/*
 * Where a compiled method has called the JVM through a stub, AsyncGetCallTrace takes it for interrupted at any
 * instruction, and has the debug information behind its return address (forte.cpp, is_decipherable_compiled_frame).
 * So: there is an address, of the innermost frame or on the stack, whose own frames are ours, and AsyncGetCallTrace's
 * are those of the byte behind it; frames outside of these are the same.
 */
static bool is_its_next(const struct check_slot *slot, const struct java_frame *ours, uint32_t n)
{
    static struct scope_frame its[STACK_FRAMES_MAX], our[STACK_FRAMES_MAX];
    uint32_t n_its = (uint32_t)slot->n_frames;
    for (uint32_t i = 0; i < n_its; i++)
        its[i] = (struct scope_frame){ slot->frames[i].method, slot->frames[i].index };
    for (uint32_t i = 0; i < n; i++)
        our[i] = (struct scope_frame){ address_of(&ours[i]), ours[i].index };
    for (size_t at = 0; at + 8 <= slot->n_stack_bytes + 8; at += 8) {
        uint64_t pc = slot->pc;
        if (at > 0)
            memcpy(&pc, slot->stack + at - 8, sizeof pc);
        if (!code_blobs_has(run.blobs, pc) || !are_frames(code_blobs_at(run.blobs, pc), our))
            continue;
        uint32_t n_inner = code_blobs_at(run.blobs, pc)->n_frames;
        const struct code_at *next = code_blobs_at(run.blobs, pc + 1);
        bool is_same = next->n_frames <= n_its && n_its - next->n_frames == n - n_inner && are_frames(next, its);
        for (uint32_t i = 0; is_same && i < n - n_inner; i++)
            is_same = is_same_method(&slot->frames[next->n_frames + i], &ours[n_inner + i]) &&
                      is_same_index(&slot->frames[next->n_frames + i], &ours[n_inner + i]);
        if (is_same)
            return true;
    }
    return false;
}

/* ours has no stubs. */
static enum outcome compare(const struct check_slot *slot, const struct java_frame *ours, uint32_t n, bool is_whole)
{
    uint32_t n_its = slot->n_frames > 0 ? (uint32_t)slot->n_frames : 0;
    if (n_its == 0)
        return n == 0 ? NEITHER : IT_NOT;
    if (n == 0)
        return WE_NOT;
    uint32_t n_both = n < n_its ? n : n_its, n_methods = 0, n_indexes = 0;
    for (uint32_t i = 0; i < n_both; i++) {
        n_methods += is_same_method(&slot->frames[i], &ours[i]);
        n_indexes += is_same_index(&slot->frames[i], &ours[i]);
    }
    if (n_methods < n_both)
        return !is_whole ? WE_NOT : is_its_next(slot, ours, n) ? ITS_NEXT : OTHER;
    if (n < n_its)
        return is_whole ? OTHER : PREFIX;
    run.n_frames += n_both;
    run.n_other_index += n_both - n_indexes;
    if (n > n_its)
        return IT_SHORTER;
    return n_indexes == n_both ? SAME : is_its_next(slot, ours, n) ? ITS_NEXT : SAME_METHODS;
}

/* ---- printing ---- */

static void print_frame(const char *who, uint64_t address, int32_t index, const char *kind)
{
    static struct vm_method method;
    if (address != 0 && vm_method_read(run.vm, &method, address))
        printf("    %s %.*s.%.*s @%d %s\n", who, (int)method.n_class_name, method.class_name, (int)method.n_name,
               method.name, index, kind);
    else
        printf("    %s %" PRIx64 " @%d %s\n", who, address, index, kind);
}

static void show(const struct check_slot *slot, const struct java_frame *ours, uint32_t n, enum outcome outcome)
{
    static const char *const kinds[] = { "interpreted", "compiled", "inlined", "native", "stub" };
    uint32_t first = 0, n_its = slot->n_frames > 0 ? (uint32_t)slot->n_frames : 0;
    if (run.shown-- <= 0)
        return;
    while (first < n && first < n_its && is_same_method(&slot->frames[first], &ours[first]) &&
           is_same_index(&slot->frames[first], &ours[first]))
        first++;
    printf("# %s at %u of %u, AGCT %d, end '%s', pc %" PRIx64 " %s\n", outcomes[outcome], first, n, slot->n_frames,
           stack_end_name(run.stack.end), slot->pc, run.stack.is_in_java ? "in Java" : "native");
    if (run.stack.is_guessed)
        printf("    guessed\n");
    for (uint32_t i = first; i < n_its && i < first + 4; i++)
        print_frame("AGCT  ", slot->frames[i].method, slot->frames[i].index, "");
    for (uint32_t i = first; i < n && i < first + 4; i++)
        print_frame("mmprof", address_of(&ours[i]), ours[i].index, kinds[ours[i].kind]);
}

static void print_totals(const struct check_file *file)
{
    printf("signals %" PRIu64 "\ndropped %" PRIu64 "\nno_env %" PRIu64 "\nstacks %" PRIu64 "\n", file->n_signals,
           file->n_dropped, file->n_no_env, run.n);
    for (int i = 0; i < OUTCOMES; i++)
        printf("%s %" PRIu64 "\n", outcomes[i], run.n_by_outcome[i]);
    printf("java_stacks %" PRIu64 "\njava_stacks_whole %" PRIu64 "\nframes %" PRIu64 "\nframes_other_bytecode %" PRIu64
           "\n",
           run.n_java, run.n_java_whole, run.n_frames, run.n_other_index);
    printf("guessed %" PRIu64 "\n", run.n_guessed);
    for (int i = 0; i < STACK_ENDS; i++)
        if (run.n_by_end[i] > 0)
            printf("end %" PRIu64 " %s\n", run.n_by_end[i], stack_end_name((enum stack_end)i));
    for (int i = 0; i < 16; i++)
        if (run.n_agct[i] > 0)
            printf("agct_failed_%d %" PRIu64 "\n", i, run.n_agct[i]);
}

/* ---- the slots ---- */

static void check(const struct check_slot *slot)
{
    static struct java_frame ours[STACK_FRAMES_MAX];
    struct java_stack *stack = &run.stack;
    uint32_t n = 0;
    /* Without the bytecode's register: AsyncGetCallTrace has what the interpreted frame holds. */
    stack_walk(run.walker,
               &(struct thread_state){ .pc = slot->pc,
                                       .sp = slot->sp,
                                       .fp = slot->fp,
                                       .link = slot->link,
                                       .stack = slot->stack,
                                       .n_bytes = slot->n_stack_bytes },
               stack);
    for (uint32_t i = 0; i < stack->n; i++)
        if (stack->frames[i].kind != FRAME_STUB)
            ours[n++] = stack->frames[i];
    enum outcome outcome = compare(slot, ours, n, stack->end == STACK_WHOLE);
    run.n++;
    run.n_by_outcome[outcome]++;
    run.n_by_end[stack->end]++;
    run.n_guessed += stack->is_guessed;
    if (slot->n_frames <= 0)
        run.n_agct[-slot->n_frames % 16]++;
    if (n > 0 || slot->n_frames > 0) {
        run.n_java++;
        run.n_java_whole += stack->end == STACK_WHOLE;
    }
    if (outcome != SAME && outcome != ITS_NEXT && outcome != NEITHER && outcome != IT_NOT)
        show(slot, ours, n, outcome);
}

static void check_all(struct check_file *file)
{
    stack_walker_round(run.walker);
    known_methods_round(run.methods);
    code_blobs_round(run.blobs);
    for (uint32_t i = 0; i < CHECK_SLOTS; i++)
        if (atomic_load(&file->slots[i].state) == SLOT_FILLED) {
            check(&file->slots[i]);
            atomic_store(&file->slots[i].state, SLOT_FREE);
        }
}

static struct check_file *open_file(const char *name)
{
    int fd = open(name, O_RDWR);
    if (fd < 0)
        return NULL;
    struct check_file *file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    /* cppcheck-suppress memleak; it is mapped until the program ends */
    return file == MAP_FAILED ? NULL : file;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    struct check_file *file = argc < 3 ? NULL : open_file(argv[1]);
    pid_t pid = argc < 3 ? 0 : (pid_t)atoi(argv[2]);
    long ms_left = argc < 4 || atol(argv[3]) == 0 ? LONG_MAX : atol(argv[3]) * 1000;
    run.shown = argc < 5 ? 0 : atol(argv[4]);
    if (file == NULL || (run.vm = vm_open(pid, &err)) == NULL ||
        (run.walker = stack_walker_open(run.vm, frame_rules_here(), &err)) == NULL ||
        (run.methods = known_methods_open(run.vm)) == NULL ||
        (run.blobs = code_blobs_open(run.vm, frame_rules_here(), run.methods, &err)) == NULL) {
        fprintf(stderr, "stack_check FILE PID [SECONDS [SHOWN]]: %s\n", file == NULL ? "no such file" : err.text);
        return 1;
    }
    for (; ms_left > 0 && kill(pid, 0) == 0; ms_left -= 5) {
        check_all(file);
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    }
    print_totals(file);
    stack_walker_close(run.walker);
    code_blobs_close(run.blobs);
    known_methods_close(run.methods);
    vm_close(run.vm);
    return 0;
}
