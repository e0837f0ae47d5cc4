#include "core/trace/writer_kept.h"

#include "core/base/xalloc.h"

/* ---- lists ---- */

static const enum chunk_type types[KEPT_LISTS] = {
    [KEPT_INFO] = CHUNK_INFO,
    [KEPT_COUNTERS] = CHUNK_COUNTERS,
    [KEPT_METHODS] = CHUNK_METHODS,
    [KEPT_VALUES] = CHUNK_VALUES,
    [KEPT_JIT] = CHUNK_JIT,
    [KEPT_FILES] = CHUNK_LOCATIONS,
    [KEPT_SYMBOLS] = CHUNK_LOCATIONS,
    [KEPT_LOCATION_METHODS] = CHUNK_LOCATIONS,
    [KEPT_LOCATIONS] = CHUNK_LOCATIONS,
    [KEPT_SAMPLED_METHODS] = CHUNK_CONTEXTS,
};

/* What replaces an entry and is no longer takes its place. */
void kept_define(struct trace_writer *writer, enum kept_what what, uint32_t number, const struct sink *s)
{
    if (writer->kept == NULL)
        return;
    struct kept_list *list = &writer->kept->lists[what];
    const uint8_t *start = writer->pending[types[what]] + writer->pending_used[types[what]];
    size_t n = (size_t)(s->at - start);
    xgrow_zeroed(list->all, list->n, (size_t)number + 1);
    xgrow(list->bytes, list->bytes_room, list->n_bytes + n);
    struct kept_entry *entry = &list->all[number];
    if (n > entry->n) {
        entry->at = list->n_bytes;
        list->n_bytes += n;
    }
    memcpy(list->bytes + entry->at, start, n);
    entry->n = (uint32_t)n;
    entry->file = writer->kept->file;
}

void kept_add(struct trace_writer *writer, enum kept_what what, const struct sink *s)
{
    if (writer->kept != NULL)
        kept_define(writer, what, writer->kept->lists[what].n_added++, s);
}

static int write_entry(struct trace_writer *writer, enum kept_what what, size_t number, struct err *err)
{
    struct kept_list *list = &writer->kept->lists[what];
    struct kept_entry *entry = &list->all[number];
    struct sink s = writer_begin(writer, types[what]);
    sink_bytes(&s, list->bytes + entry->at, entry->n);
    entry->file = writer->kept->file;
    return writer_finish(writer, types[what], &s, err);
}

static bool is_missing(const struct writer_kept *kept, enum kept_what what, uint32_t number)
{
    return kept != NULL && number < kept->lists[what].n && kept->lists[what].all[number].n > 0 &&
           kept->lists[what].all[number].file != kept->file;
}

static int refer(struct trace_writer *writer, enum kept_what what, uint32_t number, struct err *err)
{
    return is_missing(writer->kept, what, number) ? write_entry(writer, what, number, err) : 0;
}

int kept_write_all(struct trace_writer *writer, enum kept_what what, struct err *err)
{
    for (size_t i = 0; i < writer->kept->lists[what].n; i++)
        if (writer->kept->lists[what].all[i].n > 0 && write_entry(writer, what, i, err) < 0)
            return -1;
    return 0;
}

void kept_info(struct trace_writer *writer, const char *key, const struct sink *s)
{
    struct writer_kept *kept = writer->kept;
    if (kept == NULL)
        return;
    kept->info_keys.arena = &kept->arena;
    const uint32_t *number = map_get(&kept->info_keys, key, strlen(key));
    if (number != NULL) {
        kept_define(writer, KEPT_INFO, *number, s);
        return;
    }
    map_put(&kept->info_keys, key, strlen(key), kept->lists[KEPT_INFO].n_added);
    kept_add(writer, KEPT_INFO, s);
}

/* ---- code locations ---- */

