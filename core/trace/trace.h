/*
 * The trace file: what a session recorded, in chunks with checksums.  mmprof.trace(5) specifies it byte by byte.
 *
 * All times are in ticks of the target machine's timestamp counter; clock points convert them to ns.  A thread is
 * named by its index (threads come and go and tids are used again), a method by its id.
 *
 * The writer keeps one order that readers rely on: in each round it writes what the kernel said (switches, faults)
 * up to some moment before the threads' records up to that moment, and methods and threads before records that
 * name them.  So a reader joins them in one pass.
 */
#ifndef CORE_TRACE_TRACE_H
#define CORE_TRACE_TRACE_H

#include "core/base/err.h"
#include "core/base/method_name.h"
#include "core/wire/code_log.h"
#include "core/wire/jit_events.h"
#include "core/wire/protocol.h"
#include "core/trace/misses.h"
#include "core/trace/locations.h"

#define TRACE_COUNTERS_MAX 128 /* in the table of counters */
#define TRACE_COLUMNS_MAX  81  /* of them in records: 64 events, the times of 16 groups, and of the thread */
#define TRACE_UNKNOWN      UINT64_MAX
#define TRACE_NO_THREAD    UINT32_MAX
#define TRACE_NOT_COUNTED  UINT64_MAX /* a counter's value that could not be read */

enum trace_kind {
    /* from the threads' rings; 'thread', 'ticks' and, if there are counters, 'counters' are set */
    TRACE_ENTER,  /* 'method' was entered */
    TRACE_EXIT,   /* and left normally */
    TRACE_UNWIND, /* or left by an exception */
    /* Virtual threads come and go, and the calls that they left open with them: 'count' is the ticket, or 0.  What one
     * leaves open with a ticket comes back with it, maybe in another thread, and later in the trace. */
    TRACE_RESUME,  /* 'method' had been left open by the virtual thread of the MOUNT before, or goes on here */
    TRACE_OPEN,    /* a call of 'method' was under way before it got probes; its EXIT comes late */
    TRACE_MOUNT,   /* one comes: the calls open now are the carrier's, and wait */
    TRACE_UNMOUNT, /* it goes, and what was opened since the MOUNT with it; without one, all */
    TRACE_GAP,     /* 'count' calls (entry, exit and all) could not be recorded since the record before */
    /* from the kernel; 'thread' and 'ticks' are set */
    TRACE_CPU_IN,        /* the thread got a CPU */
    TRACE_CPU_OUT,       /* it left the CPU because it waits */
    TRACE_CPU_PREEMPTED, /* it lost the CPU although it could run */
    TRACE_PAGE_FAULT,
    TRACE_THREAD_START,
    TRACE_THREAD_END,
    TRACE_KERNEL_LOST, /* 'count' records of this list were lost before 'ticks'; thread is not set */
    /* from the recorder; 'thread', 'ticks', 'counters' and 'count' are set */
    TRACE_COUNTS, /* it read the thread's counters from outside; 'count' is the series, see trace_write_counts */
    /* from the recorder; 'ticks' is set: what it did to the program */
    TRACE_ENABLED,   /* the probes of 'method' record from now on; at first they do */
    TRACE_DISABLED,  /* they do no more */
    TRACE_PAUSE,     /* all threads stood still for 'count' ns at most, so that classes could be changed */
    TRACE_RECOVERED, /* the JVM's compilers were as busy as before, 'count' ns after the pause */
    /* from the kernel's clock; 'thread', 'ticks' and 'count', a code location's number, are set: where it was found */
    TRACE_IP_SAMPLE,
    TRACE_KERNEL_IP_SAMPLE /* the kernel worked for it, called from there */
};

struct trace_event {
    enum trace_kind kind;
    uint32_t thread, method;
    uint32_t value; /* of ENTER to OPEN: a trace_value's id, which tells the method's calls apart; 0: not known */
    uint64_t ticks;
    uint64_t count;
    const uint64_t *counters; /* cumulative values or TRACE_NOT_COUNTED; the reader's, until the next call */
};

struct trace_reader;

