#include "core/recorder/ip_samples.h"

#include "core/base/xalloc.h"

#include <fcntl.h>

#define MAPS_PERIOD_NS UINT64_C(20000000)
#define CODE_PERIOD_NS UINT64_C(100000000)
#define FILES_OPEN_MAX 256 /* 1,024 descriptors are usual */
#define PIECE          256 /* events that are written at once */

void ip_samples_init(struct ip_samples *samples)
{
    memset(samples, 0, sizeof *samples);
    samples->files.arena = samples->locations.arena = &samples->arena;
    samples->root.fd = -1;
    jvm_maps_init(&samples->maps);
    code_map_init(&samples->code, -1);
}

void ip_samples_free(struct ip_samples *samples)
{
    for (uint32_t i = 0; i < samples->n_files; i++) {
        free(samples->all[i].offsets);
        if (samples->all[i].fd >= 0)
            close(samples->all[i].fd);
    }
    jvm_root_close(&samples->root);
    free(samples->all);
    free(samples->waiting);
    map_free(&samples->files);
    map_free(&samples->locations);
    jvm_maps_free(&samples->maps);
    code_map_free(&samples->code);
    arena_free(&samples->arena);
    ip_samples_init(samples);
}

static void keep_waiting(struct ip_samples *samples, const struct ip_sample *sample)
{
    *xpush(samples->waiting, samples->waiting_room, samples->n_waiting) = *sample;
    samples->n++;
}

void ip_samples_add(struct ip_samples *samples, uint32_t thread, uint64_t ticks, uint64_t address, bool in_kernel)
{
    keep_waiting(samples, &(struct ip_sample){ .ticks = ticks,
                                               .address = address,
                                               .thread = thread,
                                               .location = IP_SAMPLES_NO_LOCATION,
                                               .in_kernel = in_kernel });
}

void ip_samples_add_event(struct ip_samples *samples, uint32_t thread, uint64_t ticks, const struct kernel_event *event)
{
    keep_waiting(samples, &(struct ip_sample){ .ticks = ticks,
                                               .address = event->count,
                                               .thread = thread,
                                               .location = IP_SAMPLES_NO_LOCATION,
                                               .in_kernel = event->in_kernel,
                                               .event = event->ip_event,
                                               .weight = event->stack.period });
}

/* ---- files ---- */

/* While the process is there. */
static void open_file(struct ip_samples *samples, struct ip_samples_file *file, const struct jvm_mapping *mapping)
{
    struct elf_file elf;
    if (samples->root.fd < 0)
        jvm_root_open(&samples->root, samples->pid);
    file->fd = samples->n_files < FILES_OPEN_MAX ? jvm_mapping_open(mapping, &samples->root, samples->pid) : -1;
    if (elf_file_open(&elf, file->fd < 0 ? -1 : fcntl(file->fd, F_DUPFD_CLOEXEC, 0)) == 0)
        elf_file_build_id(&elf, file->build_id);
    elf_file_close(&elf);
}

static int write_file(struct ip_samples *samples, uint32_t number, const char *symbols, struct trace_writer *writer,
                      struct err *err)
{
    const struct ip_samples_file *file = &samples->all[number];
    samples->entry = (struct location_entry){ .kind = LOCATION_FILE, .number = number };
    samples->entry.path = wire_text(file->path);
    samples->entry.build_id = wire_text(file->build_id);
    samples->entry.symbols = wire_text(symbols);
    return trace_write_location(writer, &samples->entry, err);
}

/* The number of a mapping's file, described when it is new; IP_SAMPLES_NO_LOCATION with *err set: no memory, or the
 * trace. */
static uint32_t number_of_file(struct ip_samples *samples, const struct jvm_mapping *mapping,
                               struct trace_writer *writer, struct err *err)
{
    char key[PATH_MAX + 32]; /* another file may have the path of one that was deleted */
    size_t n = (size_t)snprintf(key, sizeof key, "%" PRIu64 " %s", mapping->inode, mapping->path);
    const uint32_t *known = map_get(&samples->files, key, n < sizeof key ? n : sizeof key);
    if (known != NULL)
        return *known;
    xgrow(samples->all, samples->files_room, (size_t)samples->n_files + 1);
    map_put(&samples->files, key, n < sizeof key ? n : sizeof key, samples->n_files);
    samples->all[samples->n_files] = (struct ip_samples_file){ .path = mapping->path };
    open_file(samples, &samples->all[samples->n_files], mapping);
    return write_file(samples, samples->n_files++, "", writer, err) < 0 ? IP_SAMPLES_NO_LOCATION : samples->n_files - 1;
}