/* By offset; one that is told again is the same. */
static void keep_symbol(struct trace_writer *writer, const struct location_entry *entry, const struct sink *s)
{
    struct writer_kept *kept = writer->kept;
    xgrow_zeroed(kept->symbols_of, kept->n_symbols_of, (size_t)entry->number + 1);
    struct kept_symbols *of = &kept->symbols_of[entry->number];
    size_t at = of->n;
    while (at > 0 && of->all[at - 1].offset >= entry->offset)
        at--;
    if (at < of->n && of->all[at].offset == entry->offset)
        return;
    xgrow(of->all, of->room, of->n + 1);
    memmove(of->all + at + 1, of->all + at, (of->n++ - at) * sizeof *of->all);
    of->all[at] =
        (struct kept_symbol){ entry->offset, entry->offset + entry->n_bytes, kept->lists[KEPT_SYMBOLS].n_added };
    kept_add(writer, KEPT_SYMBOLS, s);
}

void kept_location(struct trace_writer *writer, const struct location_entry *entry, const struct sink *s)
{
    static const enum kept_what lists[] = { [LOCATION_FILE] = KEPT_FILES,
                                            [LOCATION_METHOD] = KEPT_LOCATION_METHODS,
                                            [LOCATION_IN_FILE] = KEPT_LOCATIONS,
                                            [LOCATION_IN_CODE] = KEPT_LOCATIONS };
    if (writer->kept == NULL)
        return;
    if (entry->kind == LOCATION_SYMBOL)
        keep_symbol(writer, entry, s);
    else
        kept_define(writer, lists[entry->kind], entry->number, s);
}

/* The function at an offset, if it has a name. */
static int refer_symbol(struct trace_writer *writer, uint32_t file, uint64_t offset, struct err *err)
{
    struct writer_kept *kept = writer->kept;
    if (file >= kept->n_symbols_of)
        return 0;
    const struct kept_symbols *of = &kept->symbols_of[file];
    size_t low = 0, high = of->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (of->all[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || offset >= of->all[low - 1].end)
        return 0;
    return refer(writer, KEPT_SYMBOLS, of->all[low - 1].entry, err);
}

int kept_refer_location(struct trace_writer *writer, uint32_t number, struct err *err)
{
    if (!is_missing(writer->kept, KEPT_LOCATIONS, number))
        return 0;
    const struct kept_list *list = &writer->kept->lists[KEPT_LOCATIONS];
    struct cursor c = cursor_over(list->bytes + list->all[number].at, list->all[number].n);
    struct location_entry entry;
    if (locations_get(&c, &entry) < 0)
        return err_set(err, "a code location of an earlier file is damaged");
    if (entry.kind == LOCATION_IN_FILE &&
        (refer(writer, KEPT_FILES, entry.file, err) < 0 || refer_symbol(writer, entry.file, entry.offset, err) < 0))
        return -1;
    for (uint32_t i = 0; i < entry.n_frames; i++)
        if (refer(writer, KEPT_LOCATION_METHODS, entry.frames[i].method, err) < 0)
            return -1;
    return refer(writer, KEPT_LOCATIONS, number, err);
}

/* ---- probes ---- */

void kept_control(struct trace_writer *writer, const struct trace_event *event)
{
    struct writer_kept *kept = writer->kept;
    if (kept == NULL)
        return;
    xgrow_zeroed(kept->control, kept->n_control, (size_t)event->method + 1);
    kept->control[event->method] = event->kind;
}

void kept_free(struct writer_kept *kept)
{
    if (kept == NULL)
        return;
    for (size_t i = 0; i < KEPT_LISTS; i++) {
        free(kept->lists[i].all);
        free(kept->lists[i].bytes);
    }
    for (size_t i = 0; i < kept->n_symbols_of; i++)
        free(kept->symbols_of[i].all);
    free(kept->symbols_of);
    kept_free_threads(kept);
    free(kept->contexts);
    free(kept->named);
    free(kept->classes);
    free(kept->control);
    map_free(&kept->info_keys);
    arena_free(&kept->arena);
    free(kept);
}