/* An event of the kinds ENTER to GAP, as many come at once. */
struct trace_record {
    uint64_t ticks;
    enum trace_kind kind;
    uint32_t operand; /* the method, the ticket, or the calls lost */
};

/* Such events of one thread, one after the other; one alone where there are counters that it has. */
struct trace_records {
    const struct trace_record *all; /* the reader's, until the next call */
    size_t n;
    uint32_t thread;
    const uint64_t *counters;             /* as of an event; of each of them */
    const struct trace_reader *values_of; /* knows the values that they name; NULL: they name none */
};

struct trace_method {
    uint32_t id;
    struct method_name names;
    const char *source;  /* file name, or "" */
    uint32_t first_line; /* or 0 */
    uint32_t code_bytes; /* of bytecode, before rewriting */
    bool has_loop;       /* a backward branch */
};

/* What tells calls of a method apart: the value of an argument, or of what a method of the argument returned. */
struct trace_value {
    uint32_t id;          /* as a method's, of which it is none */
    uint32_t method;      /* whose calls */
    enum value_kind kind; /* core/wire/protocol.h */
    const char *text;     /* of VALUE_TEXT; else "" */
};

/* "/orders", "null", "(other)", "(exception)", "(no such method)". */
const char *trace_value_text(const struct trace_value *value);

/*
 * What the kernel says that a thread took of CPUs, and what its run slices take that the kernel's events tell, both
 * from its first event to one moment.  The difference is what it is charged for getting and losing a CPU (more), and
 * what a virtual machine's host kept from it (less).
 */
struct trace_cpu_time {
    bool is_known;
    uint64_t accounted_ns, slices_ns;
    uint64_t n_slices; /* how often it got a CPU */
};

struct trace_thread {
    uint32_t index;
    int32_t tid;
    bool has_ring;        /* ran probes */
    const char *name;     /* the Java name where known, else the kernel's */
    const char *comm;     /* the kernel's name (at most 15 bytes): tells the VM's own threads */
    uint64_t start_ticks; /* TRACE_UNKNOWN: before the recording */
    uint64_t end_ticks;   /* TRACE_UNKNOWN: after the recording */
    uint64_t n_lost;      /* calls not recorded */
    struct trace_cpu_time cpu_time;
};

/* A garbage collection, as the JVM tells of it. */
struct trace_collection {
    uint64_t start_ticks, ns;
    uint64_t n_missed; /* others of this kind since the one before, of which nothing else is known */
    const char *name;  /* of the kind: "G1 young collection pauses" */
    const char *cause; /* or "" */
};

/* A method that was seen on a sampled stack. */
struct trace_sampled_method {
    struct method_name names;
    const char *source;            /* file name, or "" */
    uint32_t code_bytes;           /* of bytecode; 0: native, or not known */
    const struct code_line *lines; /* in the order of their bytecode */
    uint32_t n_lines;
    const uint8_t *code; /* code_bytes of it, as it was in the JVM (bytecodes.h); NULL: not known */
};

/*
 * A node of the calling context tree of sampled stacks: in the calls of a method, in those of its parent's.  Nodes are
 * numbered from 1 on as they come, methods from 0 on.
 */
struct trace_context {
    uint32_t parent;   /* an earlier node; 0: outside of all calls */
    int32_t call_site; /* index of the bytecode in the parent's method that calls; -1: not known */
    uint32_t method;
    const struct trace_sampled_method *named; /* writing: NULL where an earlier node has named the method */
    uint64_t own_ns, n_own; /* reading: CPU time, and samples, with this call the innermost one, so far */
    uint32_t depth;         /* reading: 1 where the parent is 0; at most TRACE_DEPTH_MAX */
};

#define TRACE_CONTEXTS_MAX        (UINT32_C(1) << 20)
#define TRACE_DEPTH_MAX           4096u /* of contexts: twice what a recorder sees */
#define TRACE_SAMPLE_COUNTERS_MAX 16u

enum trace_frame {
    TRACE_FRAME_UNKNOWN,
    TRACE_FRAME_INTERPRETED,
    TRACE_FRAME_COMPILED,
    TRACE_FRAME_INLINED,
    TRACE_FRAME_NATIVE
};