/* ---- code locations ---- */

/* The code location that samples->entry describes (all but its number), known by a key; *location is its number. */
static int location_of(struct ip_samples *samples, const void *key, size_t n_key, bool *is_new, uint32_t *location,
                       struct trace_writer *writer, struct err *err)
{
    const uint32_t *known = map_get(&samples->locations, key, n_key);
    *is_new = known == NULL;
    *location = known != NULL ? *known : samples->n_locations;
    if (known != NULL)
        return 0;
    if (samples->n_locations + 1 == CODE_NUMBERS_MAX)
        return err_set(err, "a trace takes no more than %u code locations", samples->n_locations);
    map_put(&samples->locations, key, n_key, samples->n_locations);
    samples->entry.number = samples->n_locations++;
    return trace_write_location(writer, &samples->entry, err);
}

static int find_in_file(struct ip_samples *samples, const struct jvm_mapping *mapping, struct ip_sample *sample,
                        struct trace_writer *writer, struct err *err)
{
    bool is_new;
    uint32_t number = number_of_file(samples, mapping, writer, err);
    if (number == IP_SAMPLES_NO_LOCATION)
        return -1;
    struct ip_samples_file *file = &samples->all[number];
    const uint64_t key[2] = { number, sample->address - mapping->start + mapping->offset };
    samples->entry = (struct location_entry){ .kind = LOCATION_IN_FILE, .file = number, .offset = key[1] };
    if (location_of(samples, key, sizeof key, &is_new, &sample->location, writer, err) < 0)
        return -1;
    if (is_new)
        *xpush(file->offsets, file->room, file->n) = key[1];
    return 0;
}

/* Code of no file, of which nothing is known. */
static int find_unknown(struct ip_samples *samples, enum location_code code, struct ip_sample *sample,
                        struct trace_writer *writer, struct err *err)
{
    bool is_new;
    const uint32_t key = (uint32_t)code;
    samples->entry = (struct location_entry){ .kind = LOCATION_IN_CODE, .code = code };
    return location_of(samples, &key, sizeof key, &is_new, &sample->location, writer, err);
}

/* A method that a code location names.  Returns 0, or -1 with *err set. */
static int write_method(struct ip_samples *samples, uint32_t number, struct trace_writer *writer, struct err *err)
{
    struct code_method *method = number < samples->code.n_methods ? &samples->code.methods[number] : NULL;
    if (method == NULL || method->names.class_name == NULL || method->is_written)
        return 0;
    method->is_written = true;
    const struct location_entry entry = { .kind = LOCATION_METHOD,
                                          .number = number,
                                          .class_name = wire_text(method->names.class_name),
                                          .name = wire_text(method->names.method),
                                          .descriptor = wire_text(method->names.descriptor),
                                          .source = wire_text(method->source) };
    return trace_write_location(writer, &entry, err);
}

/* Or the bytecode's index, where there is none; 0: neither is known. */
static uint32_t line_of(const struct code_method *method, int32_t index)
{
    uint32_t line = method == NULL || method->line_bytes == NULL
                        ? 0
                        : code_log_line(method->line_bytes, method->n_line_bytes, index);
    return line != 0 || index < 0 ? line : LOCATION_BYTECODE + (uint32_t)index;
}

