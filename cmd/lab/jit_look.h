/*
 * Looking at the compiled code of a JVM, from outside and again and again: of one that runs, or that a command starts.
 */
#ifndef CMD_LAB_JIT_LOOK_H
#define CMD_LAB_JIT_LOOK_H

#include "core/hotspot/jit_code.h"
#include "core/recorder/launch.h"

/*
 * What is done with the code: open, when the JVM is there and codes are empty (0, or -1 with *err set); looked, after
 * each look that saw all.
 */
struct jit_look_user {
    jit_wanted_fn *wants;
    void *wants_context;
    int (*open)(void *context, const struct jit_codes *codes, struct err *err); /* or NULL */
    void (*looked)(void *context, const struct jit_codes *codes);
    void *context;
    bool all_tiers; /* jit_codes.has_all_tiers */
};

struct jit_look {
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

#endif
