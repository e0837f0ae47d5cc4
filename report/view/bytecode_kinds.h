/*
 * Which kinds of bytecode a program's time goes to, or which fields or classes its bytecodes name, from its stack
 * samples; and how many samples can be told that exactly.
 *
 * Source: PEBSI §6.1, Figure 6.1 and Table 6.3.
 */
#ifndef REPORT_VIEW_BYTECODE_KINDS_H
#define REPORT_VIEW_BYTECODE_KINDS_H

#include "core/recorder/stack_sampler.h"
#include "phases/samples/sample_profile.h"
#include "report/samples_table.h"
#include "report/view/bytecode_names.h"

/* What a row is for. */
enum bytecode_kinds_by { BYTECODES_BY_KIND, BYTECODES_BY_FIELD, BYTECODES_BY_CLASS };

struct bytecode_kinds {
    enum bytecode_kinds_by by;
    struct bytecode_names names;   /* not by kind */
    struct sample_profile profile; /* self: in Java code, and not in what the JVM does for it */
    uint64_t n_in_java;            /* samples of the application in Java code; of them: */
    uint64_t n_methods;            /* the method is known */
    uint64_t n_bytecodes;          /* and its bytecode, or it is native */
};

/* arena: of names; borrowed. */
void bytecode_kinds_open(struct bytecode_kinds *kinds, enum bytecode_kinds_by by, uint64_t block_ns,
                         struct arena *arena);
void bytecode_kinds_free(struct bytecode_kinds *kinds);

/*
 * Add a sample.
 *
 * methods  the sampler's
 * add      the same sample for a profile: its methods are not asked for
 */
void bytecode_kinds_add(struct bytecode_kinds *kinds, const struct sampled_method *methods,
                        const struct stack_sample *sample, const struct profile_sample *add);

/* How many could be told, as metadata, and a note where it is less than 99 %. */
void bytecode_kinds_tell(const struct bytecode_kinds *kinds, struct table *table);

/*
 * The table; of the source, what samples stand for and the ratios count.  With names at most options->top rows (0: all)
 * of options->min_share or more.
 */
void bytecode_kinds_table(const struct bytecode_kinds *kinds, const struct samples_source *source,
                          const struct samples_options *options, struct arena *arena, struct table *table);

#endif
