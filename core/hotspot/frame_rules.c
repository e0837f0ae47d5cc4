/* The rules of the processor that this is compiled for. */
#include "core/hotspot/frame_rules.h"

const struct frame_rules *frame_rules_here(void)
{
#ifdef __x86_64__
    return &frame_rules_x86;
#else
    return NULL;
#endif
}
