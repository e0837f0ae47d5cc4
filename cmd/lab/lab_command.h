/* What the laboratory's commands share. */
#ifndef CMD_LAB_LAB_COMMAND_H
#define CMD_LAB_LAB_COMMAND_H

#include "cmd/tables_page.h"
#include "cmd/trace_argument.h"
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/emu/memtrace/memtrace.h"
#include "core/hotspot/jit_code.h"
#include "core/recorder/launch.h"
#include "report/jit/call_counts.h"

/* A file in memory, without a name, into which a program that is started writes its result: it opens it by its path. */
struct memory_file {
    int fd;           /* owned; -1: none */
    const char *path; /* in /proc; the arena's */
};

/* Returns 0, or -1 with *err set; memory_file_close may be called then, too. */
int memory_file_open(struct memory_file *file, const char *name, struct arena *arena, struct err *err);

/*
 * What is in it, *n bytes and a zero, in the arena.  NULL with *err set: nothing, or n_most bytes or more: the command
 * ended, and 'lack'; the next step is the caller's.
 */
char *memory_file_read(const struct memory_file *file, size_t n_most, struct arena *arena, size_t *n,
                       const char *command, const char *lack, struct err *err);

void memory_file_close(struct memory_file *file);

/* How a command prints its table; and the rows of these options. */
struct lab_output {
    struct display display;
    const char *html;
    bool csv, json;
};

#define LAB_OUTPUT_ROWS(o)                                                                     \
    { 0, "html", "FILE", OPTION_TEXT, &(o)->html, "write the table as a page for a browser" }, \
        { 0, "csv", NULL, OPTION_FLAG, &(o)->csv, "print the table as CSV" },                  \
        { 0, "json", NULL, OPTION_FLAG, &(o)->json, "print the table as JSON" }, DISPLAY_ROW(&(o)->display)

/* As text, CSV, JSON, or a page of the part with the table, whose title and subject these are.  Returns 0, or -1. */
int lab_print(struct lab_output *output, const struct table *table, const char *title, const char *of,
              const struct html_part *part, struct err *err);

/* argv[i] is to begin a command, behind "--".  Returns 0, or -1 with *err set. */
int lab_need_command(const char *name, int argc, char **argv, int i, struct err *err);

/*
 * Looking at the compiled code of a JVM, from outside and again and again: of one that runs, or that a command starts.
 */

/*
 * What is done with the code: open, when the JVM is there and codes are empty; looked, after
 * each look that saw all.
 */
struct jit_look_user {
    jit_wanted_fn *wants;
    void *wants_context;
    void (*open)(void *context, const struct jit_codes *codes); /* or NULL */
    void (*looked)(void *context, const struct jit_codes *codes);
    void *context;
    bool all_tiers; /* jit_codes.has_all_tiers */
};

struct jit_look {
    struct vm *vm;                    /* owned */
    const struct jit_look_user *user; /* borrowed */
    double seconds;                   /* 0: of a JVM once, of a command until it ends */
    struct jit_codes codes;
    struct launch launch;
    pid_t command; /* that was started; 0: none, or it has ended */
    int status;    /* of it, when it has ended, as a shell tells it */
    bool has_jvm, has_ended;
};

void jit_look_init(struct jit_look *look, const struct jit_look_user *user, double seconds);

/* Returns 0, or -1 with *err set: its code cannot be read. */
int jit_look_into_jvm(struct jit_look *look, pid_t pid, struct err *err);

/* The same, or: it cannot be run, or starts no JVM.  It may go on, until jit_look_end_command. */
int jit_look_into_command(struct jit_look *look, char *const *argv, struct err *err);

/* Wait for a command that was started, and say so if it goes on. */
void jit_look_end_command(struct jit_look *look);

/* Free what is known of the code. */
void jit_look_close(struct jit_look *look);

/*
 * What compiled code makes of the calls that were counted: a run of the command as it is, or with probes, at whose code
 * mmprof looks from outside.
 */

/*
 * Run a command to its end, with what it prints on the standard error, and judge the calls by its code.
 *
 * run     CALLS_WITH_PROBES: with a probe in each method, by 'mmprof record'; its records are thrown away.
 * status  the command's, as a shell tells it.
 *
 * Returns 0, or -1 with *err set: it cannot be run, its code cannot be read, or it had none.
 */
int jit_calls_run(struct call_counts *counts, enum call_run run, char *const *argv, int *status, struct err *err);

/* ---- An address trace as text: all of it, or its sums ---- */

/* One line for each entry and access.  Returns 0, or -1 with *err set; what stands before the damage is printed. */
int memtrace_print(FILE *out, struct memtrace_reader *reader, struct err *err);

/* path: the file's.  As above. */
int memtrace_summarize(FILE *out, struct memtrace_reader *reader, const char *path, struct err *err);

/* ---- The page of 'mmprof memtrace --html': the tables of an address trace ---- */

/*
 * Write the page of a trace to a file that is named by --html: objects that could be replaced and points for
 * collections, where it has last uses; live bytes; lifetimes.  top: rows of each table; 0: all.
 *
 * Returns 0, or -1 with *err set: the trace is damaged, the page cannot be written.
 */
int memtrace_page_write(const char *path, const char *html, uint64_t top, struct err *err);

#endif
