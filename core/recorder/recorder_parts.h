/* What a recorder is made of; recorder_state.h has one of each. */
#ifndef CORE_RECORDER_RECORDER_PARTS_H
#define CORE_RECORDER_RECORDER_PARTS_H

#include "core/recorder/ip_samples.h"
#include "core/recorder/poll_sampler.h"
#include "core/recorder/recorder.h"
#include "core/recorder/sample_log.h"
#include "core/recorder/session.h"
#include "core/recorder/threads.h"
#include "core/recorder/clock.h"

/* What the parts of a recorder share: what is recorded, where it goes, and how far it is.  The recorder writes it. */
struct recorder_now {
    const struct recorder_plan *plan; /* borrowed */
    struct trace_writer *writer;      /* owned by the recorder; NULL: there is no trace yet */
    struct threads *threads;          /* of the recorder */
    struct clock_point first, latest; /* of the recording; of the round */
    pid_t target;                     /* the JVM; 0 until it is known */
    uint64_t cpu_start_ns, cpu_ns;    /* CPU time of the process, at these two */
    double stretch;                   /* rounds are so many times as far apart as they would be: 1 or more */
};

/* Which file of a recording in several files is written: its name, its beginning and when the next one is due. */

struct recorder_file_names {
    char whole[PATH_MAX], part[PATH_MAX]; /* part: while it is written */
};

struct recorder_rotation {
    struct recorder_file_names names; /* part "": none is open */
    struct clock_point start;         /* of this file, also if it is the only one */
    uint64_t n;                       /* from 1 on */
    bool is_turning;                  /* it is the file's last round: all that waits is taken */
    bool has_failed;                  /* it cannot be written, and that was told */
};

/* Open the trace, or the first file of it, whose writer is *writer then.  Returns 0, or -1 with *err set. */
int recorder_rotation_open(struct recorder_rotation *files, const struct recorder_now *now, pid_t pid,
                           struct trace_writer **writer, struct err *err);

/* The next file's names; and once it is open, that it is the current one.  Each returns 0, or -1 with *err set. */
int recorder_rotation_name(const struct recorder_plan *plan, pid_t pid, struct recorder_file_names *names,
                           struct err *err);
int recorder_rotation_begin(struct recorder_rotation *files, const struct recorder_now *now,
                            const struct recorder_file_names *names, struct err *err);

/* The file is closed; why: it is not whole, or NULL. */
void recorder_rotation_end(struct recorder_rotation *files, const struct recorder_plan *plan, const struct err *why);

/* Is it time for the next one?  One that cannot be written is told once, when that turns out. */
bool recorder_rotation_is_due(struct recorder_rotation *files, const struct recorder_now *now);

/* How many ms until it may be; INT_MAX: never. */
int recorder_rotation_left_ms(const struct recorder_plan *plan);

/* Allocations that the agent samples in a recording. */

struct recorder_allocations {
    const struct recorder_now *now; /* borrowed, as the next two are */
    struct recorder_link *link;
    struct sample_log *log;       /* of the stack samples, whose contexts they share */
    struct poll_sampler *sampler; /* owned; NULL: not yet, or never */
    uint64_t drained_ns;
    bool is_ours;  /* the recording has failed, not the sampling */
    char why[256]; /* there are none, if so */
};

/*
 * Begin, or write what was sampled since the last call, twice a second, or with all now; write the metadata of a file;
 * and write what is left when the agent has ended, with the metadata.  Each returns 0, or -1 with *err set.
 */
int recorder_write_allocations(struct recorder_allocations *a, bool all, struct err *err);
int recorder_tell_allocations(struct recorder_allocations *a, struct err *err);
int recorder_end_allocations(struct recorder_allocations *a, struct err *err);
void recorder_close_allocations(struct recorder_allocations *a);

/* CPU time that the JVM lost by them. */
uint64_t recorder_allocations_ns(const struct recorder_allocations *a);

/* Stack samples in a recording: taken from outside, or by the agent. */

