/*
 * What mmprof puts into a directory of the JVM's machine, such as its /tmp, for as long as it attaches: a private
 * directory of random name with the agent's socket, or a copy of the agent's library, and HotSpot's trigger file.
 *
 * The JVM may be in a container, and its owner may be hostile to a mmprof that root runs: nothing is found by a path
 * that somebody there could redirect, and all is made and addressed as the JVM's user.  A child process waits for the
 * end of this one and removes what is left then, also when that was killed.
 */
#ifndef CORE_JVM_GUEST_H
#define CORE_JVM_GUEST_H

#include "core/jvm/process.h"

#define GUEST_SOCKET  "agent" /* what may be in the private directory */
#define GUEST_LIBRARY "libmmprof-agent.so"

#define GUEST_NAME_BYTES 48
#define GUEST_PATH_BYTES 108 /* a socket's address */

struct guest {
    int base;                         /* the directory, such as the JVM's /tmp; or -1 */
    char path[GUEST_NAME_BYTES];      /* as the JVM sees it */
    char directory[GUEST_NAME_BYTES]; /* the private one in it: its name; "" when there is none */
    int directory_fd;                 /* or -1 */
    pid_t pid;                        /* of the JVM; 0: none */
    bool has_trigger;                 /* the JVM has not seen it yet */
    struct jvm_user user;             /* the JVM's: root makes things as that user, and the kernel checks it */
    int guard_fd;                     /* of the pipe to the child; or -1: there is none */
    pid_t guard_pid;
};

#define GUEST_NONE                                                     \
    {                                                                  \
        .base = -1, .directory_fd = -1, .guard_fd = -1, .path = "/tmp" \
    }

/*
 * Open a directory (absolute, as the JVM sees it) of a JVM, or our own when process is NULL.
 *
 * Returns 0, or -1 with *err set: it is not there, is a symbolic link in a container, may not be entered.  guest_close
 * is to be called in both cases.
 */
int guest_open(struct guest *guest, const struct jvm_process *process, const char *path, struct err *err);

/* Make the private directory, mode 0700.  Returns 0, or -1 with *err set. */
int guest_make_directory(struct guest *guest, struct err *err);

/* Bind a socket to GUEST_SOCKET in it.  Returns 0, or -1 with *err set. */
int guest_bind(const struct guest *guest, int socket, struct err *err);

/* Where a file in the private directory is for the JVM: one of the two above. */
void guest_their_path(const struct guest *guest, const char *name, char path[GUEST_PATH_BYTES]);

/*
 * Put a copy of a library into the private directory.  Returns 0, or -1 with *err set: no room, or programs may not be
 * run from there.
 */
int guest_copy_library(const struct guest *guest, const char *library, struct err *err);

/*
 * Create HotSpot's trigger file (in the directory itself), such that the JVM takes a SIGQUIT for an attach, and not for
 * a wish to see a thread dump: a file that it would not accept, there or in its working directory, is removed first.
 * Should this process end before guest_remove_trigger, the child removes it as soon as the JVM has made its socket.
 * Returns 0, or -1 with *err set: somebody else's is in the way.
 */
int guest_make_trigger(struct guest *guest, const char *trigger, const char *socket, struct err *err);

/* The JVM has seen it. */
void guest_remove_trigger(struct guest *guest, const char *trigger);

/* Remove the private directory and what is in it.  Nothing needs the child any more. */
void guest_remove(struct guest *guest);
void guest_close(struct guest *guest);

#endif
