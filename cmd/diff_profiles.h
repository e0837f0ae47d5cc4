/*
 * mmprof diff --profiles: how alike the profiles of several recordings are.
 */
#ifndef CMD_DIFF_PROFILES_H
#define CMD_DIFF_PROFILES_H

#include "cmd/display.h"
#include "report/diff/compare.h"

struct diff_profiles {
    struct options_list words; /* traces and files of folded stacks */
    struct compare_options options;
    const char *from; /* "samples", "calls" or NULL */
    bool by_context;
};

/* clang-format off */
#define DIFF_PROFILES_BEGIN { .options = { .top_share = 0.2 } }
#define DIFF_PROFILES_ROWS(profiles) \
    OPTIONS_GROUP("How alike profiles are"), \
    { 0, "profiles", "PROFILE", OPTION_LIST, &(profiles)->words, \
      "compare traces or folded stacks, pair by pair; more may follow it" }, \
    { 0, "contexts", NULL, OPTION_FLAG, &(profiles)->by_context, "compare calling contexts, not methods" }, \
    { 0, "total", NULL, OPTION_FLAG, &(profiles)->options.is_total, "total time, with callees (default: self time)" }, \
    { 0, "top", "N", OPTION_NUMBER, &(profiles)->options.n_first, \
      "only the N methods with the most time in the first profile" }, \
    OPTIONS_RARE, \
    { 0, "hot", "SHARE", OPTION_FRACTION, &(profiles)->options.top_share, \
      "look for this share of the first profile's methods, the hottest (20%)" }, \
    { 0, "from", "WHAT", OPTION_TEXT, &(profiles)->from, "'samples' or 'calls' (samples, if a trace has any)" }, \
    { 0, "probed", NULL, OPTION_FLAG, &(profiles)->options.is_probed, \
      "only methods that had probes; callers get the other methods' time" }
/* clang-format on */

/* Print the table.  Returns 0, or -1 with *err set. */
int diff_profiles_print(struct diff_profiles *profiles, bool salvage, bool as_csv, bool as_json,
                        struct display *display, struct arena *arena, struct err *err);

#endif