struct recorder_stacks {
    const struct recorder_now *now; /* borrowed, as the next two are */
    struct recorder_link *link;     /* to the agent, which polls */
    struct ip_samples *ip_samples;  /* those that come from stack samples go there */
    struct stack_sampler *sampler;  /* from outside; owned; NULL: there are none */
    struct poll_sampler *polled;    /* by the agent; owned; NULL: not yet, or never */
    struct sample_log log;
    struct wait_log waits;
    uint64_t random;        /* for the time between visits */
    uint64_t visit_ns;      /* when threads that wait are visited next, CLOCK_MONOTONIC; 0: at once */
    uint64_t visits_cpu_ns; /* what visits have cost here */
    double visit_cost_ns;   /* one, of late; 0: there was one at most, at which all was new */
    uint32_t n_visits;
    uint64_t virtual_ns; /* when virtual threads are looked at next, as visit_ns */
    uint64_t drained_ns; /* when samples were taken out of the rings last */
    uint64_t sampled_ns; /* CPU time that the samples represent */
    uint64_t cpu_ns;     /* of the process, when the agent began to poll */
    bool is_ours;        /* the recording has failed, not the sampling */
    char why[256];       /* there are no samples from outside, if so */
};

/*
 * Begin to sample, if the plan wants it: the plan's JVM, or the process of a command, which waits before its exec;
 * with_children: and what it starts.
 */
void recorder_open_stacks(struct recorder_stacks *s, pid_t command, bool with_children);

/* How often the kernel's other rings take IP samples: 0 where stack samples, taken as often, are IP samples, too. */
uint32_t recorder_ring_ip_samples_hz(const struct recorder_stacks *s);

/*
 * Write what was sampled since the last call, twice a second, or with all now; and at the end of a file the metadata.
 * Each returns 0, or -1 with *err set.
 */
int recorder_write_stacks(struct recorder_stacks *s, bool all, struct err *err);
int recorder_write_stacks_info(struct recorder_stacks *s, struct err *err);
void recorder_close_stacks(struct recorder_stacks *s);

/*
 * See what threads wait for, if it is time; a failure ends that, and the recording goes on.  Returns how many ms there
 * are until it is time again; INT_MAX: never.
 */
int recorder_visit_waits(struct recorder_stacks *s);

/* CPU time that the JVM lost by the agent taking them. */
uint64_t recorder_polling_ns(const struct recorder_stacks *s);

/* The memory that a recording may take. */

struct recorder_room {
    uint64_t look_ns;      /* when to look again */
    uint64_t change_bytes; /* that changed classes may take in the target; UINT64_MAX: any */
    uint64_t own_bytes;    /* that we may allocate */
    bool is_less;          /* change_bytes is less than what metaspace has */
    bool is_one_group;     /* the JVM's and ours: what it has left, we have */
    char next[128];        /* what to do when memory runs out */
    char why[160];         /* whose memory is near a limit; "": nobody's */
};

/*
 * Before anything is made for a JVM (pid 0: of a command): what rings may take.  Returns 0, or -1 with *err set: the
 * JVM is too near a limit.
 */
int recorder_room_open(struct recorder_room *own, pid_t pid, struct ring_memory_plan *plan, struct err *err);

/* At the end, which is to find memory. */
void recorder_room_close(void);

/*
 * Is the JVM (pid 0: not known yet), or are we, so near a limit that the recording has to end?  Then own->why says it;
 * before that, segment->changes is set.
 */
bool recorder_room_is_low(struct recorder_room *own, pid_t pid, struct segment *segment);

/* Loading the agent into a JVM that runs. */

/* A JVM of a command that runs without the agent. */
struct recorder_late {
    pid_t pid;
    uint64_t seen_ns; /* first, CLOCK_MONOTONIC */
    bool is_tried;
};

struct recorder_attaching {
    const struct recorder_plan *plan; /* borrowed, as all pointers are */
    struct session *session;
    struct jvm_process *process; /* the target, when attaching */
    struct recorder_room *room;
    bool follows_jvms; /* the command is not java itself: a JVM comes of it, or several */
    struct recorder_late late;
};

/* Load the agent into the plan's JVM.  Returns 0, or -1 with *err set. */
int recorder_attach(struct recorder_attaching *a, struct err *err);

/* What is said of a JVM (pid 0: of a command) that writes its classes into an archive, by this option.  Returns -1. */
int recorder_refuse_archive(pid_t pid, const char *option, struct err *err);

/* No JVM of the command has connected yet: attach to one that runs without the agent. */
void recorder_attach_late(struct recorder_attaching *a);

#endif
