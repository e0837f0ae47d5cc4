/*
 * Where threads were found: from addresses that the kernel's clock tells to code locations in the trace.
 *
 * An address in a file is one of that file's at once, as long as the process is there.  One in the code that the JVM
 * makes waits for IP_SAMPLES_WAIT_NS, until the JVM has told what that code is: it tells some ms late.
 */
#ifndef CORE_RECORDER_IP_SAMPLES_H
#define CORE_RECORDER_IP_SAMPLES_H

#include "core/jvm/elf_file.h"
#include "core/jvm/maps.h"
#include "core/perf/perf_records.h"
#include "core/recorder/code_map.h"
#include "core/trace/trace.h"

#define IP_SAMPLES_WAIT_NS UINT64_C(1000000000)

/*
 * Names functions of a file: for each of the n offsets (in the file, ascending) in a function, 'found' is to be called
 * once for each such function, with where it begins, its bytes and its name.  Returns where the names are from, in
 * words for the user, or NULL: there are none.
 */
typedef int ip_samples_found_fn(void *found_context, uint64_t offset, uint64_t n_bytes, const char *name);
struct recorder_symbols {
    void *context;
    const char *(*name)(void *context, const struct jvm_file *file, const char *build_id, const uint64_t *offsets,
                        size_t n, ip_samples_found_fn *found, void *found_context);
};

struct ip_samples_file {
    const char *path; /* as the kernel tells it; the maps' */
    int fd;           /* open, since the process may end before functions are named; or -1 */
    char build_id[JVM_BUILD_ID_BYTES];
    uint64_t *offsets; /* owned: of its code locations */
    size_t n, room;
    size_t n_named;   /* of them: the first so many were looked up */
    bool has_symbols; /* and some had names */
};

/* One that waits. */
struct ip_sample {
    uint64_t ticks, address;
    uint32_t thread;
    uint32_t location; /* IP_SAMPLES_NO_LOCATION: not known yet */
    uint32_t event;    /* that has taken it, of the plan's ip_events from 1 on; 0: the clock, */
    uint64_t weight;   /* and how many of it the sample stands for */
    bool in_kernel;
};

#define IP_SAMPLES_NO_LOCATION UINT32_MAX

struct ip_samples {
    pid_t pid; /* 0: not known yet */
    struct arena arena;
    struct map files;     /* by inode and path */
    struct map locations; /* by what they are */
    struct jvm_root root;
    struct jvm_maps maps;
    uint64_t maps_read_ns;       /* when */
    struct ip_samples_file *all; /* owned */
    uint32_t n_files, files_room, n_locations;
    struct ip_sample *waiting; /* owned; in the order of their ticks */
    size_t n_waiting, waiting_room;
    size_t n_looked; /* of them: their addresses were looked up in the maps */
    size_t n_asked;  /* of those: the agent was asked what code they are in */
    uint32_t n_questions;
    struct code_map code;
    uint64_t code_read_ns; /* when */
    struct location_entry entry;
    int32_t index;                   /* of the bytecode that the last code location is from; -1: not known */
    uint64_t n, n_unknown, n_coarse; /* IP samples; those in no code that is known; in code without lines */
};

void ip_samples_init(struct ip_samples *samples);
void ip_samples_free(struct ip_samples *samples);

/* Take one up: address is KERNEL_UNKNOWN for a thread without user space. */
void ip_samples_add(struct ip_samples *samples, uint32_t thread, uint64_t ticks, uint64_t address, bool in_kernel);

/* One that an event has taken.  Likewise. */
void ip_samples_add_event(struct ip_samples *samples, uint32_t thread, uint64_t ticks,
                          const struct kernel_event *event);

/*
 * Write those that have waited long enough, or with is_last all.  now_ns: CLOCK_MONOTONIC_RAW; until_ticks: those
 * before have waited long enough.  Returns 0, or -1 with *err set.
 */
int ip_samples_write(struct ip_samples *samples, struct trace_writer *writer, uint64_t now_ns, uint64_t until_ticks,
                     bool is_last, struct err *err);

/*
 * What is to be asked for now, where the agent tells of compiled code only then: addresses of IP samples in code that
 * is not known, and where code begins that is, and may be gone.  Returns how many, at most n.
 */
size_t ip_samples_ask(struct ip_samples *samples, uint64_t *addresses, size_t n);

/* The maps as they are now, if the process is still there. */
void ip_samples_look_at_maps(struct ip_samples *samples);

/*
 * The code location that an address was at a moment, by what is known now; *location is its number in the trace, *index
 * that of the bytecode that it is from, or -1.  Returns 0, or -1 with *err set.
 */
int ip_samples_location(struct ip_samples *samples, uint64_t address, uint64_t ticks, uint32_t *location,
                        int32_t *index, struct trace_writer *writer, struct err *err);

/*
 * The code location of a line of a method that was interpreted (0: not known), and of a bytecode, whose number is the
 * caller's; and that method, before.  As above.
 */
int ip_samples_interpreted(struct ip_samples *samples, uint32_t method, uint32_t line, uint32_t bytecode,
                           uint32_t *location, struct trace_writer *writer, struct err *err);
int ip_samples_interpreted_method(struct ip_samples *samples, uint32_t method, struct wire_text class_name,
                                  struct wire_text name, struct wire_text descriptor, struct wire_text source,
                                  struct trace_writer *writer, struct err *err);

/* At the end of a file: name the functions in which IP samples were, and have not been named before.  Returns 0, or -1
 * with *err set. */
int ip_samples_write_symbols(struct ip_samples *samples, const struct recorder_symbols *symbols,
                             struct trace_writer *writer, struct err *err);

#endif