/* The frames at an offset in compiled code, the innermost first; at least the method itself. */
static int fill_frames(struct ip_samples *samples, const struct code_piece *piece, uint64_t offset, uint32_t *point,
                       struct trace_writer *writer, struct err *err)
{
    struct code_frame frames[CODE_FRAMES_MAX];
    struct location_entry *entry = &samples->entry;
    uint32_t n = code_piece_frames(piece, offset, frames, point);
    samples->index = n == 0 ? -1 : frames[n - 1].index;
    for (uint32_t i = 0; i < n; i++)
        if (frames[i].index < 0)
            frames[i].index = 0; /* a method's entry: HotSpot takes its first line */
    if (n == 0)
        frames[n++] = (struct code_frame){ piece->method, -1 };
    entry->n_frames = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct code_frame *frame = &frames[n - 1 - i];
        const struct code_method *method =
            frame->method < samples->code.n_methods ? &samples->code.methods[frame->method] : NULL;
        entry->frames[i].method = frame->method;
        entry->frames[i].line = line_of(method, frame->index);
        if (write_method(samples, frame->method, writer, err) < 0)
            return -1;
    }
    return 0;
}

/* Code that the JVM made, as it was then; unknown if it did not tell. */
static int find_in_code(struct ip_samples *samples, struct ip_sample *sample, struct trace_writer *writer,
                        struct err *err)
{
    uint32_t number = code_map_find(&samples->code, sample->address, sample->ticks), key[3] = { number, 0, 1 };
    bool is_new;
    samples->index = -1;
    if (number == UINT32_MAX) {
        samples->n_unknown++;
        return find_unknown(samples, LOCATION_UNKNOWN, sample, writer, err);
    }
    const struct code_piece *piece = &samples->code.pieces[number];
    samples->entry = (struct location_entry){ .kind = LOCATION_IN_CODE, .tier = piece->tier };
    samples->entry.code = piece->kind == CODE_COMPILED              ? LOCATION_COMPILED
                          : strcmp(piece->name, "Interpreter") == 0 ? LOCATION_INTERPRETER
                                                                    : LOCATION_STUB;
    samples->entry.name = wire_text(piece->name);
    samples->n_coarse += piece->is_coarse;
    if (piece->kind == CODE_COMPILED &&
        fill_frames(samples, piece, sample->address - piece->start, &key[1], writer, err) < 0)
        return -1;
    return location_of(samples, key, sizeof key, &is_new, &sample->location, writer, err);
}

/* Returns 0 (sample->location may still be none), 1: it is in nothing that is mapped, or -1 with *err set. */
static int look_up(struct ip_samples *samples, struct ip_sample *sample, struct trace_writer *writer, struct err *err)
{
    const struct jvm_mapping *mapping = jvm_maps_find(&samples->maps, sample->address);
    if (sample->location != IP_SAMPLES_NO_LOCATION)
        return 0;
    if (mapping == NULL)
        return 1;
    if (mapping->path == NULL)
        return 0;
    return mapping->path[0] == '[' ? find_unknown(samples, LOCATION_VDSO, sample, writer, err)
                                   : find_in_file(samples, mapping, sample, writer, err);
}

/*
 * Those that were not looked up before.  One in nothing that is mapped is unknown if the maps are fresh; else it and
 * those after it are to be looked up again.  Returns whether there was one, or -1 with *err set.
 */
static int look_up_new(struct ip_samples *samples, bool is_fresh, struct trace_writer *writer, struct err *err)
{
    size_t first_missing = samples->n_waiting;
    for (size_t i = samples->n_looked; i < samples->n_waiting; i++) {
        struct ip_sample *sample = &samples->waiting[i];
        int rc = look_up(samples, sample, writer, err);
        if (rc < 0 || (rc > 0 && is_fresh && find_unknown(samples, LOCATION_UNKNOWN, sample, writer, err) < 0))
            return -1;
        samples->n_unknown += rc > 0 && is_fresh;
        first_missing = rc > 0 && !is_fresh && i < first_missing ? i : first_missing;
    }
    samples->n_looked = first_missing;
    return first_missing < samples->n_waiting;
}

/* What is mapped changes: it is read again when an address is in nothing that was. */
static int look_up_all(struct ip_samples *samples, uint64_t now_ns, bool is_last, struct trace_writer *writer,
                       struct err *err)
{
    int is_missing = look_up_new(samples, false, writer, err);
    if (is_missing <= 0 || (!is_last && now_ns - samples->maps_read_ns < MAPS_PERIOD_NS))
        return is_missing < 0 ? -1 : 0;
    samples->maps_read_ns = now_ns;
    jvm_maps_read(&samples->maps, samples->pid);
    return look_up_new(samples, true, writer, err);
}

