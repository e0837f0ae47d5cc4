/*
 * What rows of misses are called: memory by its owner and field, code by its bytecode.
 */
#ifndef REPORT_VIEW_MISSES_LABELS_H
#define REPORT_VIEW_MISSES_LABELS_H

#include "report/view/misses_report.h"

/* "Java heap", "threads' stacks", ... */
const char *misses_owner_kind(enum miss_owner kind);
const char *misses_base_name(const char *path);
bool misses_is_class(const struct misses_owner *owner);

/* "java.util.HashMap", "java.util.HashMap.table", "long[] [4..7]"; NULL: no memory, as below. */
const char *misses_owner_label(struct arena *arena, const struct misses_owner *owner);
const char *misses_field_label(struct arena *arena, const struct misses_owner *owner, const struct misses_cell *cell);

/* "field read, reference", "array read, int", "virtual call". */
const char *misses_bytecode_kind(struct arena *arena, const struct misses_bytecode *bytecode);

/* What a bytecode names: "java.util.HashMap.table", "long[] elements"; "java.util.HashMap", "long[]"; or "": nothing.
 */
const char *misses_named_field(struct arena *arena, const struct misses_bytecode *bytecode);
const char *misses_named_class(struct arena *arena, const struct misses_bytecode *bytecode);

#endif
