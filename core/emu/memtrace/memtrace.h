/*
 * Address traces: the file that mmprof memtrace writes and reads (mmprof.memtrace(5)).
 *
 * A file is a header and chunks, each compressed and with checksums: entries that describe (threads, classes, methods,
 * objects and what became of them, code), and a thread's accesses.  The decoder trusts nothing.
 */
#ifndef CORE_EMU_MEMTRACE_MEMTRACE_H
#define CORE_EMU_MEMTRACE_MEMTRACE_H

#include "core/base/err.h"
#include "core/wire/wire_text.h"

#define MEMTRACE_MAGIC        "mmprofmt"
#define MEMTRACE_VERSION      3 /* 1 has no LAST_USE and what comes behind it, 2 no INTERVAL */
#define MEMTRACE_HEADER_BYTES 16
#define MEMTRACE_CHUNK_MAGIC  UINT32_C(0x6b63746d) /* "mtck" */
#define MEMTRACE_CHUNK_HEADER 24
#define MEMTRACE_CHUNK_BYTES  ((size_t)4 << 20) /* no chunk is longer, compressed or not */
#define MEMTRACE_TEXT_BYTES   1024u             /* of longer texts, the end is left out */
#define MEMTRACE_ACCESSES_MAX 65536u            /* in a chunk */
#define MEMTRACE_NO_NUMBER    UINT32_MAX

enum memtrace_chunk { MEMTRACE_ENTRIES, MEMTRACE_ACCESSES, MEMTRACE_END };

enum memtrace_kind {
    MEMTRACE_THREAD,   /* number, tid, name */
    MEMTRACE_CLASS,    /* number, name */
    MEMTRACE_METHOD,   /* number, class_name, name, descriptor, source */
    MEMTRACE_LOCATION, /* number, method, line */
    MEMTRACE_CODE,     /* method, address, bytes: compiled */
    MEMTRACE_CREATED,  /* object, class_number, location, thread, address, bytes, time */
    MEMTRACE_MOVED,    /* object, address */
    MEMTRACE_DIED,     /* object, class_number, location, bytes, created, lifetime, n_uses, has_died */
    MEMTRACE_ACCESS,   /* what the struct has below; only in chunks of them */
    MEMTRACE_TOTALS,   /* time, n_accesses; only at the end */
    /* Where each object was used last is recorded: */
    MEMTRACE_LAST_USE,   /* before DIED: object, location, method (NO_NUMBER: no common caller), info */
    MEMTRACE_COLLECTION, /* before what it has moved and found dead: time */
    MEMTRACE_CALL,     /* that is over: method (NO_NUMBER: not known), thread, line (its depth), created, time, bytes */
    MEMTRACE_C2,       /* C2 has compiled a method: method, time */
    MEMTRACE_INTERVAL, /* before all objects: only one in so many bytes is followed; without, all are */
    MEMTRACE_KINDS
};

/* Of an access. */
enum memtrace_info {
    MEMTRACE_LOG2 = 3, /* its bytes */
    MEMTRACE_STORE = 4,
    MEMTRACE_JAVA = 8, /* by Java code */
    MEMTRACE_VM = 16,  /* by the JVM's library */
    MEMTRACE_COLLECTING = 32,
    MEMTRACE_HEAP = 64,
    MEMTRACE_INFO_END = 128
};

/* Of a last use. */
enum memtrace_use {
    MEMTRACE_OTHER_THREAD = 1, /* than created the object */
    MEMTRACE_BY_C2 = 2,        /* the object was created by code of C2 */
    MEMTRACE_USE_END = 4
};

struct memtrace_entry {
    enum memtrace_kind kind;
    uint32_t number, method, line, class_number, thread;
    uint32_t location; /* NO_NUMBER: not known */
    int32_t tid;
    struct wire_text name, class_name, descriptor, source;
    uint64_t object; /* ACCESS: number plus 1, 0: none */
    uint64_t address, bytes, time, created, lifetime, n_uses, n_accesses;
    bool has_died;
    uint64_t instruction; /* ACCESS */
    uint32_t info;        /* ACCESS: enum memtrace_info; LAST_USE: enum memtrace_use */
};

/* ---- memtrace_entry.c: one that describes ---- */

#define MEMTRACE_ENTRY_BYTES (4 * MEMTRACE_TEXT_BYTES + 128)

/* Append it; s->full when it does not fit MEMTRACE_ENTRY_BYTES. */
void memtrace_put(struct sink *s, const struct memtrace_entry *entry);

/* Take the next one; texts live as long as the cursor's bytes.  Returns 0, or -1 when it is damaged. */
int memtrace_get(struct cursor *c, struct memtrace_entry *entry);

/* ---- memtrace_entry.c: accesses ---- */

#define MEMTRACE_CODER_ENTRIES 4096u

/* What an instruction did last, and which one came behind it. */
struct memtrace_known {
    uint64_t instruction, next, address, stride, object, object_stride;
    uint32_t info;
};

/* Zeroed at a chunk's begin. */
struct memtrace_coder {
    uint64_t instruction, address; /* of the access before */
    struct memtrace_known known[MEMTRACE_CODER_ENTRIES];
};

#define MEMTRACE_VALUES_BYTES 31 /* of an access, at most */

/* An access becomes a byte of flags, returned, and what could not be foretold, in values. */
uint8_t memtrace_encode(struct memtrace_coder *coder, const struct memtrace_entry *access, struct sink *values);

/* The reverse: instruction, address, object, info.  values->bad when it is damaged. */
void memtrace_decode(struct memtrace_coder *coder, uint8_t flags, struct cursor *values, struct memtrace_entry *access);

/* ---- memtrace_entry.c: a file ---- */

/* The file's begin.  Each returns 0, or -1: errno says why. */
int memtrace_write_header(FILE *out);
int memtrace_write_chunk(FILE *out, enum memtrace_chunk kind, const void *bytes, size_t n);

/* ---- memtrace_read.c ---- */

struct memtrace_reader;

/* Returns 0, or -1 with *err set. */
int memtrace_open(struct memtrace_reader **reader, const char *path, struct err *err);

/* The same from bytes, which are borrowed. */
int memtrace_open_bytes(struct memtrace_reader **reader, const void *bytes, size_t n, struct err *err);

/*
 * The next entry or access; texts live until the next call.  Returns 1, 0 at the end, or -1 with *err set: damaged, or
 * cut.
 */
int memtrace_next(struct memtrace_reader *reader, struct memtrace_entry *entry, struct err *err);

/* Bytes that were read so far. */
uint64_t memtrace_bytes(const struct memtrace_reader *reader);
void memtrace_close(struct memtrace_reader *reader);

#endif
