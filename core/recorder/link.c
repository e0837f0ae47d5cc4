#include "core/recorder/link_state.h"

#include "core/base/xalloc.h"
#include "core/recorder/read_log.h"
#include "core/recorder/metadata.h"
#include "core/recorder/shared_file.h"

#include <fcntl.h>

#define PIECE_BYTES 65536

void link_init(struct recorder_link *link, struct session *session, const struct recorder_observer *observer)
{
    memset(link, 0, sizeof *link);
    link->session = session;
    link->observer = observer;
    link->told.arena = &link->arena;
    link->jit_fd = -1;
}

static void free_command(struct link_command *command)
{
    if (command->fd >= 0)
        close(command->fd);
    free(command->ids);
    free(command->lines);
    free(command);
}

void link_free(struct recorder_link *link)
{
    for (struct link_command *command = link->commands, *next; command != NULL; command = next) {
        next = command->next;
        free_command(command);
    }
    link->commands = NULL;
    if (link->jit_fd >= 0)
        close(link->jit_fd);
    link->jit_fd = -1;
    free(link->jit);
    link->jit = NULL;
    if (link->rules != NULL)
        config_free(link->rules);
    free(link->rules);
    link->rules = NULL;
    map_free(&link->told);
    arena_free(&link->arena);
}

void link_know(struct recorder_link *link, const struct trace_method *method)
{
    const struct recorder_observer *observer = link->observer;
    const struct setting phase = { .kind = SETTING_PHASE,
                                   .class_name = method->names.class_name,
                                   .name = method->names.method,
                                   .descriptor = method->names.descriptor };
    char *line = arena_alloc(&link->arena, setting_room(&phase));
    map_put(&link->told, line, setting_encode(&phase, line), method->id);
    map_put(&link->told, &method->id, sizeof method->id, method->id);
    if (observer != NULL && observer->method != NULL)
        observer->method(observer->context, method);
}

/* ---- giving commands ---- */

static bool is_slow(enum recorder_command which)
{
    return wire_is_slow((enum wire_kind)which);
}

/* Another slow command is under way. */
static bool must_wait(const struct recorder_link *link, enum recorder_command which)
{
    const struct link_command *command = link->commands;
    while (command != NULL && !(command->sent && is_slow(command->command)))
        command = command->next;
    return is_slow(which) && command != NULL;
}

/* Give the agent what it can take now. */
static void send_waiting(struct recorder_link *link)
{
    for (struct link_command *command = link->commands; link->ready && command != NULL; command = command->next) {
        if (command->sent || must_wait(link, command->command))
            continue;
        if (session_send_with(link->session, command->packet, command->fd) < 0)
            return; /* no room now, or the target has ended */
        command->sent = true;
    }
}

/* A command at the end of the list, to be sent. */
static struct link_command *add_command(struct recorder_link *link, const struct wire_message *message)
{
    char packet[WIRE_PACKET_BYTES];
    size_t n = wire_encode(message, packet, sizeof packet);
    struct link_command *command = xcalloc(1, sizeof *command + n + 1), **end = &link->commands;
    memcpy(command->packet, packet, n + 1);
    command->command = (enum recorder_command)message->kind;
    command->fd = -1;
    while (*end != NULL)
        end = &(*end)->next;
    *end = command;
    return command;
}

static void drop(struct recorder_link *link, struct link_command *command)
{
    struct link_command **at = &link->commands;
    while (*at != command)
        at = &(*at)->next;
    *at = command->next;
    free_command(command);
}

static void give_ids(struct recorder_link *link, enum wire_kind which, const uint32_t *ids, size_t n)
{
    struct wire_list list = { .n = n };
    for (size_t i = 0; i < n; i++)
        list.numbers[i] = ids[i] & RING_METHOD_MAX;
    struct link_command *command = add_command(link, &(struct wire_message){ .kind = which, .list = &list });
    command->ids = xreallocarray(NULL, n, sizeof *ids);
    memcpy(command->ids, ids, n * sizeof *ids);
    command->n_ids = n;
    send_waiting(link);
}

static void give_all_ids(struct recorder_link *link, enum wire_kind which, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i += WIRE_LIST_MAX)
        give_ids(link, which, ids + i, n - i < WIRE_LIST_MAX ? n - i : WIRE_LIST_MAX);
}