/* ---- writing ---- */

static int write_piece(const struct ip_samples *samples, size_t first, size_t n, struct trace_writer *writer,
                       struct err *err)
{
    struct trace_event events[PIECE];
    size_t n_events = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ip_sample *sample = &samples->waiting[first + i];
        const struct trace_event_sample of_event = { .thread = sample->thread,
                                                     .location = sample->location,
                                                     .in_kernel = sample->in_kernel,
                                                     .event = sample->event - 1,
                                                     .weight = sample->weight };
        if (sample->event > 0 && trace_write_event_sample(writer, &of_event, err) < 0)
            return -1;
        if (sample->event > 0)
            continue;
        events[n_events++] = (struct trace_event){ .kind = sample->in_kernel ? TRACE_KERNEL_IP_SAMPLE : TRACE_IP_SAMPLE,
                                                   .thread = sample->thread,
                                                   .ticks = sample->ticks,
                                                   .count = sample->location };
    }
    return trace_write_ip_samples(writer, events, n_events, err);
}

/* Now and then: what it tells is needed a second later. */
static void read_code(struct ip_samples *samples, uint64_t now_ns, bool is_last)
{
    if (!is_last && now_ns - samples->code_read_ns < CODE_PERIOD_NS)
        return;
    samples->code_read_ns = now_ns;
    code_map_read(&samples->code);
}

int ip_samples_write(struct ip_samples *samples, struct trace_writer *writer, uint64_t now_ns, uint64_t until_ticks,
                     bool is_last, struct err *err)
{
    size_t n = 0;
    if (samples->n_waiting == 0)
        return 0;
    if (look_up_all(samples, now_ns, is_last, writer, err) < 0)
        return -1;
    read_code(samples, now_ns, is_last);
    for (; n < samples->n_waiting && (is_last || samples->waiting[n].ticks <= until_ticks); n++) {
        struct ip_sample *sample = &samples->waiting[n];
        if (sample->location == IP_SAMPLES_NO_LOCATION && find_in_code(samples, sample, writer, err) < 0)
            return -1;
    }
    for (size_t at = 0; at < n; at += PIECE)
        if (write_piece(samples, at, n - at < PIECE ? n - at : PIECE, writer, err) < 0)
            return -1;
    samples->n_waiting -= n;
    samples->n_looked -= n < samples->n_looked ? n : samples->n_looked;
    samples->n_asked -= n < samples->n_asked ? n : samples->n_asked;
    memmove(samples->waiting, samples->waiting + n, samples->n_waiting * sizeof *samples->waiting);
    return 0;
}

/* ---- asking ---- */

static bool is_among(const uint64_t *addresses, size_t n, uint64_t address)
{
    for (size_t i = 0; i < n; i++)
        if (addresses[i] == address)
            return true;
    return false;
}

/* What is to be asked for an IP sample in the JVM's code; 0: nothing. */
static uint64_t question(struct ip_samples *samples, const struct ip_sample *sample)
{
    uint32_t number = sample->location == IP_SAMPLES_NO_LOCATION
                          ? code_map_find(&samples->code, sample->address, sample->ticks)
                          : UINT32_MAX;
    if (sample->location != IP_SAMPLES_NO_LOCATION || number == UINT32_MAX)
        return sample->location == IP_SAMPLES_NO_LOCATION ? sample->address : 0;
    struct code_piece *piece = &samples->code.pieces[number];
    if (piece->kind != CODE_COMPILED || piece->asked == samples->n_questions)
        return 0;
    piece->asked = samples->n_questions;
    return piece->start;
}

size_t ip_samples_ask(struct ip_samples *samples, uint64_t *addresses, size_t n)
{
    size_t n_addresses = 0;
    samples->n_questions++;
    for (; samples->n_asked < samples->n_looked && n_addresses < n; samples->n_asked++) {
        uint64_t address = question(samples, &samples->waiting[samples->n_asked]);
        if (address != 0 && !is_among(addresses, n_addresses, address))
            addresses[n_addresses++] = address;
    }
    return n_addresses;
}

