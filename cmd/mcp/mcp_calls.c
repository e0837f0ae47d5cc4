/*
 * What tools promise: each is a command of mmprof, with fixed words besides numbers, a view's name and paths that the
 * server knows.
 */
#include "cmd/mcp/mcp.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"

#include <dirent.h>
#include <sys/stat.h>

#define REPORT_SECONDS 60     /* that any command may take */
#define RECORD_SECONDS 60     /* beyond those that a recording was asked for: to attach, and to detach */
#define RECORD_SIZE    "256M" /* of a trace */
#define ROWS           30
#define SECONDS        20
#define WORDS_MAX      16
#define ERROR_BYTES    4096
#define PROGRESS_S     1

static const char *text_argument(const cJSON *arguments, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(arguments, key);
    return item == NULL ? NULL : item->valuestring;
}

static int number_argument(const cJSON *arguments, const char *key, int otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(arguments, key);
    return item == NULL ? otherwise : item->valueint;
}

static const char *find_trace(const struct mcp_server *server, const char *handle, struct err *err)
{
    for (size_t i = 0; i < server->n_traces; i++)
        if (strcmp(server->traces[i].handle, handle) == 0)
            return server->traces[i].path;
    err_set(err, "there is no trace '%s'; 'profile' names those that it records", handle);
    return NULL;
}

static struct mcp_call *free_call(struct mcp_server *server, struct err *err)
{
    for (size_t i = 0; i < MCP_CALLS_MAX; i++)
        if (!server->calls[i].is_used)
            return &server->calls[i];
    err_set(err, "%d calls run already: wait for one of them", MCP_CALLS_MAX);
    return NULL;
}

static int start(const struct mcp_server *server, struct mcp_call *call, const char *const *words, int seconds,
                 struct err *err)
{
    char *argv[WORDS_MAX + 1] = { NULL };
    for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++)
        argv[i] = (char *)(uintptr_t)words[i];
    call->is_used = mcp_run_start(&call->run, server->program, argv, seconds, err) == 0;
    return call->is_used ? 0 : -1;
}

/* ---- recordings ---- */

static int make_directory(struct mcp_server *server, struct err *err)
{
    const char *temporary = secure_getenv("TMPDIR");
    if (server->directory[0] != '\0')
        return 0;
    int n = snprintf(server->directory, sizeof server->directory, "%s/mmprof-mcp-XXXXXX",
                     temporary == NULL || temporary[0] != '/' ? "/tmp" : temporary);
    if (n > 0 && (size_t)n < sizeof server->directory && mkdtemp(server->directory) != NULL)
        return 0;
    server->directory[0] = '\0';
    return err_set(err, "cannot make a directory for traces: %s", strerror(errno));
}

static int begin_recording(struct mcp_server *server, struct mcp_call *call, const cJSON *arguments, struct err *err)
{
    char pid[16], duration[16];
    int seconds = number_argument(arguments, "seconds", SECONDS);
    for (size_t i = 0; i < MCP_CALLS_MAX; i++)
        if (server->calls[i].is_used && server->calls[i].is_recording)
            return err_set(err, "a recording runs already: wait for its result");
    if (server->n_recorded == MCP_TRACES_MAX)
        return err_set(err, "%d traces were recorded, and no more are kept: start the server again", MCP_TRACES_MAX);
    if (make_directory(server, err) < 0)
        return -1;
    snprintf(pid, sizeof pid, "%d", number_argument(arguments, "pid", 0));
    snprintf(duration, sizeof duration, "%d", seconds);
    snprintf(call->trace.handle, sizeof call->trace.handle, "r%zu", server->n_recorded + 1);
    call->trace.path = xasprintf("%s/%s.dat", server->directory, call->trace.handle);
    call->is_recording = true;
    call->most_s = seconds;
    const char *words[] = { "mmprof",    "record", "--live",         "-q", "-d", duration, "--max-size",
                            RECORD_SIZE, "-o",     call->trace.path, "-p", pid,  NULL };
    return start(server, call, words, seconds + RECORD_SECONDS, err);
}

/* What was recorded is a trace now, and the call goes on with its report. */
static int end_recording(struct mcp_server *server, struct mcp_call *call, struct err *err)
{
    server->n_recorded++;
    server->traces[server->n_traces++] = call->trace;
    mcp_run_free(&call->run);
    call->is_recording = false;
    call->has_trace = true;
    return start(server, call,
                 (const char *const[]){ "mmprof", "report", "--no-pager", "--for-agents", call->trace.path, NULL },
                 REPORT_SECONDS, err);
}

/* ---- the others ---- */

static int begin_report(struct mcp_server *server, struct mcp_call *call, const cJSON *arguments, struct err *err)
{
    char rows[16];
    const char *path = find_trace(server, text_argument(arguments, "trace"), err);
    const char *view = text_argument(arguments, "view");
    if (path == NULL)
        return -1;
    snprintf(rows, sizeof rows, "%d", number_argument(arguments, "rows", ROWS));
    const char *agents[] = { "mmprof", "report", "--no-pager", "--for-agents", path, NULL };
    const char *table[] = { "mmprof", "report", "--no-pager", "--top", rows, "--view", view, path, NULL };
    return start(server, call, view == NULL ? agents : table, REPORT_SECONDS, err);
}