void recorder_enable(struct recorder_link *link, const uint32_t *ids, size_t n)
{
    give_all_ids(link, WIRE_ENABLE, ids, n);
}

void recorder_disable(struct recorder_link *link, const uint32_t *ids, size_t n)
{
    give_all_ids(link, WIRE_DISABLE, ids, n);
}

void recorder_remove(struct recorder_link *link, const uint32_t *ids, size_t n)
{
    give_all_ids(link, WIRE_REMOVE, ids, n);
}

/* A command with a memory file: takes over the descriptor, and lines. */
static int give_file(struct recorder_link *link, const struct wire_message *message, int fd, char *lines,
                     struct err *err)
{
    struct link_command *command = fd < 0 ? NULL : add_command(link, message);
    if (command == NULL) {
        if (fd >= 0)
            close(fd);
        free(lines);
        return err_set(err, "cannot make a memory file: %s", strerror(errno));
    }
    command->fd = fd;
    command->lines = lines;
    send_waiting(link);
    return 0;
}

/* A command with lines, which are taken over, in its memory file. */
static int give_lines(struct recorder_link *link, enum wire_kind kind, struct setting_lines *lines, struct err *err)
{
    int fd = shared_file_text("mmprof-methods-wanted", lines->text, lines->n, err);
    if (fd < 0) {
        free(lines->text);
        return -1;
    }
    return give_file(link, &(struct wire_message){ .kind = kind }, fd, lines->text, err);
}

int recorder_instrument(struct recorder_link *link, const struct recorder_phase *methods, size_t n,
                        const struct recorder_phase *loops, size_t n_loops, struct err *err)
{
    struct setting_lines lines = { .text = NULL };
    setting_lines_add_methods(&lines, SETTING_LOOP, loops, n_loops);
    setting_lines_add_methods(&lines, SETTING_PHASE, methods, n);
    return give_lines(link, WIRE_INSTRUMENT, &lines, err);
}

int recorder_compile(struct recorder_link *link, const struct recorder_compile *methods, size_t n, struct err *err)
{
    struct setting_lines lines = { .text = NULL };
    for (size_t i = 0; i < n; i++)
        setting_lines_add(&lines, &(struct setting){ .kind = SETTING_COMPILE,
                                                     .number = methods[i].tier,
                                                     .class_name = methods[i].method.class_name,
                                                     .name = methods[i].method.name,
                                                     .descriptor = methods[i].method.descriptor });
    return give_lines(link, WIRE_COMPILE, &lines, err);
}

void recorder_recompilation_costs(struct recorder_link *link, const char *const *classes, size_t n,
                                  struct recompilation_costs *costs)
{
    code_map_read(link->code);
    recompilation_costs_find(link->code, classes, n, costs);
}

/* The link reads the log to the end; the command's own descriptor is closed when it is answered. */
int recorder_jit(struct recorder_link *link, struct err *err)
{
    int fd = shared_file_log("mmprof-jit", err);
    link->jit_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (link->jit_fd < 0) {
        err_set(err, "cannot make a memory file: %s", strerror(errno));
        close(fd);
        return -1;
    }
    return give_file(link, &(struct wire_message){ .kind = WIRE_JIT }, fd, NULL, err);
}

void recorder_dependents(struct recorder_link *link)
{
    add_command(link, &(struct wire_message){ .kind = WIRE_DEPENDENTS });
    send_waiting(link);
}

int link_poll(struct recorder_link *link, uint32_t period_us, uint32_t part_ppm, int fd, struct err *err)
{
    const struct wire_message message = { .kind = WIRE_POLL, .period_us = period_us, .part_ppm = part_ppm };
    return give_file(link, &message, fcntl(fd, F_DUPFD_CLOEXEC, 0), NULL, err);
}

int link_allocations(struct recorder_link *link, uint32_t part_ppm, bool is_tracking, int fd, struct err *err)
{
    const struct wire_message message = { .kind = WIRE_ALLOCATIONS, .part_ppm = part_ppm, .is_tracking = is_tracking };
    return give_file(link, &message, fcntl(fd, F_DUPFD_CLOEXEC, 0), NULL, err);
}