/* ---- other code locations than those of IP samples ---- */

void ip_samples_look_at_maps(struct ip_samples *samples)
{
    if (samples->pid != 0)
        jvm_maps_read(&samples->maps, samples->pid);
}

int ip_samples_location(struct ip_samples *samples, uint64_t address, uint64_t ticks, uint32_t *location,
                        int32_t *index, struct trace_writer *writer, struct err *err)
{
    struct ip_sample sample = { .ticks = ticks, .address = address, .location = IP_SAMPLES_NO_LOCATION };
    samples->index = -1;
    code_map_read(&samples->code);
    int rc = look_up(samples, &sample, writer, err);
    if (rc == 0 && sample.location == IP_SAMPLES_NO_LOCATION)
        rc = find_in_code(samples, &sample, writer, err);
    else if (rc > 0)
        rc = find_unknown(samples, LOCATION_UNKNOWN, &sample, writer, err);
    *location = sample.location;
    *index = samples->index;
    return rc;
}

/* Numbers of methods that were interpreted are these behind those of methods that were compiled. */
#define INTERPRETED (CODE_NUMBERS_MAX / 2)

int ip_samples_interpreted(struct ip_samples *samples, uint32_t method, uint32_t line, uint32_t bytecode,
                           uint32_t *location, struct trace_writer *writer, struct err *err)
{
    const uint32_t key[4] = { method, line, bytecode, 2 };
    bool is_new;
    samples->entry = (struct location_entry){ .kind = LOCATION_IN_CODE, .code = LOCATION_INTERPRETER, .n_frames = 1 };
    samples->entry.frames[0] = (struct location_frame){ INTERPRETED + method % INTERPRETED, line };
    return location_of(samples, key, sizeof key, &is_new, location, writer, err);
}

int ip_samples_interpreted_method(struct ip_samples *samples, uint32_t method, struct wire_text class_name,
                                  struct wire_text name, struct wire_text descriptor, struct wire_text source,
                                  struct trace_writer *writer, struct err *err)
{
    samples->entry = (struct location_entry){ .kind = LOCATION_METHOD,
                                              .number = INTERPRETED + method % INTERPRETED,
                                              .class_name = class_name,
                                              .name = name,
                                              .descriptor = descriptor,
                                              .source = source };
    return trace_write_location(writer, &samples->entry, err);
}

/* ---- symbols ---- */

struct naming {
    struct ip_samples *samples;
    struct trace_writer *writer;
    struct err *err;
    uint32_t file;
    int rc;
};

static int write_symbol(void *context, uint64_t offset, uint64_t n_bytes, const char *name)
{
    struct naming *naming = context;
    struct location_entry *entry = &naming->samples->entry;
    *entry = (struct location_entry){
        .kind = LOCATION_SYMBOL, .number = naming->file, .offset = offset, .n_bytes = n_bytes, .name = wire_text(name)
    };
    naming->rc = trace_write_location(naming->writer, entry, naming->err);
    return naming->rc;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int ip_samples_write_symbols(struct ip_samples *samples, const struct recorder_symbols *symbols,
                             struct trace_writer *writer, struct err *err)
{
    for (uint32_t i = 0; symbols != NULL && i < samples->n_files; i++) {
        struct ip_samples_file *file = &samples->all[i];
        struct naming naming = { samples, writer, err, i, 0 };
        size_t n = file->n - file->n_named;
        if (n == 0)
            continue;
        uint64_t *offsets = file->offsets + file->n_named;
        qsort(offsets, n, sizeof *offsets, by_number);
        const struct jvm_file open = { &samples->root, jvm_root_path(&samples->root, file->path), file->fd };
        const char *from = symbols->name(symbols->context, &open, file->build_id, offsets, n, write_symbol, &naming);
        file->n_named = file->n;
        file->has_symbols = file->has_symbols || from != NULL;
        if (naming.rc < 0 || ((from != NULL || !file->has_symbols) &&
                              write_file(samples, i, from == NULL ? "none" : from, writer, err) < 0))
            return -1;
    }
    return 0;
}
