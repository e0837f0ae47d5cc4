/* The actions of 'mmprof fleet', and what they have in common. */
#ifndef CMD_FLEET_FLEET_COMMAND_H
#define CMD_FLEET_FLEET_COMMAND_H

#include "cmd/parts.h"
#include "cmd/trace_argument.h"
#include "report/fleet/fleet_files.h"

#define FLEET_WORDS_MAX     4096
#define FLEET_STATUS_BROKEN 2 /* as of 'mmprof diff' */
#define FLEET_NS_PER_SECOND 1e9

struct fleet_arguments {
    struct display display;
    const char *words[FLEET_WORDS_MAX]; /* what to do, and with what; with a server the directory is "" */
    size_t n;
    const char *service, *library, *before, *after, *measure, *server, *password_file, *html;
    double weight, grain_s, timeout_s, fail_on, keep_s; /* fail_on, keep_s: negative: not given */
    bool csv, json, strict, all;
};

struct fleet_command_run {
    const struct fleet_arguments *arguments;
    struct arena arena;
    struct fleet_engine *engine;
    struct fleet_count count;
    struct table *table;
    bool checks_values; /* of each file, before it is used */
};

/* The actions return the exit status, or -1 with *err set. */
int fleet_command_select(struct fleet_command_run *run, struct err *err);
int fleet_command_compare(struct fleet_command_run *run, struct err *err);
int fleet_command_outliers(struct fleet_command_run *run, struct err *err);
int fleet_command_sql(struct fleet_command_run *run, struct err *err);

#endif