/* One question at a time: the next one waits for what is appended. */
void link_where(struct recorder_link *link, const uint64_t *addresses, size_t n)
{
    struct wire_list list = { .n = n < LINK_ADDRESSES ? n : LINK_ADDRESSES };
    if (n == 0)
        return;
    memcpy(list.numbers, addresses, list.n * sizeof *addresses);
    add_command(link, &(struct wire_message){ .kind = WIRE_WHERE, .list = &list });
    send_waiting(link);
}

bool link_may_ask(const struct recorder_link *link)
{
    const struct link_command *command = link->commands;
    while (command != NULL && command->command != RECORDER_WHERE)
        command = command->next;
    return link->ready && command == NULL;
}

/* ---- what the agent says ---- */

/* The ids of those of an instrument's methods that the agent has told of. */
static void find_ids(const struct recorder_link *link, struct link_command *command)
{
    size_t n_lines = 0;
    for (const char *at = command->lines; at != NULL && (at = strchr(at, '\n')) != NULL; at++)
        n_lines++;
    command->ids = xreallocarray(NULL, n_lines + 1, sizeof *command->ids);
    for (const char *at = command->lines, *end; n_lines > 0; n_lines--, at = end + 1) {
        end = strchr(at, '\n');
        const uint32_t *id = map_get(&link->told, at, (size_t)(end - at));
        if (id != NULL)
            command->ids[command->n_ids++] = *id;
    }
}

static int write_control(const struct recorder_link *link, enum trace_kind kind, uint32_t method, uint64_t ticks,
                         uint64_t count, struct err *err)
{
    const struct trace_event event = { .kind = kind, .method = method, .ticks = ticks, .count = count };
    return link->writer == NULL ? 0 : trace_write_control(link->writer, &event, 1, err);
}

/*
 * What the trace is told of a command that was done.  Where no class could be changed yet, methods are said to have
 * recorded for no time: of one of which nothing is said, the probes recorded from the start.
 */
static int write_done(const struct recorder_link *link, const struct recorder_answer *told, struct err *err)
{
    bool has_none = told->command == RECORDER_INSTRUMENT && told->n_classes == 0;
    bool enabled = told->command == RECORDER_ENABLE || told->command == RECORDER_INSTRUMENT;
    if (told->refused != NULL)
        return 0;
    for (size_t i = 0; i < told->n_ids; i++)
        if (map_get(&link->told, &told->ids[i], sizeof told->ids[i]) != NULL &&
            (write_control(link, enabled ? TRACE_ENABLED : TRACE_DISABLED, told->ids[i], told->ticks, 0, err) < 0 ||
             (has_none && write_control(link, TRACE_DISABLED, told->ids[i], told->ticks + 1, 0, err) < 0)))
            return -1;
    return 0;
}

/* What was appended to the JIT compiler's log since goes into the trace.  Returns 0, or -1 with *err set. */
static int read_jit(struct recorder_link *link, struct err *err)
{
    if (link->jit_fd < 0 || link->writer == NULL)
        return 0;
    if (link->jit == NULL)
        link->jit = xmalloc(sizeof *link->jit);
    for (uint64_t begin = link->jit_read_bytes; link->jit_read_bytes - begin < READ_LOG_ROUND_BYTES;) {
        ssize_t n = pread(link->jit_fd, link->jit->bytes, sizeof link->jit->bytes, (off_t)link->jit_read_bytes);
        struct cursor c = cursor_over(link->jit->bytes, n < 0 ? 0 : (size_t)n);
        int rc;
        while ((rc = jit_events_get(&c, &link->jit->event)) > 0)
            if (trace_write_jit(link->writer, &link->jit->event, err) < 0)
                return -1;
        if (rc < 0)
            return err_set(err, "the agent's JIT events are damaged");
        uint64_t n_used = (uint64_t)(c.at - link->jit->bytes);
        read_log_forget(link->jit_fd, link->jit_read_bytes, link->jit_read_bytes + n_used);
        link->jit_read_bytes += n_used;
        if (n < (ssize_t)sizeof link->jit->bytes)
            return 0;
    }
    return 0;
}

