/*
 * What is measured when nobody says what: the events of thesis Table 3.1, as each kind of PMU can count them.
 *
 * The kernel's generic names are used where they count the right thing; where they are missing or wrong, the PMU's own
 * event comes first.
 */
#ifndef CORE_PMU_DEFAULT_SETS_H
#define CORE_PMU_DEFAULT_SETS_H

#include "core/base/std.h"

struct default_set {
    const char *const *pmus; /* libpfm4's names, closed by NULL; NULL: any PMU that no other set is for */
    /* The most important first, closed by NULL; "A|B" is A, or B where A does not work. */
    const char *const *events;
};

/* The last one has pmus NULL. */
extern const struct default_set default_sets[];

/* The set for a PMU in libpfm4's spelling, "amd64_fam19h_zen4"; "" is none that libpfm4 knows. */
const struct default_set *default_set_for(const char *pmu);

/* Copy the first alternative at *at, and move *at behind it.  Returns its length; 0 when there is none left. */
size_t default_set_alternative(const char **at, char *out, size_t n);

#endif
