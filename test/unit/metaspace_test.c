#include "core/jvm/jvm_memory.h"

#include "test/unit/tap.h"

#define MB(n) ((uint64_t)((n)*1048576))

/* As JDK 17 and 25 write it, shortened. */
#define VIRTUAL                                                                               \
    "Virtual space:\n"                                                                        \
    "  Non-class space:       64.00 MB reserved,      57.00 MB ( 89%) committed,  1 nodes.\n" \
    "             Both:      128.00 MB reserved,      60.50 MB ( 47%) committed. \n\n"

static const char *const basic = "Usage:\n  Non-class:    339.59 KB used.\n       Both:    357.66 KB used.\n\n" VIRTUAL
                                 "MaxMetaspaceSize: 64.00 MB\nCompressedClassSpaceSize: 64.00 MB\n";
static const char *const whole =
    "Total Usage - 42 loaders, 500 classes (500 shared):\n"
    "  Non-Class:  66 chunks, 9.00 MB capacity, 8.88 MB ( 99%) committed,  8.82 MB ( 98%) used,    57.53 KB ( <1%) "
    "free,"
    "     0 bytes (  0%) waste , deallocated: 7297 blocks with 1.75 MB\n"
    "       Both:  86 chunks, 28.95 MB capacity, 28.45 MB ( 98%) committed,  28.36 MB ( 98%) used,    96.24 KB ( <1%) "
    "free,     0 bytes (  0%) waste , deallocated: 92133 blocks with 40.00 MB\n\n" VIRTUAL
    "MaxMetaspaceSize: 64.00 MB\n";
static const char *const unlimited = VIRTUAL "MaxMetaspaceSize: unlimited\n";

static uint64_t room(uint64_t max, uint64_t committed, uint64_t back)
{
    const struct jvm_metaspace metaspace = { max, committed, back };
    return jvm_metaspace_room(&metaspace);
}

int main(void)
{
    struct jvm_metaspace m;
    CHECK("the short report is read", jvm_metaspace_parse(basic, &m) == 0);
    CHECK_NUMBER("its maximum", m.max_bytes, MB(64));
    CHECK_NUMBER("what is committed", m.committed_bytes, MB(60.5));
    CHECK_NUMBER("it does not tell what came back", m.free_bytes, 0);
    CHECK("the long report is read", jvm_metaspace_parse(whole, &m) == 0);
    CHECK_NUMBER("what is committed in all", m.committed_bytes, MB(60.5));
    CHECK_NUMBER("what came back, of both spaces", m.free_bytes, MB(40));
    CHECK("a JVM without a maximum is read", jvm_metaspace_parse(unlimited, &m) == 0);
    CHECK("and has none", m.max_bytes == METASPACE_ANY && jvm_metaspace_room(&m) == METASPACE_ANY);
    CHECK("another text is refused", jvm_metaspace_parse("java.lang.IllegalArgumentException: Unknown\n", &m) < 0);
    CHECK("an empty one, too", jvm_metaspace_parse("", &m) < 0);
    CHECK("a maximum without a number, too", jvm_metaspace_parse(VIRTUAL "MaxMetaspaceSize: much\n", &m) < 0);

    CHECK_NUMBER("a quarter is left to the program", room(MB(64), MB(20), 0), MB(28));
    CHECK_NUMBER("where that is used up there is no room", room(MB(64), MB(60), 0), 0);
    CHECK_NUMBER("but half of what came back", room(MB(64), MB(50), MB(10)), MB(5));
    CHECK_NUMBER("up to the last eighth", room(MB(64), MB(50), MB(40)), MB(6));
    CHECK_NUMBER("of which nothing is taken", room(MB(64), MB(60), MB(40)), 0);
    CHECK_NUMBER("which does not add up", room(MB(64), MB(20), MB(10)), MB(28));
    return tap_done();
}
