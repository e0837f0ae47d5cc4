/*
 * The checks of 'mmprof doctor': each looks at one thing and says in a line what it found.
 *
 * They read /proc and /sys below a root, and open events through perf_open.h, so that tests can play other machines.
 */
#ifndef CMD_DOCTOR_H
#define CMD_DOCTOR_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/jvm/flags.h"
#include "core/jvm/process.h"

enum doctor_level {
    DOCTOR_SILENT, /* nothing to say: it does not apply here */
    DOCTOR_OK,
    DOCTOR_LIMIT, /* mmprof records, but something is missing */
    DOCTOR_FAIL   /* mmprof cannot record */
};

struct doctor {
    const char *root;         /* in front of /proc and /sys; "" on a real machine */
    bool is_x86;              /* else aarch64 */
    bool is_privileged;       /* CAP_PERFMON or CAP_SYS_ADMIN */
    bool may_trace;           /* CAP_SYS_PTRACE */
    uint32_t n_cpus;          /* online */
    uint64_t n_files;         /* the hard limit of open files */
    uint64_t pinned_limit_kb; /* RLIMIT_MEMLOCK; UINT64_MAX: none */
    struct arena *arena;
    char agent[4096]; /* path of the library; "" when it is not found */
    /* Of -p; pid 0 without. */
    pid_t pid;
    bool is_jvm; /* the process was looked at, and is one to attach to */
    int java;    /* its release; 0: not known */
    uint32_t n_threads;
    struct jvm_process process;
    struct jvm_flags flags;
    /* What earlier checks found, for later ones and the last line. */
    uint32_t n_counters;        /* events that fit into one group; 0: no hardware counters */
    uint32_t n_slots;           /* events of all groups of the default set: each thread has them */
    double user_ns, syscall_ns; /* what reading them costs, as selftest_read_ns says */
    bool probes_count;          /* and probes can read them */
    bool has_switches;
};

/* *said gets the finding, with err_next() what to do about it. */
typedef enum doctor_level doctor_check(struct doctor *doctor, struct err *said);

/* doctor_perf.c */
doctor_check doctor_paranoid, doctor_counters, doctor_reads, doctor_watchdog, doctor_switches, doctor_pinned,
    doctor_files;

/* doctor_machine.c */
doctor_check doctor_agent, doctor_clock, doctor_memory, doctor_container;

/* doctor_stacks.c: after doctor_jvm. */
doctor_check doctor_stacks;

/* doctor_simulate.c: after doctor_agent and doctor_counters. */
doctor_check doctor_simulate;

/* doctor_jvm.c; those behind the first say nothing about a process that is no JVM to attach to. */
doctor_check doctor_jvm, doctor_java, doctor_attach, doctor_flags, doctor_library, doctor_archive, doctor_code,
    doctor_quota;

/* Fill in what this machine and process are. */
void doctor_init(struct doctor *doctor, struct arena *arena, pid_t pid);

/* The first bytes of a file below the root, "" when it cannot be read.  Returns whether it could. */
bool doctor_read(const struct doctor *doctor, const char *path, char *text, size_t n);

/* The first number in a file below the root; returns whether there is one. */
bool doctor_read_number(const struct doctor *doctor, const char *path, int64_t *value);

#endif