/* One sample of a thread's stack. */
struct trace_sample {
    uint64_t ticks;         /* TRACE_UNKNOWN: in traces of minor versions before 7 */
    uint32_t thread;        /* TRACE_NO_THREAD: samples of several */
    uint32_t context;       /* the innermost call; 0: no Java method */
    int32_t index;          /* of the bytecode in that method; -1: not known */
    enum trace_frame frame; /* that call's; tier: of the compiler, 1 to 4, where it is compiled or inlined */
    uint8_t tier;
    uint8_t end;                /* 0: the stack is whole; else why its outermost calls are not known: stack_walk.h */
    bool in_kernel, is_waiting; /* the kernel worked for the thread; it had no CPU */
    uint64_t n, weight_ns;      /* so many samples that are alike: 1; the time that they stand for */
    uint32_t n_counters;        /* INFO 'sample.events' names them */
    const uint64_t *counters;   /* since this thread's sample before */
};

/* An IP sample that an event has taken, and of how many of it. */
struct trace_event_sample {
    uint32_t thread, location;
    bool in_kernel; /* the kernel worked for it, called from there */
    uint32_t event; /* of INFO 'hits.events', from 0 on */
    uint64_t weight;
};

/* Why a thread is off the CPU.  The numbers stand in traces. */
enum trace_cause {
    TRACE_CAUSE_UNKNOWN, /* it waits in the kernel, and not for what is known */
    TRACE_CAUSE_ON_CPU,  /* it does not wait: it ran, or was about to */
    TRACE_CAUSE_READY,   /* it could run, but had no CPU */
    TRACE_CAUSE_MONITOR, /* to enter a 'synchronized' method or block */
    TRACE_CAUSE_LOCK,    /* for a lock of java.util.concurrent.locks */
    TRACE_CAUSE_PARK,    /* otherwise by LockSupport.park: queues, conditions, futures */
    TRACE_CAUSE_WAIT,    /* in Object.wait */
    TRACE_CAUSE_SLEEP,   /* in Thread.sleep */
    TRACE_CAUSE_SOCKET,  /* for a socket, or a selector of channels */
    TRACE_CAUSE_FILE,    /* for a file, pipe or device */
    TRACE_CAUSE_PAGE,    /* for a page of memory that must be read */
    TRACE_CAUSE_JVM,     /* in the JVM: a safepoint, a collection, class loading */
    TRACE_CAUSES
};

/* Nobody waits for work by what stops a thread that has some. */
static inline bool trace_cause_may_be_idle(enum trace_cause cause)
{
    return cause != TRACE_CAUSE_READY && cause != TRACE_CAUSE_MONITOR && cause != TRACE_CAUSE_LOCK &&
           cause != TRACE_CAUSE_PAGE && cause != TRACE_CAUSE_JVM;
}

#define TRACE_CLASSES_MAX (UINT32_C(1) << 16) /* names of locks' classes */

/* "monitor", "run_queue", ... : as dump, CSV and JSON call it; "monitor", "run queue", ... : as text does. */
const char *trace_cause_key(enum trace_cause cause);
const char *trace_cause_name(enum trace_cause cause);

/*
 * What a thread did at one moment or, for what it did no more or less since the entry before, over several: for how
 * long it was on no CPU, where, and why.
 */
struct trace_wait {
    uint64_t ticks; /* all that one visit to the threads found has the same */
    uint32_t thread;
    enum trace_cause cause;
    uint32_t context;       /* the innermost call; 0: no Java method, or with ON_CPU and READY: not looked at */
    int32_t index;          /* of the bytecode in that method; -1: not known */
    uint8_t end;            /* as of a sample */
    bool is_same;           /* it has not had a CPU since the thread's entry before: the same wait */
    uint64_t n, weight_ns;  /* visits, and the time that they stand for */
    const char *lock_class; /* of the monitor or lock: "java/util/HashMap"; "": not known */
    uint32_t owner;         /* the thread that held it; TRACE_NO_THREAD: not known */
    uint32_t owner_context; /* where that waited itself; 0: it did not, or not known */
};

