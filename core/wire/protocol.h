/*
 * How the recorder and the agent inside the target talk.
 *
 * The recorder listens on a socket in a private directory (mode 0700, random name) and gives its path to the agent
 * as the only option (core/wire/setting.h).  The agent connects and both exchange messages (core/wire/message.h:
 * SOCK_SEQPACKET):
 *
 *     agent:     hello                      with the JVM's name and version; all versions of mmprof understand it
 *     recorder:  session                    with four descriptors: segment, method log, configuration,
 *                                           code log
 *     agent:     ready                      everything is instrumented, or
 *                failed                     nothing is
 *     agent:     counters                   at any time between 'session' and 'stopped', with descriptors: a thread
 *                                           opened its counters, these are its groups' leaders
 *     recorder:  begin                      with SETTING_BEGIN_LATER: from now on probes record
 *     recorder:  stop
 *     agent:     stopped                    nothing is instrumented any more
 *
 * Between "ready" and "stop" the recorder may give commands; each has one answer, or is refused:
 *
 *     enable, disable                       enabled, disabled
 *     instrument   (with a descriptor)      instrumented
 *     remove                                removed
 *     poll         (with a descriptor)      polling
 *     allocations  (with a descriptor)      allocations_begun
 *     dependents                            dependents_told
 *     jit          (with a descriptor)      logging
 *     where                                 told
 *     compile      (with a descriptor)      compiling
 *
 * enable and disable switch methods' flags, at once, also while another command is under way.  ticks is a moment at
 * which the flags were enabled already, or were enabled still.  'instrument', 'remove', 'dependents' and 'compile' take
 * their time and are done one by one: a second one is refused.  'instrument' has a configuration whose 'phase' lines
 * name methods that get (enabled) probes too; 'remove' takes the probes of methods out again; both change only classes
 * in which such methods are.  'jit', before 'instrument', has the agent append what the JIT compiler does with methods
 * that get probes, before and after, to its descriptor's file (core/wire/jit_events.h) until the session's end.  'poll'
 * has it sample the stacks of Java threads until then, about one round every period_us, at the cost of part_ppm
 * millionths of the process' CPU time, and append them to its descriptor's file (core/wire/poll_log.h).  'allocations'
 * has it do so with objects that the JVM samples when they are allocated, at most about a hundred a second and at that
 * cost, to another file of that kind, and with live=1 when each of these objects has gone.
 * 'where', with
 * SETTING_CODE_ASKED, has it append what code is at these addresses to the code log before it answers, unless it has
 * done so; if code that it told of begins at one and is gone, that.  'dependents', then, appends whose classes' code
 * all of it has.  cpu_ms: of the agent's thread, for that.
 * 'compile', of a JVM that was started with -XX:+WhiteBoxAPI,
 * hands the methods of its configuration's 'compile' lines to the JIT compilers: n of them; n_unknown were not found,
 * or cannot be compiled so.
 *
 * By itself the agent says
 *
 *     changing                              before "ready": how many loaded classes it is about to change
 *     pause                                 after each RetransformClasses that stopped the application
 *     full                                  the recorder waits while a ring fills (core/wire/ring.h, wake_words)
 *     perf_map, perf_map_failed             where it writes names for perf, or why it writes none, or no more
 *     code_map_failed                       why it does not tell what code there is
 *     code_map_all                          why it tells of all code, although only some would be asked for
 *     archive                               no class may be changed because the JVM writes its classes into an archive,
 *                                           by which of its options; before "ready" or "failed"
 *
 * The end of the connection means stop, too: a target whose recorder died cleans up by itself.
 *
 * The segment is core/wire/ring.h's.  The method log is a memory file to which the agent appends a method before its
 * first probe can run, and a value before its first record; entries are a u32 (little-endian) with the length of what
 * follows, then as protocol_put_method and protocol_put_value write it.  The configuration has a setting on each line
 * (core/wire/setting.h).
 */
#ifndef CORE_WIRE_PROTOCOL_H
#define CORE_WIRE_PROTOCOL_H

#include "core/wire/wire_text.h"

#define PROTOCOL_VERSION      11
#define PROTOCOL_N_FDS        4
#define PROTOCOL_METHOD_BYTES ((size_t)256 * 1024) /* no entry of the method log is longer */

/*
 * In the environment of a command whose first JVM is to run in an emulator: the emulator's path, its option -plugin,
 * and a pipe with one byte, which the JVM takes that may start again in there (core/agent/lab/lab.h).
 */
#define PROTOCOL_EMULATOR "MMPROF_EMULATOR"
#define PROTOCOL_PLUGIN   "MMPROF_EMULATOR_PLUGIN"
#define PROTOCOL_TURN     "MMPROF_EMULATOR_TURN"

/* What Agent_OnAttach returns, for the attach response. */
#define PROTOCOL_BUSY     101 /* another recorder is attached */
#define PROTOCOL_NO_JVMTI 102 /* the JVM denies a capability that is needed */
#define PROTOCOL_NO_PEER  103 /* the recorder's socket cannot be reached */
#define PROTOCOL_ENDING   104 /* another recorder was attached: the agent cleans up after it */

/* Texts are modified UTF-8, borrowed. */
struct protocol_method {
    uint32_t id;
    uint32_t first_line; /* the smallest of its line table, or 0 */
    uint32_t code_bytes;
    bool has_loop;                                         /* a backward branch */
    struct wire_text class_name, name, descriptor, source; /* source: may be empty */
    /* The agent's own, as in the class file: not in the log. */
    struct wire_text super_name; /* may be empty */
    uint16_t access_flags;
};

/* What is known of a value by which calls of a method are told apart. */
enum value_kind {
    VALUE_TEXT,
    VALUE_NULL,
    VALUE_OTHER,     /* one of those for which there was no room: the method had had too many */
    VALUE_EXCEPTION, /* the argument's method threw one */
    VALUE_NO_METHOD, /* the argument's class has no such method */
    VALUE_KINDS
};

#define VALUE_BYTES 200 /* a longer text is cut */

/* A value of an argument: records may name it, by an id like a method's, in place of its method. */
struct protocol_value {
    uint32_t id, method;
    uint32_t kind;         /* enum value_kind */
    struct wire_text text; /* borrowed */
};

/* What an entry of the method log is. */
enum protocol_entry { PROTOCOL_METHOD, PROTOCOL_VALUE };

/* Append an entry with its length in front.  s->full when it does not fit. */
void protocol_put_method(struct sink *s, const struct protocol_method *method);
void protocol_put_value(struct sink *s, const struct protocol_value *value);

/* Decode an entry without its length, into what it is.  Returns an enum protocol_entry, or -1: it is malformed. */
int protocol_get_entry(struct cursor *c, struct protocol_method *method, struct protocol_value *value);

#endif
