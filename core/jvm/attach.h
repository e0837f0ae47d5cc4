/*
 * The HotSpot attach protocol: load an agent library into a running JVM.
 *
 * In order: create /tmp/.attach_pidN, send SIGQUIT, wait for the socket /tmp/.java_pidN, connect, send the words
 * "1" "load" PATH "true" OPTIONS, each with a closing NUL, read the answer (a status line, then text).  The first
 * steps are left out when the socket is there already.
 */
#ifndef CORE_JVM_ATTACH_H
#define CORE_JVM_ATTACH_H

#include "core/jvm/guest.h"

/*
 * Load a library.
 *
 * guest    the JVM's /tmp.
 * path     of the library, as the target sees it (absolute).
 * options  given to its Agent_OnAttach.
 * *result  what Agent_OnAttach returned.
 *
 * Returns 0 when the library was called, or -1 with *err set: the JVM does not answer (stopped, hanging, started with
 * -Xrs), it refuses dynamic agents, or it cannot load the library.
 */
int jvm_attach_load(const struct jvm_process *process, struct guest *guest, const char *path, const char *options,
                    int *result, struct err *err);

#define JVM_ANSWER_BYTES 16384

/*
 * Run a diagnostic command, as jcmd does.  answer: a status in its first line, then text, cut where it is too long.
 * Returns 0, or -1 with *err set: the JVM does not answer.
 */
int jvm_attach_jcmd(const struct jvm_process *process, struct guest *guest, const char *command,
                    char answer[JVM_ANSWER_BYTES], struct err *err);

/*
 * What the JVM's answer to 'load' says: *result is what the library's Agent_OnAttach returned.  Returns 0, or -1 with
 * *err set: it was not loaded.
 */
int jvm_attach_parse(const char *answer, const char *path, int *result, struct err *err);

#endif
