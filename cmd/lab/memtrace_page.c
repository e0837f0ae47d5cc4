#include "cmd/lab/lab_command.h"

#include "cmd/tables_page.h"
#include "report/view/last_uses.h"
#include "report/view/lifetimes.h"
#include "report/view/live_bytes.h"

#define PARTS_MAX 4
#define POINTS    200 /* of the curve */

struct memtrace_page {
    struct arena arena;
    const char *path;
    uint64_t top;
    struct html_part parts[PARTS_MAX];
    size_t n;
};

/* The table of a new part, to be made. */
static struct table *add_part(struct memtrace_page *page, const struct html_part *part)
{
    struct table *table = arena_alloc(&page->arena, sizeof *table);
    page->parts[page->n] = *part;
    page->parts[page->n++].table = table;
    return table;
}

static int add_uses(struct memtrace_page *page, struct err *err)
{
    static const struct html_part part = {
        HTML_PART_TABLE,
        "objects",
        "Objects that only pass something on",
        "Objects that one change of the program would save: of one class, created by one line, last used by one line, "
        "with the same lowest common caller. Those with most bytes that are used for a short time come first.",
        "it does not apply",
        NULL
    };
    struct last_uses uses;
    const struct folding_list *libraries = folding_read(NULL, &page->arena, err);
    if (libraries == NULL || last_uses_file(&uses, page->path, err) < 0)
        return -1;
    last_uses_fold(&uses, libraries);
    last_uses_table(&uses, page->path, page->top, &page->arena, add_part(page, &part));
    last_uses_free(&uses);
    return 0;
}

static void add_points(struct memtrace_page *page, const struct live_bytes *live)
{
    static const struct html_part part = { HTML_PART_TABLE,          "points",
                                           "Points for collections", "Methods after whose calls few bytes are live.",
                                           "it does not apply",      NULL };
    struct live_points points;
    live_points_find(live, &points);
    live_points_table(live, &points, page->path, page->top, &page->arena, add_part(page, &part));
    live_points_free(&points);
}

static void add_curve(struct memtrace_page *page, const struct live_bytes *live)
{
    static const struct html_part part = { HTML_PART_LIVE_BYTES,   "live-bytes",
                                           "Live bytes",           "Live bytes by allocated bytes.",
                                           "it was no collection", NULL };
    live_bytes_table(live, page->path, POINTS, &page->arena, add_part(page, &part));
}

static int add_lifetimes(struct memtrace_page *page, struct err *err)
{
    static const struct html_part part = {
        HTML_PART_TABLE,           "lifetimes",
        "Lifetimes by class",      "For how many data accesses of Java code each object was used.",
        "there is no such object", NULL
    };
    struct memtrace_reader *reader;
    struct lifetimes *lifetimes;
    if (memtrace_open(&reader, page->path, err) < 0)
        return -1;
    int rc = lifetimes_read(&lifetimes, reader, err);
    memtrace_close(reader);
    if (rc < 0)
        return -1;
    lifetimes_table(lifetimes, page->path, LIFETIMES_BY_CLASS, page->top, &page->arena, add_part(page, &part));
    lifetimes_free(lifetimes);
    return 0;
}

static int add_all(struct memtrace_page *page, struct err *err)
{
    struct live_bytes live;
    if (live_bytes_file(&live, page->path, err) < 0)
        return -1;
    bool has_last_uses = live.n_calls > 0;
    int rc = has_last_uses ? add_uses(page, err) : 0;
    if (rc == 0 && has_last_uses)
        add_points(page, &live);
    add_curve(page, &live);
    live_bytes_free(&live);
    return rc == 0 ? add_lifetimes(page, err) : -1;
}

int memtrace_page_write(const char *path, const char *html, uint64_t top, struct err *err)
{
    struct memtrace_page page = { .path = path, .top = top };
    int rc = add_all(&page, err);
    const struct html_tables tables = { "Objects of an address trace", path, page.parts, page.n, &page.arena };
    if (rc == 0)
        rc = tables_page_write(&tables, html, err);
    arena_free(&page.arena);
    return rc;
}
