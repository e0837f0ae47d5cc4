/*
 * The test harness: a name is a claim.  Each case prints one TAP line; test/run adds them up.
 *
 *     int main(void)
 *     {
 *         CHECK("an empty trace has no events", count == 0);
 *         CHECK_TEXT("the error names the file", err.text, "cannot open 'x': ...");
 *         SKIP("rdpmc reads the counter", "this machine has no PMU");
 *         return tap_done();
 *     }
 */
#ifndef TEST_UNIT_TAP_H
#define TEST_UNIT_TAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_n, tap_failed;

static inline bool tap_check(bool ok, const char *claim, const char *file, int line)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", ++tap_n, claim);
    if (!ok) {
        printf("# %s:%d\n", file, line);
        tap_failed++;
    }
    fflush(stdout);
    return ok;
}

#define CHECK(claim, condition) tap_check((condition), (claim), __FILE__, __LINE__)

#define CHECK_NUMBER(claim, actual, expected)                                 \
    do {                                                                      \
        uint64_t tap_a = (uint64_t)(actual), tap_e = (uint64_t)(expected);    \
        if (!CHECK(claim, tap_a == tap_e))                                    \
            printf("# is %" PRIu64 ", expected %" PRIu64 "\n", tap_a, tap_e); \
    } while (0)

#define CHECK_TEXT(claim, actual, expected)                                                \
    do {                                                                                   \
        const char *tap_a = (actual), *tap_e = (expected);                                 \
        if (!CHECK(claim, tap_a != NULL && strcmp(tap_a, tap_e) == 0))                     \
            printf("# is '%s', expected '%s'\n", tap_a == NULL ? "(null)" : tap_a, tap_e); \
    } while (0)

#define SKIP(claim, why) printf("ok %d - %s # SKIP %s\n", ++tap_n, (claim), (why))

static inline int tap_done(void)
{
    printf("1..%d\n", tap_n);
    return tap_failed == 0 ? 0 : 1;
}

#endif