/*
 * Virtual threads that did the same at one moment.  Those that wait have no carrier; with ON_CPU they had one, with
 * READY they had none, and of UNKNOWN it could not be read what they did.
 */
struct trace_virtual_wait {
    uint64_t ticks; /* all that one look at them found has the same */
    enum trace_cause cause;
    uint32_t context; /* as of a wait, */
    int32_t index;    /* and these two */
    uint8_t end;
    uint64_t n;             /* threads, found or estimated from some of them */
    uint64_t weight_ns;     /* since the look before: a look stands for it */
    const char *lock_class; /* as of a wait, of one of them */
};

/*
 * An object that the JVM sampled when it was allocated.  It draws after how many bytes of a thread the next one is,
 * with this mean: so the sample stands for size_bytes / (1 - exp(-size_bytes / mean_bytes)) bytes.
 */
struct trace_allocation {
    uint64_t ticks;
    uint32_t thread, context; /* as of a sample */
    int32_t index;
    uint32_t class_number;  /* numbered from 0 on as they come */
    const char *class_name; /* "java/lang/String", "[B"; writing: NULL where an earlier one has named it */
    uint64_t size_bytes, mean_bytes;
};

/* For how many objects of its size it stands, at least one. */
double trace_allocation_objects(const struct trace_allocation *allocation);

/* What became of a sampled object or of the heap.  The numbers stand in traces. */
enum trace_heap_kind {
    TRACE_HEAP_CHECKED, /* the objects tracked that have not gone are there; one of 2^number samples is tracked */
    TRACE_HEAP_FREED,   /* an object has gone since the check before: its allocation's number, from 0 on */
    TRACE_HEAP_DROPPED, /* an object is not tracked, or not any more */
    TRACE_HEAP_BEFORE,  /* a collection begins: the bytes that are in use */
    TRACE_HEAP_KINDS
};

struct trace_heap_event {
    uint64_t ticks;
    enum trace_heap_kind kind;
    uint64_t number;
};

/* What held the program's control groups back.  The numbers stand in traces. */
enum trace_pressure_kind {
    TRACE_PRESSURE_THROTTLED,    /* times that a CPU quota stopped it */
    TRACE_PRESSURE_THROTTLED_NS, /* for how long, all CPUs together */
    TRACE_PRESSURE_CPU_NS,       /* PSI: some thread waited for a CPU, */
    TRACE_PRESSURE_MEMORY_NS,    /* for memory, */
    TRACE_PRESSURE_IO_NS,        /* or for I/O */
    TRACE_PRESSURE_LIMIT,        /* times that a memory limit was reached */
    TRACE_PRESSURE_KILLED,       /* processes killed for lack of memory */
    TRACE_PRESSURES
};

struct trace_pressure {
    uint64_t start_ticks, end_ticks;
    uint64_t values[TRACE_PRESSURES]; /* what rose between the two */
};

/* "throttled", "throttled_ns", ... */
const char *trace_pressure_key(enum trace_pressure_kind kind);

static inline bool trace_pressure_is_time(int kind)
{
    return kind >= TRACE_PRESSURE_THROTTLED_NS && kind <= TRACE_PRESSURE_IO_NS;
}

#define TRACE_CODE_COMPILED  "compiled"
#define TRACE_CODE_DISCARDED "discarded"

/* What became of a sampled method's code, until a moment and since the one before. */
struct trace_code_change {
    uint64_t ticks;
    uint32_t context; /* its innermost call is one of the method */
    const char
        *what;  /* C2 compiled it, its code was discarded, or why it went back to the interpreter: "unstable_if" */
    uint64_t n; /* how often */
};

enum trace_counter_kind {
    TRACE_COUNTER_EVENT,
    TRACE_COUNTER_RUNNING_NS, /* how long a group has counted: its events' values are of that time */
    TRACE_COUNTER_ENABLED_NS  /* how long the thread has run, since its counters were opened */
};

/*
 * With one group of counters, a column for each event.  Groups that take turns: the events of each group, some in
 * several, then each group's RUNNING_NS, then ENABLED_NS.
 */
