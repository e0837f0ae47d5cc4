/* The parts that the laboratory's agent has besides. */
#include "core/agent/control/agent_lab.h"
#include "core/agent/lab/lab.h"
#include "core/emu/run/simulated_read.h"

static void load(JavaVM *vm, const struct setting *option)
{
    if (option->kind == SETTING_TRACK_OBJECTS)
        track_objects_start(vm, (jint)option->number);
    if (option->kind == SETTING_COUNT_OBJECTS)
        count_objects_start(vm, option->text, NULL, 0);
    if (option->kind == SETTING_COUNT_OBJECTS_IN)
        count_objects_start(vm, option->text, option->name, option->number);
    if (option->kind == SETTING_COUNT_RECEIVERS)
        count_receivers_start(vm, option->text, option->number);
    if (option->kind == SETTING_COUNT_CALLS)
        count_calls_start(vm, option->text, option->number);
}

static void tell_started(void)
{
    emulated_tell_own();
    emulated_tell_tables();
}

const struct agent_lab agent_lab = { .enter = emulate_self,
                                     .load = load,
                                     .open_counters = simulated_open,
                                     .align_handlers = emulated_align_handlers,
                                     .vm_started = tell_started,
                                     .vm_ends = emulated_tell_end,
                                     .collection_started = emulated_collection_start,
                                     .collection_ended = emulated_collection_end };
