/* How full a JVM's code cache is, as the JVM tells it. */
#include "core/jvm/jvm_memory.h"

#include "test/unit/tap.h"

#include <inttypes.h>

#define REST(stopped)                                                        \
    " bounds [0x00007fd9b5800000, 0x00007fd9b5aa0000, 0x00007fd9b5b00000]\n" \
    " total_blobs=1181 nmethods=765 adapters=329\n compilation: enabled\n"   \
    "              stopped_count=" stopped ", restarted_count=0\n full_count=0\n"

static const struct {
    const char *claim, *report, *told;
} rows[] = {
    { "one heap, full to what is kept free",
      "0\nCodeCache: size=3072Kb used=2508Kb max_used=2631Kb free=563Kb\n" REST("0"), "full 3072 2631 0" },
    { "one heap with room", "0\nCodeCache: size=245760Kb used=2508Kb max_used=2631Kb free=243252Kb\n" REST("0"),
      "room 245760 2631 0" },
    { "the fullest of several heaps, but for that of the interpreter",
      "0\nCodeHeap 'non-profiled nmethods': size=120028Kb used=51Kb max_used=51Kb free=119976Kb\n bounds [1, 2, 3]\n"
      "CodeHeap 'profiled nmethods': size=120028Kb used=19000Kb max_used=119600Kb free=119862Kb\n bounds [1, 2, 3]\n"
      "CodeHeap 'non-nmethods': size=5704Kb used=5700Kb max_used=5704Kb free=4Kb\n" REST("0"),
      "full 120028 119600 0" },
    { "compilation that has stopped", "0\nCodeCache: size=245760Kb used=2508Kb max_used=2631Kb free=9Kb\n" REST("2"),
      "full 245760 2631 2" },
    { "a JVM that does not know the command", "0\njava.lang.IllegalArgumentException: Unknown diagnostic command\n",
      "none" },
    { "nonsense", "CodeCache: size=-1Kb max_used=7", "none" },
    { "nothing", "", "none" },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct jvm_code_cache c;
        char told[128] = "none";
        if (jvm_code_cache_parse(rows[i].report, &c) == 0)
            snprintf(told, sizeof told, "%s %" PRIu64 " %" PRIu64 " %" PRIu64,
                     jvm_code_cache_is_full(&c) ? "full" : "room", c.size_bytes / 1024, c.most_bytes / 1024,
                     c.n_stopped);
        CHECK_TEXT(rows[i].claim, told, rows[i].told);
    }
    return tap_done();
}
