/*
 * What a recording in several files keeps of those before: each file is to be read alone, so it has what it names.
 * Shared by writer.c and writer_*.c; nobody else includes it.
 *
 * What is few stands at each file's beginning (methods, threads that have not ended, metadata); of the rest, which
 * grows with the recording (code locations, calling contexts), a file has what it names, from then on.
 */
#ifndef CORE_TRACE_WRITER_KEPT_H
#define CORE_TRACE_WRITER_KEPT_H

#include "core/trace/recording_info.h"
#include "core/trace/writer_internal.h"

/* An entry of a chunk as it was written last. */
struct kept_entry {
    size_t at;     /* in the bytes */
    uint32_t n;    /* bytes; 0: there is none */
    uint32_t file; /* the latest that has it */
};

/* By number, or in the order of their coming. */
struct kept_list {
    struct kept_entry *all; /* owned */
    size_t n;               /* there is room for so many; those that are not there are zero */
    uint32_t n_added;       /* kept_add: in their order */
    uint8_t *bytes;         /* owned */
    size_t n_bytes, bytes_room;
};

/* Lists of entries: what they are of.  The chunk is that of the same name; of sampled methods it is CONTEXTS. */
enum kept_what {
    KEPT_INFO,
    KEPT_COUNTERS,
    KEPT_METHODS,
    KEPT_VALUES,
    KEPT_JIT,
    KEPT_FILES,
    KEPT_SYMBOLS,
    KEPT_LOCATION_METHODS,
    KEPT_LOCATIONS,
    KEPT_SAMPLED_METHODS,
    KEPT_LISTS
};

/* A function of a file, for the locations in it. */
struct kept_symbol {
    uint64_t offset, end;
    uint32_t entry; /* in the list of symbols */
};

struct kept_symbols {
    struct kept_symbol *all; /* owned; by offset */
    size_t n, room;
};

#define KEPT_MOUNT UINT32_MAX /* among open calls: a virtual thread came */

struct kept_thread {
    struct trace_thread info; /* name and comm are owned */
    uint32_t file;            /* the latest that has it */
    enum trace_kind state;    /* its latest switch; TRACE_ENTER: none so far */
    uint64_t n_lost;          /* of info's: in files before */
    struct trace_cpu_time before;
    uint32_t *open; /* owned: its open calls, outermost first */
    size_t n_open, open_room;
    size_t n_carrier;    /* of open, while a virtual thread is there, and its KEPT_MOUNT */
    uint64_t *values[2]; /* owned, by series: the columns as they were told last; NULL: never */
};

struct kept_context {
    uint32_t parent, method;
    int32_t call_site;
    uint32_t number, file; /* of this one in that file */
};

struct kept_named {
    uint32_t number, file; /* of a sampled method, or of a class, in that file */
    const char *name;      /* of a class; the arena's */
};

struct writer_kept {
    uint32_t file;        /* from 1 on */
    uint64_t start_ticks; /* of this one; 0: the first */
    bool is_ending;
    struct info_sums sums;
    struct arena arena;
    struct map info_keys; /* the number of a key's entry */
    struct kept_list lists[KEPT_LISTS];
    struct kept_symbols *symbols_of; /* owned, by file */
    size_t n_symbols_of;
    struct kept_thread **threads; /* owned, by index; NULL: not known, or long ended */
    size_t n_threads;
    struct kept_context *contexts; /* owned, by number */
    size_t contexts_room, n_contexts;
    struct kept_named *named, *classes; /* owned: sampled methods, classes of allocated objects */
    size_t named_room, classes_room;
    uint32_t n_named, n_classes; /* in this file */
    uint64_t n_allocations;      /* in the files before */
    enum trace_kind *control;    /* owned, by method: ENABLED or DISABLED; TRACE_ENTER: neither */
    size_t n_control;
    uint64_t n_bytes; /* of the files before */
};

/* A moment that is before the file's beginning came late: it is the beginning. */
static inline uint64_t kept_ticks(const struct trace_writer *writer, uint64_t ticks)
{
    return writer->kept != NULL && ticks < writer->kept->start_ticks ? writer->kept->start_ticks : ticks;
}

/*
 * Nothing happens where nothing is kept (writer->kept is NULL).  Those that write return 0, or -1 with *err set.
 *
 * define: the entry that s holds, before writer_finish, is the list's of this number.  add: it comes behind the others.
 * refer, below: what is written next names it.
 */
void kept_define(struct trace_writer *writer, enum kept_what what, uint32_t number, const struct sink *s);
void kept_add(struct trace_writer *writer, enum kept_what what, const struct sink *s);

/* Entries of this list stand at a file's beginning. */
int kept_write_all(struct trace_writer *writer, enum kept_what what, struct err *err);

void kept_info(struct trace_writer *writer, const char *key, const struct sink *s);

void kept_location(struct trace_writer *writer, const struct location_entry *entry, const struct sink *s);
int kept_refer_location(struct trace_writer *writer, uint32_t number, struct err *err);

/* ENABLED and DISABLED of a method. */
void kept_control(struct trace_writer *writer, const struct trace_event *event);

void kept_free(struct writer_kept *kept);

/* ---- writer_kept_threads.c ---- */

/* *told is what this file is to be told: without what files before have. */
void kept_thread(struct trace_writer *writer, const struct trace_thread *thread, struct trace_thread *told);
int kept_refer_thread(struct trace_writer *writer, uint32_t index, struct err *err);
int kept_switch(struct trace_writer *writer, const struct trace_event *event, struct err *err);
int kept_records(struct trace_writer *writer, uint32_t index, const uint64_t *words, size_t n_words, struct err *err);
int kept_counts(struct trace_writer *writer, uint32_t index, uint32_t series, const uint64_t *values, struct err *err);
struct kept_thread *kept_thread_at(const struct writer_kept *kept, uint32_t index);

void kept_forget_thread(struct writer_kept *kept, uint32_t index);

/* A file begins: forgotten is what nothing names any more. */
void kept_next_threads(struct writer_kept *kept);
void kept_free_threads(struct writer_kept *kept);

/* ---- writer_kept_contexts.c ---- */

void kept_context(struct trace_writer *writer, const struct trace_context *context);

/* The number of a context in this file, which has it from now on. */
int kept_refer_context(struct trace_writer *writer, uint32_t number, uint32_t *in_file, struct err *err);

/* The same of a class; its name is to be told if *name is not NULL. */
void kept_class(struct trace_writer *writer, uint32_t number, uint32_t *in_file, const char **name);

#endif
