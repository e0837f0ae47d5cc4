/* A tree for the page's flame graph, from stacks and what each stands for: waiting, bytes, samples. */
#ifndef REPORT_HTML_HTML_STACKS_H
#define REPORT_HTML_HTML_STACKS_H

#include "core/base/method_name.h"
#include "report/html/html_json.h"

/* What a frame is; the page has a colour for each. */
enum html_frame { HTML_FRAME_JAVA, HTML_FRAME_NATIVE, HTML_FRAME_GROUP, HTML_FRAMES };

/* Its key in the data: "java", "native", "group". */
const char *html_frame_key(enum html_frame kind);

#define HTML_STACKS_VALUES 2u

struct html_stacks;
struct timeline;

/* In the arena, for html_stacks_free. */
struct html_stacks *html_stacks_new(struct arena *arena);
void html_stacks_free(struct html_stacks *stacks);

/*
 * A method's number as a frame, or that of a group of stacks (a thread, a lock, a class of objects) with this title.
 * The same number for the same method, whatever the address of its hidden class.
 *
 * known  by the caller's number of the method in its trace: what was returned before, 0 or 1 more than it; updated
 */
uint32_t html_stacks_method(struct html_stacks *stacks, const struct method_name *name, enum html_frame kind,
                            uint32_t *known);
uint32_t html_stacks_group(struct html_stacks *stacks, const char *title);

/* Add a stack to a value (below HTML_STACKS_VALUES), outermost frame first, one at least. */
void html_stacks_add(struct html_stacks *stacks, const uint32_t *frames, size_t n, unsigned value, double number);

/* The same to value 0, of what began and ended in these moments of a time line; NULL: there is none. */
void html_stacks_add_between(struct html_stacks *stacks, const uint32_t *frames, size_t n, double number,
                             struct timeline *line, uint64_t from_ticks, uint64_t to_ticks);

/*
 * The tree as html_tree() has it, with values of these names; contexts with little of all of them are left out, so that
 * HTML_NODES_MAX suffice.
 */
void html_stacks_put(struct html_json *json, const struct html_stacks *stacks, const char *const *values,
                     unsigned n_values);

#endif
