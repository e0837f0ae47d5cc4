/*
 * Which JVM it is and how it was started, as far as files tell: its command line, its environment, what it tells of
 * itself in hsperfdata, and the file 'release' of its JDK.  The JVM itself is not asked.
 */
#ifndef CORE_JVM_FLAGS_H
#define CORE_JVM_FLAGS_H

#include "core/base/std.h"

struct jvm_flags {
    bool interprets;           /* -Xint */
    bool no_signals;           /* -Xrs */
    bool attach_disabled;      /* -XX:+DisableAttachMechanism */
    bool late_agents_disabled; /* -XX:-EnableDynamicAgentLoading */
    bool late_agents_enabled;  /* -XX:+EnableDynamicAgentLoading: JDK 21 and later print no warning then */
    bool debugger;             /* -agentlib:jdwp and the like */
    bool may_archive;          /* -XX:+AutoCreateSharedArchive: it writes an archive where there is no valid one */
    int tiered_stop;           /* -XX:TieredStopAtLevel, or 4 */
    char archive[256];         /* the option by which the JVM writes an archive of its classes, or "" */
    bool archive_bars_agents;  /* and then no library of an agent may be loaded when it starts: it would not */
    char agent[128];           /* the first other agent that is loaded at the start, as it was written; or "" */
};

/*
 * Read options from words that end with NUL each, n bytes in all.  The first word is the program; words behind the
 * main class, -jar or -m are the Java program's own.  Later options win over earlier ones, and over those that are in
 * *flags already.
 */
void jvm_flags_command(struct jvm_flags *flags, const char *words, size_t n);

/* The main class, module and class, or jar in such words; borrowed, or NULL: they name none. */
const char *jvm_flags_main(const char *words, size_t n);

/*
 * Does a launcher with such words call a main method?  Not if it only prints something (-version, --list-modules,
 * --dry-run), or its words name no program; a file of options (@FILE) may name one.
 */
bool jvm_flags_runs(const char *words, size_t n);

/*
 * What a JDK's program wants in front of each option of the JVM: "" of java, "-J" of a tool that works for long, such
 * as javac.  NULL: another one, which mmprof leaves alone.
 */
const char *jvm_flags_prefix(const char *path);

/* The same for the variables JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS and _JAVA_OPTIONS of an environment. */
void jvm_flags_environment(struct jvm_flags *flags, const char *variables, size_t n);

/*
 * The same for what the JVM itself tells of them (hsperfdata), with those of files (-XX:Flags, .hotspotrc, @argfiles):
 * text between blanks; "+NAME" and "NAME=VALUE" are -XX options.
 */
void jvm_flags_told(struct jvm_flags *flags, const char *text);

/*
 * Those that a command gives the JVM that it is, or starts: its words, if it is java, with the files of options that
 * they name, and this process's environment.
 */
void jvm_flags_launch(struct jvm_flags *flags, char *const *argv, bool is_java);

/* Those of a process.  Returns 0, or -1 when its command line cannot be read. */
int jvm_flags_read(pid_t pid, struct jvm_flags *flags);

struct jvm_release {
    char version[64];     /* "17.0.11" */
    char implementor[64]; /* "Debian", or "" */
    bool is_openj9;
    bool is_replaced; /* the JDK, since this JVM started */
    int major;        /* 8 for "1.8.0_392" */
};

/* Read the text of a 'release' file.  Returns 0, or -1 when it names no version. */
int jvm_release_parse(const char *text, struct jvm_release *release);

/* That of a process, found beside its libjvm.so; in its counters, if there is none or that was replaced.  Returns 0, or
 * -1. */
int jvm_release_read(pid_t pid, struct jvm_release *release);

#endif
