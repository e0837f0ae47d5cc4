/* What the recorder wants of a session: which classes and methods, which counters. */
#ifndef CORE_AGENT_CONFIG_H
#define CORE_AGENT_CONFIG_H

#include "core/agent/rewrite/rewrite.h"
#include "core/base/err.h"
#include "core/base/pattern.h"
#include "core/pmu/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent_phase {
    const char *class_name, *name, *descriptor; /* owned by the configuration */
};

/* The argument by which calls of some methods are told apart. */
struct agent_argument {
    struct pattern methods;
    uint32_t number;      /* from 1 on; 0: 'this' */
    const char *accessor; /* the method that is called on it; NULL: none; owned by the configuration */
};

/* What a session counts; plain data. */
struct counting_plan {
    struct counter_layout layout; /* n_groups 0: nothing */
    bool by_call;                 /* read by system call, for which all descriptors stay open */
};

/* A method that the JIT compilers are to compile. */
struct agent_compile {
    struct agent_phase method;
    uint32_t tier;
};

/* What core/wire/setting.h has, all together. */
struct agent_config {
    char *text; /* owned */
    uint32_t min_bytecodes;
    struct pattern *includes, *excludes; /* owned */
    size_t n_includes, includes_room, n_excludes, excludes_room;
    bool is_live, begins_later, wants_perf_map, wants_code_map, asks_for_code;
    struct agent_phase *phases; /* owned, sorted by class name */
    size_t n_phases, phases_room;
    struct agent_phase *loops; /* owned */
    size_t n_loops, loops_room;
    struct agent_compile *compiles; /* owned */
    size_t n_compiles, compiles_room;
    struct agent_argument *arguments; /* owned; methods that match get probes, too */
    size_t n_arguments, arguments_room;
    struct counting_plan counting;
};

/* Read the configuration from a descriptor.  Returns 0, or -1 with *err set. */
int config_read(struct agent_config *config, int fd, struct err *err);
void config_free(struct agent_config *config);

/* May a class be changed at all (name in internal form)?  May it have methods to instrument? */
bool config_may_change_class(const char *name, size_t n);
bool config_wants_class(const struct agent_config *config, const char *name, size_t n);
bool config_wants_method(const struct agent_config *config, const struct rewrite_method *method);

/* May a class have methods whose calls are told apart?  The argument by which those of a method are, or NULL. */
bool config_may_tell_apart(const struct agent_config *config, const char *name, size_t n);
const struct agent_argument *config_argument(const struct agent_config *config, const struct rewrite_method *method);

/* Both, for the recorder, which chooses among methods that it sampled: code_bytes of bytecode. */
bool config_wants_named(const struct agent_config *config, const char *class_name, const char *name,
                        const char *descriptor, uint32_t code_bytes, bool has_loop);

/* Are the classes that it wants at the start named, by phases or patterns? */
bool config_names_classes(const struct agent_config *config);

#endif
