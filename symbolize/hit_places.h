/*
 * What the places are at which threads were found: the part of the program, the function, the line.
 *
 * The trace says what a place is; where it has no symbols for a file, because the recorder was killed, those of the
 * same build here are taken.  What has no name stays without one.
 */
#ifndef SYMBOLIZE_HIT_PLACES_H
#define SYMBOLIZE_HIT_PLACES_H

#include "core/base/err.h"
#include "core/trace/places.h"
#include "symbolize/vm_subsystems.h"

#include <stdint.h>

enum hit_kind {
    HIT_INTERPRETER,
    HIT_C1,
    HIT_C2,
    HIT_COMPILED, /* by which compiler is not known */
    HIT_STUB,     /* code that the JVM made, but for methods */
    HIT_VM,       /* libjvm.so */
    HIT_NATIVE,   /* another library, or the executable; the kernel's code in the process */
    HIT_AGENT,    /* the library of mmprof's agent */
    HIT_UNKNOWN,
    HIT_KINDS
};

/* A function, or what stands for one; the places'. */
struct hit_function {
    enum hit_kind kind;
    enum vm_subsystem subsystem; /* of HIT_VM */
    const char *name;            /* "G1CollectedHeap::collect", "java/util/HashMap.get", "Interpreter", or "" */
    const char *file;            /* of native code: its path; of a method: its class' source file; or "" */
    const char *class_name, *method, *descriptor; /* of HIT_INTERPRETER never, of compiled code; else NULL */
};

struct hit_place {
    uint32_t function; /* number */
    uint32_t line;     /* of Java code; 0: not known */
    uint32_t bytecode; /* of code without lines: its index plus 1; 0: not known, or there is a line */
    const char *outer; /* what it was inlined into: "HashMap.get:12 in Main.run:30", or "" */
};

struct hit_places;

/* Returns 0, or -1 with *err set: no memory. */
int hit_places_open(struct hit_places **places, struct err *err);
void hit_places_close(struct hit_places *places);

/* A listener for a trace's places; context: the places. */
void hit_places_hear(void *context, const struct place_entry *entry);

/*
 * After the whole trace was heard: what a place is; one that the trace does not describe is unknown.  Returns 0, or -1
 * with *err set: no memory.
 */
int hit_places_find(struct hit_places *places, uint32_t number, struct hit_place *place, struct err *err);

const struct hit_function *hit_places_function(const struct hit_places *places, uint32_t number);

/* Files with places, by a number below n: path, and where their symbols are from, or "". */
uint32_t hit_places_n_files(const struct hit_places *places);
const char *hit_places_file(const struct hit_places *places, uint32_t number, const char **symbols);

/* "interpreter", ...; "interpreter", "c1", ...: as a row of a table, and as CSV and JSON call it. */
const char *hit_kind_name(enum hit_kind kind);
const char *hit_kind_key(enum hit_kind kind);

#endif
