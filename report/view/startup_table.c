/*
 * The view 'startup': where the time of a JVM's start goes, of a recording that began with the JVM.  What the JVM
 * counts itself comes first, in the threads that do it; then the CPU time of samples.
 */
#include "report/view/tables.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"
#include "report/view/view_pass.h"
#include "symbolize/java_names.h"
#include "symbolize/vm_parts.h"

#define INITIALIZERS 10u /* of so many classes, where --top says nothing */

struct startup_row {
    const char *label, *how;
    double n, ns; /* TABLE_NONE: it has no number */
};

static const struct table_column columns[] = {
    { "what", "What", TABLE_TEXT, FROM(struct startup_row, label) },
    { "number", "Number", TABLE_COUNT, FROM(struct startup_row, n) },
    { "total_ns", "Time", TABLE_NS, FROM(struct startup_row, ns) },
    { "how", "How it is known", TABLE_TEXT, FROM(struct startup_row, how) },
};

/* Samples in the initializer of a class and what it calls, but for other initializers. */
struct initializer {
    const char *class_name; /* the trace's */
    uint64_t n, ns;
};

struct startup_samples {
    struct initializer *all; /* owned */
    uint32_t n, room;
    struct hash_set by_class, by_context; /* 1 + the number of an initializer; by context: 1: in none, else 2 + that */
    uint64_t n_interpreted, interpreted_ns, n_initializing, initializing_ns;
    uint64_t n_of_part[VM_PARTS], part_ns[VM_PARTS];
};

static uint32_t number_of(struct startup_samples *s, const char *class_name)
{
    struct hash_slot *slot = xhash_put(&s->by_class, hash_text(HASH_START, class_name, strlen(class_name)));
    if (slot->value == 0) {
        *xpush(s->all, s->room, s->n) = (struct initializer){ .class_name = class_name };
        slot->value = s->n;
    }
    return slot->value - 1;
}

/* The innermost initializer on a stack: 2 + its number; 1: there is none. */
static uint32_t search(struct startup_samples *s, const struct trace_reader *reader, uint32_t context)
{
    while (context != 0) {
        const struct trace_context *node = trace_context(reader, context);
        const struct trace_sampled_method *method = node == NULL ? NULL : trace_sampled_method(reader, node->method);
        if (method == NULL)
            break;
        if (strcmp(method->names.method, "<clinit>") == 0)
            return 2 + number_of(s, method->names.class_name);
        context = node->parent;
    }
    return 1;
}

static void add_sample(struct startup_samples *s, const struct trace_reader *reader,
                       const struct trace_kept_sample *sample)
{
    const struct trace_thread *thread = trace_thread(reader, sample->thread);
    enum vm_part part = thread == NULL ? VM_PART_APPLICATION : vm_part_of(thread->comm);
    s->n_of_part[part] += sample->n;
    s->part_ns[part] += sample->weight_ns;
    if (part != VM_PART_APPLICATION || sample->context == 0)
        return;
    if (sample->frame == TRACE_FRAME_INTERPRETED) {
        s->n_interpreted += sample->n;
        s->interpreted_ns += sample->weight_ns;
    }
    struct hash_slot *slot = xhash_put(&s->by_context, hash_address(sample->context));
    if (slot->value == 0)
        slot->value = search(s, reader, sample->context);
    if (slot->value < 2)
        return;
    struct initializer *of = &s->all[slot->value - 2];
    of->n += sample->n;
    of->ns += sample->weight_ns;
    s->n_initializing += sample->n;
    s->initializing_ns += sample->weight_ns;
}

static int by_ns(const void *a, const void *b)
{
    const struct initializer *x = a, *y = b;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->class_name, y->class_name);
}

/* ---- rows ---- */

static struct table_row *add_row(struct table *table, const char *kind, const char *label, double n, double ns,
                                 const char *how)
{
    const struct startup_row row = { label, how, n, ns };
    return table_add(table, kind, &row);
}