struct trace_counter {
    const char *name; /* as the user wrote it, libpfm4's syntax; of a time: "running_ns" or "enabled_ns" */
    const char *why;  /* "" when it counts, else why it does not: the column is '-' */
    bool in_records;  /* a value follows each record; else it is derived from kernel events or absent */
    enum trace_counter_kind kind;
    uint32_t group; /* whose; 0 with one group */
};

/* ---- writing (the recorder) ---- */

struct trace_writer;

/* Create or truncate a file.  Returns 0, or -1 with *err set. */
int trace_writer_open(struct trace_writer **writer, const char *path, struct err *err);

/* Metadata of the session, UTF-8: see mmprof.trace(5) for the keys.  The last value of a key counts. */
int trace_write_info(struct trace_writer *writer, const char *key, const char *value, struct err *err);

/* ticks and CLOCK_MONOTONIC_RAW and CLOCK_REALTIME in ns at one moment. */
int trace_write_clock(struct trace_writer *writer, uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns,
                      struct err *err);

/* The events that were asked for; before any record. */
int trace_write_counters(struct trace_writer *writer, const struct trace_counter *counters, size_t n, struct err *err);

/* Records to come have no values (the ring's records have one word then), only readings do; before any record. */
void trace_write_plain_records(struct trace_writer *writer);

int trace_write_method(struct trace_writer *writer, const struct trace_method *method, struct err *err);

/* Records may name a value in place of its method from now on. */
int trace_write_value(struct trace_writer *writer, const struct trace_value *value, struct err *err);

/* A thread, or what has become known of it since: the last entry of an index counts. */
int trace_write_thread(struct trace_writer *writer, const struct trace_thread *thread, struct err *err);

/* Events of the kinds CPU_IN to KERNEL_LOST, sorted by ticks. */
int trace_write_kernel(struct trace_writer *writer, const struct trace_event *events, size_t n, struct err *err);

/* Events of the kinds ENABLED to RECOVERED. */
int trace_write_control(struct trace_writer *writer, const struct trace_event *events, size_t n, struct err *err);

/*
 * Counters that the recorder read from outside: the columns of records, values or TRACE_NOT_COUNTED.  Values of one
 * series continue each other and tell nothing of another's: series 0 are the recorder's own counters of a thread,
 * series 1 those that the thread's probes read, too.  Each thread's in the order of ticks.
 */
int trace_write_counts(struct trace_writer *writer, uint32_t thread, uint32_t series, uint64_t ticks,
                       const uint64_t *values, struct err *err);

/* Whether the records that are written next are coded in half the time and about twice the bytes: for a writer that
 * records come to faster than it can predict them. */
void trace_writer_set_plain(struct trace_writer *writer, bool is_plain);

/*
 * Records of one thread as its ring holds them (core/wire/ring.h): n_words words, a whole number of records of
 * 1 + n_counters words each; now (in ticks) is a moment after the last of them and less than 2^41 ticks after the
 * first.  What was given before by the other functions is written out first.
 */
int trace_write_records(struct trace_writer *writer, uint32_t thread, const uint64_t *words, size_t n_words,
                        uint64_t now, struct err *err);

/* In the order of time. */
int trace_write_collection(struct trace_writer *writer, const struct trace_collection *collection, struct err *err);

/* A parent comes before its children, and a context before its samples; threads before their samples. */
int trace_write_context(struct trace_writer *writer, const struct trace_context *context, struct err *err);
int trace_write_sample(struct trace_writer *writer, const struct trace_sample *sample, struct err *err);
int trace_write_wait(struct trace_writer *writer, const struct trace_wait *wait, struct err *err);
int trace_write_virtual_wait(struct trace_writer *writer, const struct trace_virtual_wait *wait, struct err *err);
int trace_write_allocation(struct trace_writer *writer, const struct trace_allocation *allocation, struct err *err);
/* In the order of time. */
int trace_write_pressure(struct trace_writer *writer, const struct trace_pressure *pressure, struct err *err);
int trace_write_code(struct trace_writer *writer, const struct trace_code_change *change, struct err *err);

int trace_write_heap_event(struct trace_writer *writer, const struct trace_heap_event *event, struct err *err);

