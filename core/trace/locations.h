/*
 * Where threads were found: the payload of a trace's LOCATIONS chunk.
 *
 * A code location is what an address of the program was when a thread was found there: an offset in a file (an
 * executable or a library), or code that the JVM had made.  Symbols name the functions of files, as far as the recorder
 * could find them: a trace needs no other file to be read.
 *
 * An entry is a byte, its kind, then numbers (LEB128; a text is its length and its bytes):
 *
 *     0, a file: number, path, build id (hexadecimal, or empty), where its symbols are from (or empty: none were
 *        looked up)
 *     1, a symbol: file, offset of its first byte in the file, bytes, name
 *     2, a method: number, class, name, descriptor, source file (or empty)
 *     3, a location in a file: number, file, offset
 *     4, a location in code that the JVM made: number, kind (enum location_code), compiler's tier (0: not known), name
 *        (of a stub, or empty), n, and n times: method, line (0: not known); the innermost first, each inlined in the
 *        next.  A line from LOCATION_BYTECODE on is the index of a bytecode behind it, of a method without lines
 *
 * What is named was described before; the last entry of a number counts.  The decoder trusts nothing.
 */
#ifndef CORE_TRACE_LOCATIONS_H
#define CORE_TRACE_LOCATIONS_H

#include "core/wire/code_log.h"

#define LOCATION_NUMBERS_MAX CODE_NUMBERS_MAX /* files, methods, code locations: numbers are below it */
#define LOCATION_FRAMES_MAX  CODE_FRAMES_MAX
#define LOCATION_BYTECODE    0x10000u /* lines are below */
#define LOCATION_ENTRY_BYTES (4 * WIRE_TEXT_SHORT_BYTES + 2048)

enum location_kind { LOCATION_FILE, LOCATION_SYMBOL, LOCATION_METHOD, LOCATION_IN_FILE, LOCATION_IN_CODE };

enum location_code {
    LOCATION_UNKNOWN, /* in no file, and the JVM did not say what it is */
    LOCATION_INTERPRETER,
    LOCATION_STUB,
    LOCATION_COMPILED,
    LOCATION_VDSO, /* the kernel's code in the process */
    LOCATION_CODES
};

struct location_frame {
    uint32_t method, line;
};

struct location_entry {
    enum location_kind kind;
    uint32_t number;                                 /* of the file (a symbol's, too), method or code location */
    struct wire_text path, build_id, symbols;        /* FILE */
    struct wire_text name;                           /* SYMBOL, METHOD, IN_CODE */
    struct wire_text class_name, descriptor, source; /* METHOD */
    uint64_t offset, n_bytes;                        /* SYMBOL; the offset of IN_FILE, too */
    uint32_t file;                                   /* IN_FILE */
    enum location_code code;                         /* IN_CODE */
    uint32_t tier, n_frames;
    struct location_frame frames[LOCATION_FRAMES_MAX];
};

/* Append an entry.  s->full when it does not fit LOCATION_ENTRY_BYTES. */
void locations_put(struct sink *s, const struct location_entry *entry);

/* Take the next entry; texts live as long as the cursor's bytes.  Returns 0, or -1 when it is damaged. */
int locations_get(struct cursor *c, struct location_entry *entry);

#endif