static void add_counted(const struct info_startup *told, const struct info_classes *classes, struct table *table)
{
    if (told->create_ms > 0)
        add_row(table, "create_vm", "creating the JVM", TABLE_NONE, (double)told->create_ms * 1e6,
                "until main can run");
    add_row(table, "archived", "loading classes from an archive", (double)classes->n_archived, (double)told->archive_ns,
            "in the threads that need them");
    add_row(table, "loaded", "loading other classes", (double)classes->n_loaded,
            (double)told->jdk_ns + (double)told->application_ns, "reading and defining them");
    add_row(table, "linked", "linking classes", (double)told->n_linked, (double)told->link_ns, "without verifying");
    add_row(table, "verified", "verifying classes", (double)told->n_verified, (double)told->verify_ns, "");
    add_row(table, "initialized", "initializing classes", (double)told->n_initialized, (double)told->init_ns,
            "<clinit>, with what it calls");
    add_row(table, "compiled", "compiling methods", (double)told->n_compiled, (double)told->compile_ns,
            "in compiler threads; wall time");
}

static void add_sampled(struct startup_samples *s, uint64_t top, struct table *table)
{
    struct arena *arena = table->arena;
    uint64_t most = top == 0 ? INITIALIZERS : top;
    add_row(table, "cpu", "the program's threads", (double)s->n_of_part[VM_PART_APPLICATION],
            (double)s->part_ns[VM_PART_APPLICATION], "CPU time of samples")
        ->after_rule = true;
    add_row(table, "cpu_interpreted", "  interpreted code", (double)s->n_interpreted, (double)s->interpreted_ns,
            "the innermost method");
    add_row(table, "cpu_initializers", "  in initializers", (double)s->n_initializing, (double)s->initializing_ns,
            "<clinit> on the stack");
    qsort(s->all, s->n, sizeof *s->all, by_ns);
    for (uint32_t i = 0; i < s->n && i < most; i++)
        add_row(table, "initializer", arena_printf(arena, "    %s", java_names_class(arena, s->all[i].class_name)),
                (double)s->all[i].n, (double)s->all[i].ns, "itself, not others that it needs");
    for (enum vm_part part = VM_PART_GC; part < VM_PART_MMPROF; part++)
        if (s->n_of_part[part] > 0)
            add_row(table, arena_printf(arena, "cpu_%s", vm_part_key(part)), vm_part_name(part),
                    (double)s->n_of_part[part], (double)s->part_ns[part], "CPU time of samples");
}

/* What an archive of the program's classes may save. */
static void tell_archive(const struct info_startup *told, const struct info_classes *classes, struct table *table)
{
    char saved[64];
    double ns = (double)told->jdk_ns + (double)told->application_ns + (double)told->verify_ns;
    double n = (double)classes->n_loaded + (double)classes->n_archived;
    table_format_ns(ns, saved, sizeof saved);
    table_metadata_number(table, "not_archived_ns", ns, NULL);
    if (classes->n_archived == 0)
        table_note(table, "no class came from an archive: the JVM has none, or it does not fit (-Xlog:cds says why)");
    if (n > 0)
        table_note(table, arena_printf(table->arena,
                                       "%.0f %% of %.0f classes came from no archive: an archive of the program's own "
                                       "(-XX:ArchiveClassesAtExit, or from JDK 24 on an AOT cache) saves %s at most",
                                       100 * (double)classes->n_loaded / n, n, saved));
}

static int refuse(const struct report_source *source, struct err *err)
{
    const char *why = info_text(source->reader, INFO_PAUSES_FAILED);
    err_set(err, "'%s' does not have a JVM's start%s%s", source->path, why == NULL ? "" : ": ", why == NULL ? "" : why);
    return err_next(err, "record it from its start: 'mmprof profile -- java ...'");
}

int startup_table(const struct view_pass *pass, uint64_t top, struct table *table, struct err *err)
{
    const struct report_source *source = &pass->source;
    struct startup_samples samples = { .n = 0 };
    struct info_startup told;
    struct info_classes classes;
    if (info_read(source->reader, INFO_STARTUP, 0, source->arena, &told) < 12 ||
        info_read(source->reader, INFO_PAUSES_CLASSES, 0, source->arena, &classes) < 6)
        return refuse(source, err);
    table_begin(table, source->arena);
    TABLE_COLUMNS(table, columns, 0);
    report_metadata_program(source, table);
    add_counted(&told, &classes, table);
    for (size_t i = 0; i < pass->samples.n_kept; i++)
        if (!pass->samples.kept[i].is_waiting)
            add_sample(&samples, source->reader, &pass->samples.kept[i]);
    if (pass->samples.n_kept > 0)
        add_sampled(&samples, top, table);
    tell_archive(&told, &classes, table);
    free(samples.all);
    hash_free(&samples.by_class);
    hash_free(&samples.by_context);
    return 0;
}
