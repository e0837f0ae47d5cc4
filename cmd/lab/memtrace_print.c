#include "cmd/lab/lab_command.h"

#include "cmd/terminal.h"

static void put_text(FILE *out, struct wire_text text)
{
    terminal_text(out, text.at, text.n);
}

/* ---- all of it ---- */

static void print_access(FILE *out, const struct memtrace_entry *e)
{
    static const struct {
        uint32_t bit;
        const char *word;
    } words[] = { { MEMTRACE_JAVA, "java" },
                  { MEMTRACE_VM, "vm" },
                  { MEMTRACE_COLLECTING, "collecting" },
                  { MEMTRACE_HEAP, "heap" } };
    fprintf(out, "access  %" PRIu64 " thread %" PRIu32 " at %#" PRIx64 " %s %" PRIu64 " %#" PRIx64, e->time, e->thread,
            e->instruction, (e->info & MEMTRACE_STORE) != 0 ? "store" : "load", e->bytes, e->address);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((e->info & words[i].bit) != 0)
            fprintf(out, " %s", words[i].word);
    if (e->object > 0)
        fprintf(out, " object %" PRIu64, e->object - 1);
}

static void print_location(FILE *out, uint32_t location)
{
    if (location != MEMTRACE_NO_NUMBER)
        fprintf(out, ", location %" PRIu32, location);
}

static void print_name(FILE *out, const struct memtrace_entry *e)
{
    switch (e->kind) {
    case MEMTRACE_THREAD:
        fprintf(out, "thread  %" PRIu32 " tid %" PRId32 " ", e->number, e->tid);
        put_text(out, e->name);
        break;
    case MEMTRACE_CLASS:
        fprintf(out, "class   %" PRIu32 " ", e->number);
        put_text(out, e->name);
        break;
    case MEMTRACE_METHOD:
        fprintf(out, "method  %" PRIu32 " ", e->number);
        put_text(out, e->class_name);
        fputc('.', out);
        put_text(out, e->name);
        put_text(out, e->descriptor);
        fputs(e->source.n > 0 ? ", " : "", out);
        put_text(out, e->source);
        break;
    default:
        fprintf(out, "location %" PRIu32 " method %" PRIu32 ", line %" PRIu32, e->number, e->method, e->line);
        break;
    }
}

static void print_method(FILE *out, uint32_t method)
{
    if (method != MEMTRACE_NO_NUMBER)
        fprintf(out, ", method %" PRIu32, method);
}

/* What is there where last uses are recorded. */
static void print_use(FILE *out, const struct memtrace_entry *e)
{
    if (e->kind == MEMTRACE_COLLECTION) {
        fprintf(out, "collect %" PRIu64, e->time);
    } else if (e->kind == MEMTRACE_C2) {
        fprintf(out, "c2      %" PRIu64 " method %" PRIu32, e->time, e->method);
    } else if (e->kind == MEMTRACE_CALL) {
        fprintf(out, "return  %" PRIu64 " thread %" PRIu32 ", depth %" PRIu32 ", since %" PRIu64 ", %" PRIu64 " bytes",
                e->time, e->thread, e->line, e->created, e->bytes);
        print_method(out, e->method);
    } else {
        fprintf(out, "use     object %" PRIu64 "%s%s", e->object,
                (e->info & MEMTRACE_OTHER_THREAD) != 0 ? ", another thread" : "",
                (e->info & MEMTRACE_BY_C2) != 0 ? ", created by C2's code" : "");
        print_location(out, e->location);
        print_method(out, e->method);
    }
}

static void print_created(FILE *out, const struct memtrace_entry *e)
{
    fprintf(out,
            "create  %" PRIu64 " object %" PRIu64 " class %" PRIu32 ", thread %" PRIu32 ", %#" PRIx64 " %" PRIu64
            " bytes",
            e->time, e->object, e->class_number, e->thread, e->address, e->bytes);
    print_location(out, e->location);
}

static void print_died(FILE *out, const struct memtrace_entry *e)
{
    fprintf(out,
            "%s object %" PRIu64 " class %" PRIu32 ", created %" PRIu64 ", last used %" PRIu64 " later, %" PRIu64
            " uses, %" PRIu64 " bytes",
            e->has_died ? "die    " : "stay   ", e->object, e->class_number, e->created, e->lifetime, e->n_uses,
            e->bytes);
    print_location(out, e->location);
}

