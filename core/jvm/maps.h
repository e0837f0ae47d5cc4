/* The code of a process: the executable pieces of its address space (/proc/PID/maps). */
#ifndef CORE_JVM_MAPS_H
#define CORE_JVM_MAPS_H

#include "core/base/map.h"
#include "core/jvm/jvm_root.h"

#define JVM_MAPS_BUFFER 4096 /* the kernel writes so much of /proc/PID/maps at once; stdio would ask for a quarter */

struct jvm_mapping {
    uint64_t start, end;
    uint64_t offset;  /* in the file */
    uint64_t inode;   /* the file's */
    const char *path; /* as the kernel tells it; NULL: of no file; "[vdso]" */
    bool is_deleted;  /* the file has no name any more, or another file has it */
};

struct jvm_maps {
    struct arena arena; /* paths */
    struct map paths;
    const char **names; /* owned: by the numbers in paths */
    uint32_t n_names, names_room;
    struct jvm_mapping *all; /* owned; sorted, they do not overlap */
    size_t n, room;
    bool is_emulated; /* an emulator has the program's code without the right to execute it: all pieces are read */
};

void jvm_maps_init(struct jvm_maps *maps);
void jvm_maps_free(struct jvm_maps *maps);

/*
 * Read them anew.  Memory of no file that can be executed reaches as far as what is reserved behind it: a JVM makes
 * more of its code cache usable as it needs it.  Returns 0, or -1: the process is gone, or it may not be looked at;
 * then what was read before is still there.
 */
int jvm_maps_read(struct jvm_maps *maps, pid_t pid);

/* The same from the text of such a file. */
void jvm_maps_parse(struct jvm_maps *maps, const char *text);

/* The mapping with an address, or NULL. */
const struct jvm_mapping *jvm_maps_find(const struct jvm_maps *maps, uint64_t address);

/* The first mapping of a file, of whatever right, and room for its path. */
struct jvm_mapped {
    struct jvm_mapping mapping;
    char path[PATH_MAX];
};

/*
 * That of the file whose path has this part.  Returns 1, 0 when there is none, or -1 with errno set when that may not
 * be seen.
 */
int jvm_mapped_find(pid_t pid, const char *part, struct jvm_mapped *mapped);

/* The same, of mappings from an address on. */
int jvm_mapped_next(pid_t pid, const char *part, uint64_t from, struct jvm_mapped *mapped);

/*
 * Open the very file that is mapped: root gets it from the kernel; others get the file that has its path in the
 * process' root directory, if it is the same.  Returns a descriptor to read from, or -1 with errno set: ESTALE, it was
 * deleted or replaced; those of jvm_root_file.
 */
int jvm_mapping_open(const struct jvm_mapping *mapping, const struct jvm_root *root, pid_t pid);

#endif
