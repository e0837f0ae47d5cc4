/* What the numbers of an address trace stand for: classes, methods, lines of them. */
#ifndef REPORT_VIEW_MEMTRACE_NAMES_H
#define REPORT_VIEW_MEMTRACE_NAMES_H

#include "core/base/method_name.h"
#include "core/emu/memtrace/memtrace.h"
#include "symbolize/java_names.h"

/* By number; grows by doubling, zeroed. */
struct memtrace_list {
    void *items; /* owned */
    uint32_t n;
};

struct memtrace_line {
    uint32_t method, line;
};

struct memtrace_names {
    struct arena arena;
    struct memtrace_list classes;   /* of const char *, the arena's; NULL: not described */
    struct memtrace_list methods;   /* of struct method_name, likewise */
    struct memtrace_list locations; /* of struct memtrace_line */
};

/* The item of a number, of n_bytes; NULL: no number of a trace that mmprof writes. */
void *memtrace_list_item(struct memtrace_list *list, uint32_t number, size_t n_bytes);

/* An entry, which may describe one of them.  Returns false: such a number. */
bool memtrace_names_take(struct memtrace_names *names, const struct memtrace_entry *entry);
void memtrace_names_free(struct memtrace_names *names);

/* As people read them, in an arena.  Short ones have no packages. */
const char *memtrace_names_class(const struct memtrace_names *names, uint32_t number, enum java_names_style style,
                                 struct arena *arena);
const char *memtrace_names_method(const struct memtrace_names *names, uint32_t number, enum java_names_style style,
                                  struct arena *arena);
/* "Main.run:17" */
const char *memtrace_names_location(const struct memtrace_names *names, uint32_t number, enum java_names_style style,
                                    struct arena *arena);

/* The method that a location is of; MEMTRACE_NO_NUMBER: not described. */
uint32_t memtrace_names_method_of(const struct memtrace_names *names, uint32_t location);

#endif
