/*
 * Objects of which only some are seen: HotSpot draws the bytes from one that it tells of to the next from an
 * exponential distribution (JVMTI's SetHeapSamplingInterval).
 */
#ifndef CORE_BASE_SAMPLED_OBJECTS_H
#define CORE_BASE_SAMPLED_OBJECTS_H

#define SAMPLED_SURE 40 /* intervals: a larger object is seen but for 1 in 10^17 */

/*
 * How many objects of so many bytes one that is seen stands for: 1 / (1 - exp(-bytes / interval)).  interval_bytes: the
 * mean; 0: all are seen.  Without libm, which the emulator's plugins do not have: to 8 digits and more.
 */
static inline double sampled_objects(double bytes, double interval_bytes)
{
    if (interval_bytes <= 0 || bytes <= 0 || bytes > SAMPLED_SURE * interval_bytes)
        return 1;
    double x = bytes / interval_bytes / 1024, unseen = 1 - x * (1 - x / 2 * (1 - x / 3));
    for (int i = 0; i < 10; i++)
        unseen *= unseen; /* exp(-x) to the power of 1024 */
    return 1 / (1 - unseen);
}

#endif
