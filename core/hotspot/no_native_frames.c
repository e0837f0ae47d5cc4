/*
 * Frames of native code are not looked at here, where a stack is walked from where the thread left Java on: linked in
 * the place of core/hotspot/native_frames.c, which needs libdw.
 */
#include "core/hotspot/stack_walk_internal.h"

static const struct native_rule none;

struct native_frames *native_frames_open(struct vm *vm)
{
    (void)vm;
    return (struct native_frames *)(uintptr_t)&none; /* nobody looks into it */
}

void native_frames_close(struct native_frames *native)
{
    (void)native;
}

void native_frames_round(struct native_frames *native)
{
    (void)native;
}

const struct native_rule *native_frames_at(struct native_frames *native, uint64_t pc)
{
    (void)native, (void)pc;
    return &none;
}