static void print_code(FILE *out, const struct memtrace_entry *e)
{
    fprintf(out, "code    %#" PRIx64 " %" PRIu64 " bytes, method %" PRIu32, e->address, e->bytes, e->method);
}

static void print_moved(FILE *out, const struct memtrace_entry *e)
{
    fprintf(out, "move    object %" PRIu64 " to %#" PRIx64, e->object, e->address);
}

static void print_totals(FILE *out, const struct memtrace_entry *e)
{
    fprintf(out, "end     %" PRIu64 ", %" PRIu64 " accesses", e->time, e->n_accesses);
}

static void print_entry(FILE *out, const struct memtrace_entry *e)
{
    static void (*const prints[MEMTRACE_KINDS])(FILE *, const struct memtrace_entry *) = {
        [MEMTRACE_THREAD] = print_name,   [MEMTRACE_CLASS] = print_name,   [MEMTRACE_METHOD] = print_name,
        [MEMTRACE_LOCATION] = print_name, [MEMTRACE_CODE] = print_code,    [MEMTRACE_CREATED] = print_created,
        [MEMTRACE_MOVED] = print_moved,   [MEMTRACE_DIED] = print_died,    [MEMTRACE_ACCESS] = print_access,
        [MEMTRACE_TOTALS] = print_totals, [MEMTRACE_LAST_USE] = print_use, [MEMTRACE_COLLECTION] = print_use,
        [MEMTRACE_CALL] = print_use,      [MEMTRACE_C2] = print_use,
    };
    prints[e->kind](out, e);
    fputc('\n', out);
}

int memtrace_print(FILE *out, struct memtrace_reader *reader, struct err *err)
{
    struct memtrace_entry entry;
    int rc;
    while ((rc = memtrace_next(reader, &entry, err)) > 0)
        print_entry(out, &entry);
    return rc;
}

/* ---- its sums ---- */

struct memtrace_sums {
    uint64_t n[MEMTRACE_KINDS], n_stores, n_java, n_vm, n_heap, n_owned, n_died, time;
};

static void add_entry(struct memtrace_sums *sums, const struct memtrace_entry *e)
{
    sums->n[e->kind]++;
    sums->n_died += e->kind == MEMTRACE_DIED && e->has_died;
    sums->time = e->kind == MEMTRACE_TOTALS ? e->time : sums->time;
    if (e->kind != MEMTRACE_ACCESS)
        return;
    sums->n_stores += (e->info & MEMTRACE_STORE) != 0;
    sums->n_java += (e->info & MEMTRACE_JAVA) != 0;
    sums->n_vm += (e->info & MEMTRACE_VM) != 0;
    sums->n_heap += (e->info & MEMTRACE_HEAP) != 0;
    sums->n_owned += e->object > 0;
}

static double per_cent(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

static void print_sums(FILE *out, const struct memtrace_sums *s, uint64_t n_bytes, const char *path)
{
    uint64_t n = s->n[MEMTRACE_ACCESS];
    fprintf(out, "trace     %s: %" PRIu64 " accesses of %" PRIu64 " threads, %.1f MB", path, n, s->n[MEMTRACE_THREAD],
            (double)n_bytes / 1e6);
    if (n > 0)
        fprintf(out, ", %.2f bytes each", (double)n_bytes / (double)n);
    fprintf(out, "\ntime      %" PRIu64 " data accesses of Java code\n", s->time);
    if (n > 0)
        fprintf(out,
                "accesses  %.1f %% are stores; %.1f %% by Java code, %.1f %% by the JVM; %.1f %% in the Java heap, "
                "%.1f %% of these in objects whose creation was seen\n",
                per_cent(s->n_stores, n), per_cent(s->n_java, n), per_cent(s->n_vm, n), per_cent(s->n_heap, n),
                per_cent(s->n_owned, s->n_heap));
    fprintf(out,
            "objects   %" PRIu64 " created, moved %" PRIu64 " times, %" PRIu64 " died, %" PRIu64
            " were there at the end\n",
            s->n[MEMTRACE_CREATED], s->n[MEMTRACE_MOVED], s->n_died, s->n[MEMTRACE_DIED] - s->n_died);
}

int memtrace_summarize(FILE *out, struct memtrace_reader *reader, const char *path, struct err *err)
{
    struct memtrace_entry entry;
    struct memtrace_sums sums = { .time = 0 };
    int rc;
    while ((rc = memtrace_next(reader, &entry, err)) > 0)
        add_entry(&sums, &entry);
    if (rc == 0)
        print_sums(out, &sums, memtrace_bytes(reader), path);
    return rc;
}
