/* What the recorder wants of a session: which classes and methods get probes, which events are counted. */
#ifndef CORE_WIRE_CONFIG_H
#define CORE_WIRE_CONFIG_H

#include "core/base/err.h"
#include "core/base/pattern.h"
#include "core/wire/protocol.h"
#include "core/wire/ring.h"
#include "core/wire/setting.h"

#include <pthread.h>

/* What the names of the agent's own classes begin with. */
#define CONFIG_OWN_BOOT   "java/lang/Mmprof"
#define CONFIG_OWN_LOADER "mmprof/"
#define CONFIG_MARKS      "mmprof/Marks" /* core/agent/Marks.java */

struct agent_phase {
    const char *class_name, *name, *descriptor; /* owned by the configuration */
};

/* The argument by which calls of some methods are told apart. */
struct agent_argument {
    struct pattern methods;
    uint32_t number;      /* from 1 on; 0: 'this' */
    const char *accessor; /* the method that is called on it; NULL: none; owned by the configuration */
};

/* A method that the JIT compilers are to compile. */
struct agent_compile {
    struct agent_phase method;
    uint32_t tier;
};

/* Where it is told which patterns of --include match, and which names came near: a command's JVM may end at any time.
 */
struct config_told {
    pthread_mutex_t lock;
    struct segment *segment; /* borrowed */
};

/* What core/wire/setting.h has, all together. */
struct agent_config {
    char *text; /* owned */
    uint32_t min_bytecodes;
    struct pattern *includes, *excludes; /* owned */
    size_t n_includes, includes_room, n_excludes, excludes_room;
    bool is_live, begins_later, wants_perf_map, wants_code_map, asks_for_code, reads_by_call;
    struct agent_phase *phases; /* owned, sorted by class name */
    size_t n_phases, phases_room;
    struct agent_phase *loops; /* owned */
    size_t n_loops, loops_room;
    struct agent_compile *compiles; /* owned */
    size_t n_compiles, compiles_room;
    struct agent_argument *arguments; /* owned; methods that match get probes, too */
    size_t n_arguments, arguments_room;
    struct setting_event *events; /* owned; group by group, the groups numbered from 0 on */
    size_t n_events, events_room;
    struct config_told *told; /* borrowed; NULL, as config_read leaves it: nowhere */
};

/* Read the configuration from a descriptor.  Returns 0, or -1 with *err set; to be freed in both cases. */
int config_read(struct agent_config *config, int fd, struct err *err);
void config_free(struct agent_config *config);

/* May a class (name in internal form) be changed at all?  May it have methods to instrument?  Is a method one? */
bool config_may_change_class(const char *name, size_t n);
bool config_wants_class(const struct agent_config *config, const char *name, size_t n);
bool config_wants_method(const struct agent_config *config, const struct protocol_method *method);

/* May a class have methods whose calls are told apart?  The argument by which those of a method are, or NULL. */
bool config_may_tell_apart(const struct agent_config *config, const char *name, size_t n);
const struct agent_argument *config_argument(const struct agent_config *config, const struct protocol_method *method);

/* Does it want a method, and its class? */
bool config_wants_named(const struct agent_config *config, const char *class_name, const char *name,
                        const char *descriptor, uint32_t code_bytes, bool has_loop);

/* Do phases or patterns name the classes that it wants at the start? */
bool config_names_classes(const struct agent_config *config);

#endif