static int begin_diff(struct mcp_server *server, struct mcp_call *call, const cJSON *arguments, struct err *err)
{
    const char *before = find_trace(server, text_argument(arguments, "before"), err);
    const char *after = before == NULL ? NULL : find_trace(server, text_argument(arguments, "after"), err);
    const char *words[] = { "mmprof", "diff", "--no-pager", "--before", before, "--after", after, NULL };
    return after == NULL ? -1 : start(server, call, words, REPORT_SECONDS, err);
}

static int begin_ps(struct mcp_server *server, struct mcp_call *call, const cJSON *arguments, struct err *err)
{
    (void)arguments;
    return start(server, call, (const char *const[]){ "mmprof", "ps", NULL }, REPORT_SECONDS, err);
}

static const struct {
    const char *tool;
    int (*begin)(struct mcp_server *server, struct mcp_call *call, const cJSON *arguments, struct err *err);
} begins[] = { { "ps", begin_ps }, { "profile", begin_recording }, { "report", begin_report }, { "diff", begin_diff } };

void mcp_call_free(struct mcp_call *call)
{
    cJSON_Delete(call->id);
    cJSON_Delete(call->token);
    mcp_run_free(&call->run);
    if (!call->has_trace) {
        if (call->trace.path != NULL)
            unlink(call->trace.path);
        free(call->trace.path);
    }
    *call = (struct mcp_call){ .id = NULL, .run = { .out = { .fd = -1 }, .errors = { .fd = -1 } } };
}

int mcp_call_begin(struct mcp_server *server, const cJSON *id, const cJSON *token, const char *tool,
                   const cJSON *arguments, struct err *err)
{
    struct mcp_call *call = free_call(server, err);
    if (call == NULL)
        return -1;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strcmp(begins[i].tool, tool) == 0 && begins[i].begin(server, call, arguments, err) == 0) {
            call->id = cJSON_Duplicate(id, true);
            call->token = token == NULL ? NULL : cJSON_Duplicate(token, true);
            call->began_ms = mcp_now_ms();
            return 0;
        }
    mcp_call_free(call);
    return -1;
}

bool mcp_call_progress(struct mcp_call *call, double *seconds)
{
    *seconds = (double)(mcp_now_ms() - call->began_ms) / 1000;
    if (!call->is_used || call->id == NULL || call->token == NULL || *seconds < call->told_s + PROGRESS_S)
        return false;
    call->told_s = *seconds;
    return true;
}

/* ---- results ---- */

/* Bytes of a text as cJSON writes it. */
static size_t bytes_of(const char *at, const char *line_end)
{
    size_t n = 0;
    for (; at < line_end; at++)
        n += strchr("\"\\\b\f\n\r\t", *at) != NULL ? 2 : (unsigned char)*at < ' ' ? 6 : 1;
    return n;
}

/* Whole lines of a text, as many as there is room for, and how many there were more; for free(). */
static char *lines_of(const struct mcp_text *from, size_t room)
{
    struct arena arena = { NULL, 0 };
    char *result = NULL;
    size_t n = 0, n_more = from->n_more_lines, used = 0;
    FILE *out = xopen_memstream(&result, &n);
    for (const char *at = text_utf8(&arena, from->text, from->n); *at != '\0';) {
        const char *line_end = at + strcspn(at, "\n");
        line_end += *line_end == '\n';
        used += bytes_of(at, line_end);
        n_more += used > room;
        if (used <= room)
            fwrite(at, 1, (size_t)(line_end - at), out);
        at = line_end;
    }
    if (n_more > 0)
        fprintf(out, "(%zu more line%s)\n", n_more, text_plural(n_more));
    xclose_memstream(out);
    arena_free(&arena);
    return result;
}

static char *why_failed(const struct mcp_run *run)
{
    if (run->is_late)
        return xstrdup("it took too long and was stopped");
    return run->errors.n > 0 ? lines_of(&run->errors, ERROR_BYTES) : xasprintf("it ended with status %d", run->status);
}

char *mcp_call_end(struct mcp_server *server, struct mcp_call *call, bool *is_error)
{
    struct err err = { "" };
    char *text = NULL;
    *is_error = call->run.is_late || call->run.status != 0;
    if (call->id != NULL && *is_error)
        text = why_failed(&call->run);
    else if (call->id != NULL && call->is_recording) {
        if (end_recording(server, call, &err) == 0)
            return NULL;
        *is_error = true;
        text = xstrdup(err.text);
    } else if (call->id != NULL)
        text = lines_of(&call->run.out, MCP_TEXT_BYTES + 2); /* and the feed behind it */
    return text;
}

void mcp_calls_cancel(struct mcp_server *server, const cJSON *id)
{
    for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
        struct mcp_call *call = &server->calls[i];
        if (!call->is_used || (id != NULL && !cJSON_Compare(call->id, id, true)))
            continue;
        cJSON_Delete(call->id);
        call->id = NULL;
        mcp_run_stop(&call->run);
    }
}

void mcp_calls_clean(struct mcp_server *server)
{
    DIR *files = server->directory[0] == '\0' ? NULL : opendir(server->directory);
    for (const struct dirent *file; files != NULL && (file = readdir(files)) != NULL;)
        unlinkat(dirfd(files), file->d_name, 0); /* no directory */
    if (files != NULL)
        closedir(files);
    if (server->directory[0] != '\0')
        rmdir(server->directory);
    for (size_t i = 0; i < server->n_traces; i++)
        free(server->traces[i].path);
}
