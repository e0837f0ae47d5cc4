/*
 * What the recorder tells the agent to do, one setting at a time: the configuration, a memory file with a line for
 * each, and the option of -agentpath, which is one.  setting.c has a table with a row for each kind; encoding, decoding
 * and the tests go by it.
 *
 * A line is a word and fields behind it, with blanks between them.  In the option there
 * is a colon instead, and a socket's path has no word: agents of all versions understand it.
 */
#ifndef CORE_WIRE_SETTING_H
#define CORE_WIRE_SETTING_H

#include "core/base/std.h"

enum setting_kind {
    SETTING_MIN_BYTECODES, /* number: methods with no more bytes of code and no loop get no probes */
    SETTING_INCLUDE,       /* text: a pattern (core/base/pattern.h) */
    SETTING_EXCLUDE,       /* text: the same */
    SETTING_PHASE,         /* a method: then only these */
    SETTING_LOOP,          /* a method, of 'instrument': samples found threads in its loop */
    SETTING_ARGUMENT,      /* its number, text: a pattern of methods, name: of its method, or "-": tells calls apart */
    SETTING_COMPILE,       /* a method, of 'compile', and number: the tier that it is to be compiled at */
    SETTING_LIVE,          /* no probes at the start, only in what 'instrument' names */
    SETTING_BEGIN_LATER,   /* probes record nothing before 'begin' */
    SETTING_PERF_MAP,      /* write /tmp/perf-PID.map */
    SETTING_CODE_MAP,      /* append what code there is to the code log (core/wire/code_log.h) */
    SETTING_CODE_ASKED,    /* the same, but of what is compiled only that which 'where' asks for */
    SETTING_EVENT,         /* an event: a counter to be read in records, group by group */
    SETTING_READ_BY_CALL,  /* read them by system call */
    /* options */
    SETTING_RECORDER,         /* text: the path of the recorder's socket, absolute */
    SETTING_SIMULATED,        /* text: the same, of a JVM that runs in the simulator */
    SETTING_PREPARE,          /* of a JVM that a recorder may attach to later: it is to know what its code depends on */
    SETTING_TRACK_OBJECTS,    /* number: of bytes from one object to the next; 0: all (core/wire/tracked.h) */
    SETTING_COUNT_OBJECTS,    /* text: a file's path: all objects by class and site are counted (lab.h) */
    SETTING_COUNT_OBJECTS_IN, /* the same; name, number: in such a call of this method only (lab.h) */
    SETTING_COUNT_RECEIVERS,  /* text: the same, of receivers of calls; number: of calls from one to the next */
    SETTING_COUNT_CALLS,      /* the same, of call sites */
    SETTING_N_KINDS
};

#define SETTING_OPTION_BYTES 256 /* an option takes no more, with a NUL */

/* As struct counter_code of core/pmu has it. */
struct setting_event {
    uint32_t group, type, exclude;
    uint64_t config, config1, config2;
};

/* The comment of a kind says which of these it has; the others are 0.  Texts are borrowed, UTF-8, and not empty. */
struct setting {
    enum setting_kind kind;
    uint32_t number;
    const char *text;
    const char *class_name, *name, *descriptor; /* any characters; class_name in internal form */
    struct setting_event event;
};

/* A setting's line takes no more, with a NUL. */
size_t setting_room(const struct setting *setting);

/* Write the line, with a NUL, into setting_room bytes.  Returns its length. */
size_t setting_encode(const struct setting *setting, char *line);

/*
 * Read a line, which is cut up into the texts of *setting.  Returns 0, or -1: it is no setting, or a damaged one; what
 * is left of the line is its word.
 */
int setting_decode(char *line, struct setting *setting);

#endif