/* What the JIT compiler did with a method: its event as the agent's log has it. */
int trace_write_jit(struct trace_writer *writer, const struct jit_event *event, struct err *err);

/* What a code location is that IP samples name, or what it takes to name it; before them. */
int trace_write_location(struct trace_writer *writer, const struct location_entry *entry, struct err *err);
int trace_write_miss(struct trace_writer *writer, const struct miss_entry *entry, struct err *err);

/* Events of the kinds IP_SAMPLE and KERNEL_IP_SAMPLE, sorted by ticks. */
int trace_write_ip_samples(struct trace_writer *writer, const struct trace_event *events, size_t n, struct err *err);
int trace_write_event_sample(struct trace_writer *writer, const struct trace_event_sample *sample, struct err *err);

/* Write out all pending chunks, so that they survive a kill of the recorder. */
int trace_writer_flush(struct trace_writer *writer, struct err *err);

/* Bytes and records (not counters, not kernel events) written so far. */
uint64_t trace_writer_bytes(const struct trace_writer *writer);
uint64_t trace_writer_records(const struct trace_writer *writer);

/*
 * A recording in several files.  keep: once, before anything is written but the first clock point.  From then on a file
 * that cannot be written (failure: why, or NULL) is lost, and the writer goes on, for there will be a next one; what is
 * written after 'ends' tells how the file ended, and changes nothing of what goes on.
 *
 * rotate: end the file and go on in another one, which has all that it takes to be read alone: definitions, since
 * when probes are on, where threads are and which calls they are in.  Calls that go on are RESUMEd, and counted in the
 * file that has their entry.  clock: ticks, CLOCK_MONOTONIC_RAW and CLOCK_REALTIME of this moment, the one's last clock
 * point and the other's first.
 *
 * Returns 0, with *why the reason why the file that ended is not whole, or empty; or -1 with *err set: no memory.
 */
void trace_writer_keep(struct trace_writer *writer);
const struct err *trace_writer_failure(const struct trace_writer *writer);
void trace_writer_ends(struct trace_writer *writer);
int trace_writer_rotate(struct trace_writer *writer, const char *path, const uint64_t clock[3], struct err *why,
                        struct err *err);

/* After rotate: of a thread that has ended nothing more comes, and its index is another's from now on. */
void trace_writer_forget_thread(struct trace_writer *writer, uint32_t index);
uint64_t trace_writer_all_bytes(const struct trace_writer *writer); /* of all files */

/* Write the END chunk (the recording's end in ticks), close, free.  Returns -1 with *err set if a write failed. */
int trace_writer_close(struct trace_writer *writer, uint64_t end_ticks, struct err *err);

/* ---- reading ---- */

/*
 * Open a trace and check its header.  With salvage, damaged chunks are skipped and counted instead of ending the
 * reading with an error.  Returns 0, or -1 with *err set (missing, not a trace, another version, ...).
 */
int trace_open(struct trace_reader **reader, const char *path, bool salvage, struct err *err);
void trace_close(struct trace_reader *reader);

/*
 * Open a trace and read what it says of itself, its clock, counters, threads, methods and its end, but none of its
 * events: a thousandth of the work.  Of one that is cut, whose last event is its end, or with salvage, all is read.
 */
int trace_outline(struct trace_reader **reader, const char *path, bool salvage, struct err *err);

/* The next event.  Returns 1, 0 at the end (see trace_is_cut), or -1 with *err set: damaged at an offset. */
int trace_next(struct trace_reader *reader, struct trace_event *event, struct err *err);

/*
 * The next events: *records, if records->n is not 0, else *event, which is none of the kinds ENTER to GAP.  Returns 1,
 * 0 or -1, as trace_next.
 */
int trace_next_records(struct trace_reader *reader, struct trace_records *records, struct trace_event *event,
                       struct err *err);

/* One of the records as an event. */
struct trace_event trace_record_event(const struct trace_records *records, size_t i);

/* From now on say, while it takes long, how much has been read: as core/base/progress.h does. */
void trace_show_progress(struct trace_reader *reader, FILE *out);

