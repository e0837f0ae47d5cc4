/* The rules of the processor that this is compiled for. */
#include "core/hotspot/known_methods.h"

const struct frame_rules *frame_rules_here(void)
{
#if defined(__x86_64__)
    return &frame_rules_x86;
#elif defined(__aarch64__)
    return &frame_rules_aarch64;
#else
#error "mmprof runs on x86-64 and aarch64"
#endif
}
