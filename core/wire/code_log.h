/*
 * The code that a JVM makes: the log that the agent appends to, in a memory file, and the recorder reads.
 *
 * An entry is a u32 (little-endian) with the length of what follows, then a byte, its kind, then numbers (LEB128; a
 * text is its length and its bytes):
 *
 *     0, a method: number, class, name, descriptor, source file, n, and n times: bytecode index, line
 *     1, compiled: ticks, address, bytes, method, compiler's tier (0: not known) plus 8 if the points are those of
 *        calls and loops only, ns of CPU time that the entry before took in the program, and up to the end the points
 *        of the code
 *     2, discarded: ticks, address
 *     3, other code: ticks, address, bytes, name
 *     4, a class: number, name
 *     5, whose code compiled code has: address, bytes (0: what was there is gone), compiler's tier, and up to the end
 *        the numbers of the classes
 *
 * A point is the offset of its end, less that of the point before; frames; how many of them, from the outermost, are
 * those of the point before; and for each other one: method, and 1 more than its bytecode index, or 0.  It tells what
 * the code before its end, and behind the point before, was compiled from.
 *
 * A method, or a class, is described before another entry names it.  What is in a log comes from another process: the
 * decoder trusts nothing.
 */
#ifndef CORE_WIRE_CODE_LOG_H
#define CORE_WIRE_CODE_LOG_H

#include "core/wire/wire_text.h"

/* ---- code_log ---- */

#define CODE_LOG_ENTRY_BYTES  ((size_t)256 * 1024)  /* no entry is longer */
#define CODE_LOG_BYTES        ((uint64_t)256 << 20) /* an agent logs no more */
#define CODE_LOG_UNREAD_BYTES ((uint64_t)32 << 20)  /* nor more than the recorder reads */
#define CODE_LINES_MAX        8192u
#define CODE_FRAMES_MAX       64u
#define CODE_NUMBERS_MAX      (UINT32_C(1) << 22) /* methods, classes: numbers are below it */
#define CODE_COARSE           8u                  /* with the tier */

enum code_kind { CODE_METHOD, CODE_COMPILED, CODE_DISCARDED, CODE_OTHER, CODE_CLASS, CODE_DEPENDENT };

struct code_line {
    uint32_t index, line; /* from this bytecode index on */
};

struct code_frame {
    uint32_t method;
    int32_t index; /* of the bytecode, or -1 */
};

struct code_entry {
    enum code_kind kind;
    uint32_t method, tier; /* method: number; of CODE_CLASS, the class's */
    bool is_coarse;        /* between its points, nobody knows what the code is from */
    uint64_t ticks, address, n_bytes, spent_ns;
    struct wire_text class_name, name, descriptor, source;
    const uint8_t *points; /* borrowed; n_points_bytes of them */
    size_t n_points_bytes;
    const uint8_t *classes; /* the same, of CODE_DEPENDENT: numbers */
    size_t n_classes_bytes;
    const struct code_line *lines; /* writing: the caller's; reading: none, see code_log_line */
    uint32_t n_lines;
    const uint8_t *line_bytes; /* reading: borrowed */
    size_t n_line_bytes;
};

/* Append an entry with its length in front.  s->full when it does not fit. */
void code_log_put(struct sink *s, const struct code_entry *entry);

/* Append a point: frames from the outermost on; before: those of the point before, of which n_before are there. */
void code_log_put_point(struct sink *s, uint64_t n_bytes, const struct code_frame *frames, uint32_t n_frames,
                        const struct code_frame *before, uint32_t n_before);

/*
 * Take the next whole entry.  Returns 1 with *entry set (what it points to lives as long as the cursor's bytes), 0 when
 * less than an entry is left (the cursor stays before it), or -1 when the log is damaged.
 */
int code_log_get(struct cursor *c, struct code_entry *entry);

/*
 * The frames of the point that an offset in the code belongs to, from the outermost on, CODE_FRAMES_MAX at most: the
 * innermost.  *point is its number.  Returns how many, 0: none is known there, or it is damaged.
 */
uint32_t code_log_find(const uint8_t *points, size_t n, uint64_t offset, struct code_frame *frames, uint32_t *point);

/* All points of a piece of code, one after the other. */
struct code_points {
    struct cursor rest;
    uint64_t end;              /* of the point's code: an offset */
    uint32_t n_frames, n_same; /* same: from the outermost on, those of the point before */
    struct code_frame frames[CODE_FRAMES_MAX];
};

void code_points_begin(struct code_points *points, const uint8_t *bytes, size_t n);

/* Returns whether there was a next one, undamaged. */
bool code_points_next(struct code_points *points);

/* The line of a bytecode index, from an entry's line_bytes; 0: not known. */
uint32_t code_log_line(const uint8_t *line_bytes, size_t n, int32_t index);

/* ---- smap ---- */

/*
 * Line numbers of Kotlin's inline functions.
 *
 * kotlinc gives code that it inlines line numbers behind the file's last one, and says in the class's
 * SourceDebugExtension (an SMAP, JSR 45) what they stand for: the stratum 'Kotlin' has the inlined function's lines,
 * 'KotlinDebug' the line of the file that calls it.
 */

#define SMAP_BYTES_MAX 32768u /* of longer ones, what is behind is not read */

/* Is it the source file of a class that may have such lines? */
bool smap_is_of(const char *source, size_t n);

/*
 * In place of each line that is behind the file's last one: the line that calls the inlined function; 0: not known.
 * smap: n bytes, which anybody may have written.  Other lines stay, and all do where the text is no SMAP of Kotlin's.
 */
void smap_take_calls(const char *smap, size_t n, struct code_line *lines, uint32_t n_lines);

#endif
