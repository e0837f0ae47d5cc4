/* Which virtual machine a process is, by the files that it has mapped. */
#ifndef CORE_JVM_KIND_H
#define CORE_JVM_KIND_H

#include "core/base/std.h"
#include "core/base/err.h"

struct jvm_kind {
    bool has_libjvm; /* HotSpot, or OpenJ9, whose own library that one loads */
    bool is_openj9;
    bool is_native_image; /* of GraalVM: compiled in advance, with no JVM in it */
    bool is_musl;         /* its libc is musl */
};

/* From the text of a /proc/PID/maps, to its end. */
void jvm_kind_read(FILE *maps, struct jvm_kind *kind);

/* Of a process; also whether its program is a native image.  Returns 0, or -1 with errno set: it may not be seen. */
int jvm_kind_find(pid_t pid, struct jvm_kind *kind);

/* Is a program (/proc/PID/exe, which no process can lead elsewhere) a native image?  By the section that has its heap.
 */
bool jvm_kind_is_image(const char *path);

/* Why it is no JVM that mmprof can measure, with what to do; -1 with *err set, or 0: it is one, as far as files tell.
 */
int jvm_kind_check(const struct jvm_kind *kind, pid_t pid, const char *command, struct err *err);

#endif
