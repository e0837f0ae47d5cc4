/*
 * The parts of 'mmprof mcp', a server of the Model Context Protocol: JSON-RPC 2.0, a message a line, on the standard
 * input and output.
 *
 * mcp_message.c reads messages, mcp_tools.c checks arguments, mcp_run.c runs mmprof, mcp_calls.c does what tools
 * promise, mcp_main.c answers.
 */
#ifndef CMD_MCP_MCP_H
#define CMD_MCP_MCP_H

#include "core/base/arena.h"
#include "core/base/err.h"

#include <cjson/cJSON.h>
#include <sys/types.h>

#define MCP_LINE_BYTES 65536 /* of a message */
#define MCP_TEXT_BYTES 15360 /* of an answer's text within its JSON: 16 KB with what is around it */
#define MCP_ID_BYTES   128   /* of a request's ID */

/* ---- messages ---- */

#define MCP_PARSE_ERROR      (-32700)
#define MCP_INVALID_REQUEST  (-32600)
#define MCP_METHOD_NOT_FOUND (-32601)
#define MCP_INVALID_PARAMS   (-32602)

struct mcp_message {
    cJSON *json;         /* owned */
    const cJSON *id;     /* NULL: none, or none that can be answered */
    const cJSON *params; /* an object; NULL: none */
    const char *method;  /* NULL: an answer, which nobody waits for */
};

/* Is it one that an answer can have, and a token of progress?  An integer, or a short string. */
bool mcp_is_id(const cJSON *id);

/* Returns 0, or one of the errors above with *why; mcp_message_free in any case. */
int mcp_message_read(struct mcp_message *message, const char *line, size_t n, const char **why);
void mcp_message_free(struct mcp_message *message);

/* ---- tools ---- */

/* All of them, as mcp_tools.json has them; the caller's. */
cJSON *mcp_tools(void);

/* A member "name" of one of them; or NULL. */
const cJSON *mcp_tools_find(const cJSON *tools, const char *name);

/* Are these arguments (NULL: none) what the tool's schema allows?  Returns 0, or -1 with *err set. */
int mcp_tools_check(const cJSON *tool, const cJSON *arguments, struct err *err);

/* ---- a program that runs for a tool ---- */

struct mcp_text {
    int fd; /* -1: its end was seen */
    char *text;
    size_t n, n_more_lines; /* beyond what is kept */
};

struct mcp_run {
    pid_t pid; /* 0: none */
    struct mcp_text out, errors;
    int64_t stop_ms;          /* when it is told to end, or killed */
    bool is_late, is_stopped; /* its time was over; it was told to end */
    int status;
};

int64_t mcp_now_ms(void);

/* Start a program with no input.  Returns 0, or -1 with *err set. */
int mcp_run_start(struct mcp_run *run, const char *path, char *const *argv, int seconds, struct err *err);

/* Read what is there of one of its outputs. */
void mcp_run_read(struct mcp_text *text);

/* End it, or kill it if it does not end soon, where its time is over.  Returns whether it has ended. */
bool mcp_run_look(struct mcp_run *run);

/* Tell it to end. */
void mcp_run_stop(struct mcp_run *run);

void mcp_run_free(struct mcp_run *run);

/* ---- calls of tools ---- */

#define MCP_CALLS_MAX  4  /* at a time */
#define MCP_TRACES_MAX 16 /* that the command line names; and that are recorded */

struct mcp_trace {
    char handle[16], *path; /* owned */
};

struct mcp_call {
    cJSON *id;    /* owned; NULL: nobody waits for its result */
    cJSON *token; /* owned; who wants to know how far it is; NULL: nobody */
    int64_t began_ms;
    double told_s, most_s; /* of the time that it has taken: told last; asked for, of a recording */
    struct mcp_run run;
    bool is_used, is_recording;
    struct mcp_trace trace; /* that it records */
    bool has_trace;         /* which the answer tells */
};

struct mcp_server {
    const char *program; /* mmprof's path */
    cJSON *tools;
    struct mcp_trace traces[2 * MCP_TRACES_MAX];
    size_t n_traces, n_recorded;
    char directory[PATH_MAX]; /* of what is recorded; "": none yet */
    struct mcp_call calls[MCP_CALLS_MAX];
};

/*
 * Begin a call of a tool whose arguments were checked.  token: a string or number with which its progress is told
 * (NULL: it is not).  Returns 0, or -1 with *err set.
 */
int mcp_call_begin(struct mcp_server *server, const cJSON *id, const cJSON *token, const char *tool,
                   const cJSON *arguments, struct err *err);

/* Is it time to tell the progress of a call?  Then *seconds it has taken; it goes up from one time to the next. */
bool mcp_call_progress(struct mcp_call *call, double *seconds);

/*
 * A call whose program has ended.  Returns its text, for free(), and whether that is an error; or NULL: nobody waits
 * for it, or it goes on with another program.
 */
char *mcp_call_end(struct mcp_server *server, struct mcp_call *call, bool *is_error);
void mcp_call_free(struct mcp_call *call);

/* Stop what records or reports for that request: nobody waits for it any longer.  NULL: for all. */
void mcp_calls_cancel(struct mcp_server *server, const cJSON *id);

/* Remove what was recorded. */
void mcp_calls_clean(struct mcp_server *server);

#endif