/* After the end: no END chunk was there, the trace stops after the last whole chunk. */
bool trace_is_cut(const struct trace_reader *reader);
uint64_t trace_damaged_chunks(const struct trace_reader *reader);

/*
 * Told of each definition as it is read, before the events that follow it; any function may be NULL.  Everything is
 * the reader's.
 */
struct trace_listener {
    void *context; /* borrowed; the first argument of each */
    void (*info)(void *context, const char *key, const char *value);
    void (*clock)(void *context, uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns);
    void (*counter)(void *context, const struct trace_counter *counter);
    void (*thread)(void *context, const struct trace_thread *thread);
    void (*cpu_time)(void *context, const struct trace_thread *thread); /* its cpu_time is known now */
    void (*method)(void *context, const struct trace_method *method);
    void (*jit)(void *context, const struct jit_event *event);
    void (*location)(void *context, const struct location_entry *entry);
    void (*collection)(void *context, const struct trace_collection *collection);
    void (*miss)(void *context, const struct miss_entry *entry);
    void (*sampled_method)(void *context, uint32_t number, const struct trace_sampled_method *method);
    void (*context_node)(void *context, uint32_t number, const struct trace_context *node);
    void (*sample)(void *context, const struct trace_sample *sample);
    void (*wait)(void *context, const struct trace_wait *wait);
    void (*virtual_wait)(void *context, const struct trace_virtual_wait *wait);
    void (*allocation)(void *context, const struct trace_allocation *allocation);
    void (*heap_event)(void *context, const struct trace_heap_event *event);
    void (*pressure)(void *context, const struct trace_pressure *pressure);
    void (*code)(void *context, const struct trace_code_change *change);
    void (*value)(void *context, const struct trace_value *value);
    void (*event_sample)(void *context, const struct trace_event_sample *sample);
    void (*ip_sample)(void *context, const struct trace_event *event); /* an IP sample, which trace_next returns, too */
};

void trace_listen(struct trace_reader *reader, const struct trace_listener *listener);

/* What is known so far; strings live until trace_close.  NULL when there is no such thing (yet). */
const char *trace_info(const struct trace_reader *reader, const char *key);
const struct trace_method *trace_method(const struct trace_reader *reader, uint32_t id);
const struct trace_value *trace_value(const struct trace_reader *reader, uint32_t id);
const struct trace_thread *trace_thread(const struct trace_reader *reader, uint32_t index);
const struct trace_counter *trace_counter(const struct trace_reader *reader, size_t i);
const struct trace_collection *trace_collection(const struct trace_reader *reader, size_t i);
size_t trace_n_collections(const struct trace_reader *reader);
const struct trace_context *trace_context(const struct trace_reader *reader, uint32_t number); /* from 1 on */
uint32_t trace_n_contexts(const struct trace_reader *reader); /* the last one's number */
const struct trace_sampled_method *trace_sampled_method(const struct trace_reader *reader, uint32_t number);

/* The source line of a bytecode by its index; 0: not known, or the index is negative. */
uint32_t trace_sampled_line(const struct trace_sampled_method *method, int64_t index);
uint32_t trace_n_sampled_methods(const struct trace_reader *reader);
uint32_t trace_n_threads(const struct trace_reader *reader);         /* indexes are below this */
uint32_t trace_n_methods(const struct trace_reader *reader);         /* ids are below this */
uint32_t trace_n_values(const struct trace_reader *reader);          /* 0: none; else ids are below this */
size_t trace_n_counters(const struct trace_reader *reader);          /* all, in records or not */
size_t trace_n_recorded_counters(const struct trace_reader *reader); /* those in records, in table order */
uint64_t trace_start_ticks(const struct trace_reader *reader);       /* the first clock point's */
uint64_t trace_start_realtime_ns(const struct trace_reader *reader); /* CLOCK_REALTIME then; 0: not known */
uint64_t trace_end_ticks(const struct trace_reader *reader);         /* END's, or the latest moment seen so far */

/* ns per tick from the first and last clock points seen so far; 0 when there are fewer than two. */
double trace_ns_per_tick(const struct trace_reader *reader);

#endif
