/* What the kernel charges threads beyond their run slices: mostly for getting and losing them. */
#ifndef REPORT_SWITCHES_H
#define REPORT_SWITCHES_H

#include "report/source.h"

struct switches {
    bool are_known;
    double part_ns[VM_PARTS]; /* negative: the host of a virtual machine kept more from it */
    double all_ns;
    double
        spread_ns; /* of it: not read of the threads themselves, but what all were charged for a run slice on average */
};

/* Of the trace's threads.  Not known where the trace has no such readings, or has lost some of the kernel's events. */
void switches_compute(const struct report_source *source, struct switches *switches);

#endif
