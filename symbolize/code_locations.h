/*
 * What the code locations are at which threads were found: the part of the program, the function, the line.
 *
 * The trace says what a code location is; where it has no symbols for a file, because the recorder was killed, those of
 * the same build here are taken.  What has no name stays without one.
 */
#ifndef SYMBOLIZE_CODE_LOCATIONS_H
#define SYMBOLIZE_CODE_LOCATIONS_H

#include "core/base/err.h"
#include "core/base/method_name.h"
#include "core/trace/locations.h"
#include "symbolize/vm_parts.h"

enum code_location_kind {
    CODE_AT_INTERPRETER,
    CODE_AT_C1,
    CODE_AT_C2,
    CODE_AT_COMPILED, /* by which compiler is not known */
    CODE_AT_STUB,     /* code that the JVM made, but for methods */
    CODE_AT_VM,       /* libjvm.so */
    CODE_AT_NATIVE,   /* another library, or the executable; the kernel's code in the process */
    CODE_AT_AGENT,    /* the library of mmprof's agent */
    CODE_AT_UNKNOWN,
    CODE_LOCATION_KINDS
};

/* A function, or what stands for one; the code locations'. */
struct code_function {
    enum code_location_kind kind;
    enum vm_subsystem subsystem; /* of CODE_AT_VM */
    const char *name;            /* "G1CollectedHeap::collect", "java/util/HashMap.get", "Interpreter", or "" */
    const char *file;            /* of native code: its path; of a method: its class' source file; or "" */
    struct method_name names;    /* of CODE_AT_INTERPRETER never, of compiled code; else NULL */
};

struct code_location {
    uint32_t function; /* number */
    uint32_t line;     /* of Java code; 0: not known */
    uint32_t bytecode; /* of code without lines: its index plus 1; 0: not known, or there is a line */
    const char *outer; /* what it was inlined into: "HashMap.get:12 in Main.run:30", or "" */
};

struct code_locations;
struct trace_reader;

struct code_locations *code_locations_open(void);
void code_locations_close(struct code_locations *locations);

/* A listener for a trace's code locations; context: the code locations. */
void code_locations_hear(void *context, const struct location_entry *entry);

/* What is in the rest of the trace: a recording of this machine may get names of functions from files here. */
void code_locations_recorded(struct code_locations *locations, const struct trace_reader *reader);

/* After the whole trace was heard: what a code location is; one that the trace does not describe is unknown. */
void code_locations_find(struct code_locations *locations, uint32_t number, struct code_location *location);

const struct code_function *code_locations_function(const struct code_locations *locations, uint32_t number);

/* Files with code locations, by a number below n: path, and where their symbols are from, or "". */
uint32_t code_locations_n_files(const struct code_locations *locations);
const char *code_locations_file(const struct code_locations *locations, uint32_t number, const char **symbols);

/* "interpreter", ...; "interpreter", "c1", ...: as a row of a table, and as CSV and JSON call it. */
const char *code_location_kind_name(enum code_location_kind kind);
const char *code_location_kind_key(enum code_location_kind kind);

#endif