/* said: the answer, or WIRE_REFUSED. */
static int answer(struct recorder_link *link, struct link_command *command, const struct wire_message *said,
                  struct err *err)
{
    bool is_refused = said->kind == WIRE_REFUSED, is_dependents = command->command == RECORDER_DEPENDENTS;
    if (command->command == RECORDER_INSTRUMENT && !is_refused)
        find_ids(link, command);
    if (command->command == RECORDER_WHERE || is_dependents)
        link->code_ns += (uint64_t)(said->cpu_ms * 1e6);
    if (command->command == RECORDER_POLL && is_refused)
        snprintf(link->polling_refused, sizeof link->polling_refused, "%s", said->text);
    if (command->command == RECORDER_ALLOCATIONS && is_refused)
        snprintf(link->allocations_refused, sizeof link->allocations_refused, "%s", said->text);
    if (command->command == RECORDER_WHERE || command->command == RECORDER_POLL ||
        command->command == RECORDER_ALLOCATIONS) {
        drop(link, command);
        return 0;
    }
    const struct recorder_answer told = { .command = command->command,
                                          .refused = is_refused ? said->text : NULL,
                                          .ids = command->ids,
                                          .n_ids = command->n_ids,
                                          .ticks = said->ticks,
                                          .n_unknown = said->n_unknown,
                                          .n_classes = said->n_classes,
                                          .n_methods = command->command == RECORDER_COMPILE ? said->n : said->n_methods,
                                          .n_batches = said->n_batches,
                                          .longest_pause_ms = said->longest_pause_ms,
                                          .total_ms = said->total_ms,
                                          .cpu_ms = is_dependents ? 0 : said->cpu_ms };
    int rc = write_done(link, &told, err);
    if (rc == 0 && link->observer != NULL && link->observer->answer != NULL)
        rc = link->observer->answer(link->observer->context, &told, err);
    drop(link, command);
    return rc;
}

static int hear_pause(struct recorder_link *link, const struct wire_message *pause, struct err *err)
{
    double ms = (double)pause->pause_ns / 1e6;
    link->n_pauses++;
    link->pauses_ms += ms;
    if (ms > link->longest_pause_ms)
        link->longest_pause_ms = ms;
    return write_control(link, TRACE_PAUSE, 0, pause->ticks, pause->pause_ns, err);
}

int link_hear(struct recorder_link *link, const struct wire_message *told, struct err *err)
{
    if (told->kind == WIRE_PAUSE)
        return hear_pause(link, told, err);
    if (told->kind == WIRE_READY)
        link->ready = true;
    /* Commands of a kind are answered in their order. */
    for (struct link_command *command = link->commands; command != NULL; command = command->next) {
        enum wire_kind kind = (enum wire_kind)command->command;
        if (command->sent && (told->kind == wire_answer(kind) || (told->kind == WIRE_REFUSED && told->command == kind)))
            return answer(link, command, told, err);
    }
    return 0;
}

/* ---- rounds ---- */

static void fill_status(const struct recorder_link *link, struct recorder_status *status)
{
    status->ready = link->ready;
    status->busy = false;
    status->n_flags = 0;
    for (const struct link_command *command = link->commands; command != NULL; command = command->next) {
        status->busy = status->busy || is_slow(command->command);
        status->n_flags += !is_slow(command->command) && command->command != RECORDER_WHERE;
    }
    status->n_pauses = link->n_pauses;
    status->longest_pause_ms = link->longest_pause_ms;
    status->pauses_ms = link->pauses_ms;
}

int link_round(struct recorder_link *link, struct recorder_status *status, struct err *err)
{
    if (read_jit(link, err) < 0)
        return -1;
    fill_status(link, status);
    if (link->observer != NULL && link->observer->round != NULL &&
        link->observer->round(link->observer->context, link, status, err) < 0)
        return -1;
    send_waiting(link);
    return 0;
}

int link_file(struct recorder_link *link, struct recorder_status *status, struct err *err)
{
    if (read_jit(link, err) < 0)
        return -1;
    fill_status(link, status);
    return link->observer == NULL || link->observer->file == NULL
               ? 0
               : link->observer->file(link->observer->context, link, status, err);
}

int link_finish(struct recorder_link *link, struct recorder_status *status, struct err *err)
{
    if (read_jit(link, err) < 0)
        return -1;
    fill_status(link, status);
    return link->observer == NULL || link->observer->finish == NULL
               ? 0
               : link->observer->finish(link->observer->context, link, status, err);
}

int recorder_window_ended(struct recorder_link *link, uint64_t ticks, uint64_t ns, struct err *err)
{
    return write_control(link, TRACE_RECOVERED, 0, ticks, ns, err);
}
