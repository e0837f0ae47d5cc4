/*
 * A JVM's options, of its command line and environment, and its release.
 */
#include "core/jvm/flags.h"
#include "core/jvm/process.h"
#include "test/unit/tap.h"

#include <string.h>
#include <unistd.h>

#define WORDS(text) (text), sizeof(text)

static void test_archive_flags(void)
{
    static const struct {
        const char *claim, *told, *archive;
        bool bars_agents;
    } rows[] = {
        { "no archive", "-Xmx1g -XX:AOTCache=a -XX:AOTMode=auto -XX:-RecordDynamicDumpInfo", "", false },
        { "an AOT cache", "-XX:AOTMode=record -XX:AOTCacheOutput=a.aot", "-XX:AOTCacheOutput=a.aot", false },
        { "its cause is told first", "-XX:AOTCacheOutput=a.aot -XX:AOTMode=record", "-XX:AOTCacheOutput=a.aot", false },
        { "an AOT configuration", "-XX:AOTConfiguration=a -XX:AOTMode=record", "-XX:AOTMode=record", false },
        { "an archive at the end", "-XX:ArchiveClassesAtExit=a.jsa", "-XX:ArchiveClassesAtExit=a.jsa", true },
        { "an archive when asked", "+RecordDynamicDumpInfo", "-XX:+RecordDynamicDumpInfo", true },
        { "an option of a file", "ArchiveClassesAtExit=a.jsa", "-XX:ArchiveClassesAtExit=a.jsa", true },
        { "nothing but an archive", "-Xshare:dump", "-Xshare:dump", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct jvm_flags flags = { .tiered_stop = 4 };
        jvm_flags_told(&flags, rows[i].told);
        CHECK_TEXT(rows[i].claim, flags.archive, rows[i].archive);
        CHECK("such a JVM starts with an agent, or not", flags.archive_bars_agents == rows[i].bars_agents);
    }
    struct jvm_flags flags;
    char *const java[] = { (char[]){ "java" }, (char[]){ "-cp" }, (char[]){ "-Xshare:dump" }, (char[]){ "Main" },
                           NULL };
    jvm_flags_launch(&flags, java, true);
    CHECK("a value is no option", flags.archive[0] == '\0');
    jvm_flags_launch(&flags, java + 1, true);
    CHECK("of java the options count", strcmp(flags.archive, "-Xshare:dump") == 0);
    jvm_flags_launch(&flags, java + 1, false);
    CHECK("of another command its own do not", flags.archive[0] == '\0');
}

static void test_flags(void)
{
    struct jvm_flags flags = { .tiered_stop = 4 };
    jvm_flags_command(&flags, WORDS("java\0-Xint\0-cp\0-Xrs\0-XX:TieredStopAtLevel=1\0Main\0-agentlib:jdwp=x"));
    CHECK("options are read up to the main class, values of options aside",
          flags.interprets && !flags.no_signals && flags.tiered_stop == 1 && !flags.debugger);
    flags = (struct jvm_flags){ .tiered_stop = 4 };
    jvm_flags_command(&flags, WORDS("java\0-Xint\0-Xmixed\0-XX:+DisableAttachMechanism\0-XX:-DisableAttachMechanism\0"
                                    "-XX:-EnableDynamicAgentLoading\0-jar\0x.jar\0-Xrs"));
    CHECK("the last one wins", !flags.interprets && !flags.attach_disabled && flags.late_agents_disabled &&
                                   !flags.no_signals && flags.tiered_stop == 4);
    flags = (struct jvm_flags){ .tiered_stop = 4 };
    jvm_flags_command(&flags, WORDS("java\0-agentlib:jdwp=a\0-javaagent:a.jar=b\0-agentpath:/x.so"));
    CHECK("agents are told from debuggers", flags.debugger && strcmp(flags.agent, "-javaagent:a.jar=b") == 0);
    flags = (struct jvm_flags){ .tiered_stop = 4 };
    jvm_flags_command(&flags, "java\0-Xrs", 9);
    CHECK("a word that is cut off is left out", !flags.no_signals);
    jvm_flags_environment(&flags,
                          WORDS("HOME=/\0JAVA_TOOL_OPTIONS=-Xrs  -Xint\0X_JAVA_OPTIONS=-XX:TieredStopAtLevel=2"));
    CHECK("options in the environment count", flags.no_signals && flags.interprets && flags.tiered_stop == 4);
    test_archive_flags();
    CHECK("those of a process can be read", jvm_flags_read(getpid(), &flags) == 0);
    CHECK("but not those of none", jvm_flags_read(0, &flags) == -1);
}

/* Whether a launcher calls a main method. */
static void test_runs(void)
{
    static const struct {
        const char *claim, *words;
        size_t n;
        bool runs;
    } rows[] = {
        { "a class is run", WORDS("java\0-cp\0x\0Main"), true },
        { "a jar is run, whatever its own words are", WORDS("java\0-jar\0x.jar\0-version"), true },
        { "a module is run", WORDS("java\0-p\0mods\0-m\0shop/Main"), true },
        { "-version prints", WORDS("java\0-version"), false },
        { "also in front of a class", WORDS("java\0-XshowSettings:all\0--version\0Main"), false },
        { "options alone print how java is used", WORDS("java\0-Xmx1g"), false },
        { "--list-modules prints", WORDS("java\0--add-modules\0a\0--list-modules"), false },
        { "--dry-run runs nothing", WORDS("java\0-cp\0x\0--dry-run\0Main"), false },
        { "a value is no option", WORDS("java\0--add-opens\0-version\0Main"), true },
        { "a file of options may name a class", WORDS("java\0@options"), true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(rows[i].claim, jvm_flags_runs(rows[i].words, rows[i].n) == rows[i].runs);
}

static void test_main_class(void)
{
    static const struct {
        const char *claim, *words;
        size_t n;
        const char *main;
    } rows[] = {
        { "a main class behind options", WORDS("java\0-cp\0a.jar\0-Xint\0com.Main\0x"), "com.Main" },
        { "a jar", WORDS("java\0-Xint\0-jar\0/opt/x.jar\0-jar"), "/opt/x.jar" },
        { "a module", WORDS("java\0-p\0mods\0-m\0a.b/c.Main"), "a.b/c.Main" },
        { "behind a file of options", WORDS("java\0@options\0Main"), "Main" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].claim, jvm_flags_main(rows[i].words, rows[i].n), rows[i].main);
    CHECK("there may be none", jvm_flags_main(WORDS("java\0-version")) == NULL && jvm_flags_main("java", 4) == NULL &&
                                   jvm_flags_main(WORDS("java\0-jar")) == NULL);
}

static void test_release(void)
{
    struct jvm_release release;
    CHECK("a release is read", jvm_release_parse("IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.21\"\n", &release) == 0 &&
                                   release.major == 17 && strcmp(release.version, "17.0.21") == 0 &&
                                   strcmp(release.implementor, "Debian") == 0 && !release.is_openj9);
    CHECK("JDK 8", jvm_release_parse("JAVA_VERSION=\"1.8.0_392\"\n", &release) == 0 && release.major == 8);
    CHECK("OpenJ9", jvm_release_parse("JVM_VARIANT=\"Openj9\"\nJAVA_VERSION=\"21\"", &release) == 0 &&
                        release.is_openj9 && release.major == 21);
    CHECK("no version", jvm_release_parse("SOURCE=\"x\"\nXJAVA_VERSION=\"17\"\n", &release) == -1);
}

int main(void)
{
    test_flags();
    test_main_class();
    test_runs();
    test_release();
    return tap_done();
}
