/*
 * Which virtual machine a process is, from made-up mappings, and how others than HotSpot on glibc are refused.
 */
#include "core/jvm/kind.h"
#include "core/jvm/obstacle.h"
#include "test/unit/tap.h"

#include <string.h>
#include <unistd.h>

#define LINE "7f0000000000-7f0000001000 r-xp 00000000 08:01 42                         "

static struct jvm_kind kind_of(const char *maps)
{
    struct jvm_kind kind;
    FILE *file = fmemopen((void *)maps, strlen(maps), "r");
    jvm_kind_read(file, &kind);
    fclose(file);
    return kind;
}

static void test_kinds(void)
{
    static const struct {
        const char *claim, *maps, *refusal; /* what it has; "": none */
    } rows[] = {
        { "HotSpot is measured",
          LINE "/usr/lib/jvm/java-17-openjdk-amd64/bin/java\n" LINE "/usr/lib/jvm/java-17/lib/server/libjvm.so\n" LINE
               "/usr/lib/x86_64-linux-gnu/libc.so.6\n",
          "" },
        { "OpenJ9 is refused, though its libjvm.so is there",
          LINE "/opt/semeru/lib/j9vm/libjvm.so\n" LINE "/opt/semeru/lib/default/libj9vm29.so\n", "OpenJ9" },
        { "a native image's library is refused", LINE "/app/libsubstratevm.so\n", "GraalVM native image" },
        { "another program is refused", LINE "/usr/bin/sleep\n7f00-7f01 rw-p 0 00:00 0\n", "not a HotSpot JVM" },
        { "so is one of which nothing is known", "7f00-7f01 rw-p 00000000 00:00 0 [heap]\n", "not a HotSpot JVM" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = { "" };
        struct jvm_kind kind = kind_of(rows[i].maps);
        int rc = jvm_kind_check(&kind, 4711, "x", &err);
        CHECK(rows[i].claim, rows[i].refusal[0] == '\0' ? rc == 0
                                                        : rc < 0 && strstr(err.text, rows[i].refusal) != NULL &&
                                                              strstr(err.text, "\n  next: ") != NULL);
    }
    CHECK("a JVM on musl is told by its loader",
          kind_of(LINE "/usr/lib/jvm/libjvm.so\n" LINE "/lib/ld-musl-x86_64.so.1\n").is_musl);
    CHECK("this program is no native image",
          !jvm_kind_is_image("/proc/self/exe") && !jvm_kind_is_image("/proc/self/maps"));
}

static void test_obstacles(void)
{
    static const struct {
        enum jvm_obstacle obstacle;
        const char *refusal;
    } rows[] = {
        { JVM_OBSTACLE_OPENJ9, "OpenJ9" },  { JVM_OBSTACLE_OLD, "older than JDK 8" },
        { JVM_OBSTACLE_MUSL, "musl libc" }, { JVM_OBSTACLE_LAB, "--simulate" },
        { JVM_OBSTACLE_NONE, "" },          { JVM_OBSTACLE_SIGNAL, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = { "" };
        int rc = jvm_obstacle_refuse(rows[i].obstacle, 4711, &err);
        CHECK(jvm_obstacle_word(rows[i].obstacle),
              rows[i].refusal[0] == '\0'
                  ? rc == 0
                  : rc < 0 && strstr(err.text, rows[i].refusal) != NULL && strstr(err.text, "  next: ") != NULL);
    }
}

int main(void)
{
    test_kinds();
    test_obstacles();
    return tap_done();
}
