/* Shared by perf_rings*.c and perf_attr.c; nobody else includes it. */
#ifndef CORE_PERF_PERF_RINGS_INTERNAL_H
#define CORE_PERF_PERF_RINGS_INTERNAL_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/perf/perf_rings.h"

struct perf_ring {
    uint32_t cpu;
    int fd;                            /* the event that owns the ring; one of files */
    struct perf_event_mmap_page *page; /* owned; NULL before the CPU's first event */
    uint64_t head;                     /* up to here this drain reads */
};

struct perf_thread {
    int32_t tid;
    bool ended;          /* and no other has got its number since */
    uint64_t covered_ns; /* since then all its CPUs are recorded by its own events; KERNEL_UNKNOWN: by inherited ones */
};

#define NO_OWNER UINT32_MAX

struct event_file {
    int fd;
    uint32_t owner;    /* index of the thread it was opened for, or NO_OWNER: it counts a CPU */
    uint64_t period;   /* after which it takes a sample; 0: it takes none, or the kernel finds it */
    uint32_t ip_event; /* as of struct kernel_event */
};

struct perf_rings {
    pid_t pid;
    struct perf_rings_options options;
    bool inherit_children, user_ip_samples_only;
    bool has_cpus;                 /* the events count CPUs, and threads have none */
    bool ip_samples_not_inherited; /* this kernel reads no group with samples of an event that new threads inherit */
    struct err no_ip_samples;      /* why, or "" */
    struct err no_ip_events;
    struct hash_set by_id;  /* event id -> index of its file */
    struct hash_set by_tid; /* tid -> index of the latest thread that had it */
    struct perf_thread *threads;
    size_t n_threads, threads_capacity;
    struct perf_ring *rings;
    size_t n_rings;
    struct event_file *files;
    size_t n_files, files_capacity;
    size_t ring_bytes;
    unsigned format; /* of samples: enum kernel_format */
    struct drand48_data random;
    int half_full;                /* an epoll descriptor over all rings, or -1 */
    struct kernel_event *pending; /* read but not handed out */
    size_t n_pending, pending_capacity;
    uint64_t order, final_ns;
    struct perf_rings_state state;
    uint8_t copy[KERNEL_RECORD_MAX_BYTES];
};

/* Cover the threads that are not yet.  Returns how many there were, or -1 with *err set. */
int perf_rings_scan(struct perf_rings *rings, struct err *err);

/* ---- perf_ring_files.c ---- */

/* Take an event up, to be handed out. */
void perf_rings_keep(struct perf_rings *rings, const struct kernel_event *event);

/* The file is closed with all. */
void perf_rings_keep_file(struct perf_rings *rings, int fd, uint32_t owner);

/* An event's records go to the ring, and are known by its id; owner: of the file.  Returns 0, or -1 with *err set. */
int perf_rings_take(struct perf_rings *rings, struct perf_ring *ring, int fd, uint32_t owner, struct err *err);

/* Close all events and their rings. */
void perf_rings_close_files(struct perf_rings *rings);

/* ---- perf_attr.c: what the attributes of an event are ---- */

void perf_attr_switches(const struct perf_rings *rings, struct perf_event_attr *attr); /* and threads, page faults */
void perf_attr_ip_samples(struct perf_rings *rings, struct perf_event_attr *attr);
void perf_attr_cpu_samples(struct perf_rings *rings, uint32_t half, struct perf_event_attr *attr); /* disabled */
void perf_attr_ip_event(const struct perf_rings *rings, uint32_t i, struct perf_event_attr *attr);
void perf_attr_member(const struct perf_rings *rings, uint32_t i, struct perf_event_attr *attr);

/* What takes the IP samples; whether these tell the period; and whether they tell of threads, too. */
const struct counter_code *perf_attr_trigger(const struct perf_rings *rings);
bool perf_attr_has_period(const struct perf_rings *rings);
bool perf_attr_tells_all(const struct perf_rings *rings);

/* ---- process_filter.c ---- */

/*
 * pid: in our PID namespace; the process may be in one below.  For PERF_EVENT_IOC_SET_BPF.
 *
 * Returns a file descriptor, the caller's to close, or -1: no such process, not permitted (CAP_BPF and CAP_PERFMON), or
 * a kernel before Linux 5.7.
 */
int process_filter_load(pid_t pid);

#endif
