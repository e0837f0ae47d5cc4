/*
 * The emulated JVM, for tools: where its heap and its code are, the classes of objects, and which line of Java an
 * instruction is from.
 */
#ifndef CORE_EMU_TOOL_TOOL_JVM_H
#define CORE_EMU_TOOL_TOOL_JVM_H

#include "core/emu/plugin/vm_classes.h"
#include "core/emu/plugin/vm_metadata.h"
#include "core/recorder/code_map.h"
#include "core/emu/tool/tool_names.h"

struct tool_location_kept {
    uint64_t where; /* an instruction's or a bytecode's address; 0: none */
    struct mmprof_location *location;
};

struct tool_jvm {
    struct tool_names names;
    struct vm_tables tables;
    struct vm_classes classes;
    struct vm_metadata metadata;
    struct code_map code;
    uint64_t heap, heap_end, java, java_end; /* java: the code cache */
    uint64_t interpreter, interpreter_end;
    struct mmprof_location **sites; /* owned: by the agent's number */
    uint32_t n_sites, sites_room;
    struct tool_location_kept *kept; /* mapped */
    uint64_t told_bytes;             /* of the log of code, that the tool has heard of */
    uint32_t n_pieces_told;
    const char *why; /* the JVM cannot be looked into */
    bool has_code;
};

void tool_jvm_init(struct tool_jvm *jvm);

/* Where its tables are: SIM_TELL_TABLES.  Returns 0, or -1 with jvm->why set. */
int tool_jvm_open(struct tool_jvm *jvm, const uint64_t *symbols);

/* The agent tells of a location by its number, and where it tells of code. */
void tool_jvm_site(struct tool_jvm *jvm, uint32_t number, const struct tool_method_text *text, uint32_t line);
void tool_jvm_log(struct tool_jvm *jvm, int fd);

/* What was told of code by now: pieces up to jvm->code.n_pieces. */
void tool_jvm_read_code(struct tool_jvm *jvm);

/* The tool hears what was compiled and discarded since the last call.  Returns whether something was compiled. */
bool tool_jvm_tell_code(struct tool_jvm *jvm, const struct mmprof_tool *tool, uint64_t (*time_now)(void));

/* By the number that it has in the log of code; NULL: not known. */
struct mmprof_method *tool_jvm_code_method(struct tool_jvm *jvm, uint32_t number);

/* Is an instruction in code that a compiler made of a method? */
bool tool_jvm_is_compiled(const struct tool_jvm *jvm, uint64_t instruction);

/* Classes may have gone. */
void tool_jvm_forget(struct tool_jvm *jvm);

/* An object's class and bytes; NULL: there is none. */
struct mmprof_class *tool_jvm_class(struct tool_jvm *jvm, uint64_t object, uint64_t *n_bytes);

/* bytecode: the one that the thread fetched last, or 0.  NULL: not known. */
struct mmprof_location *tool_jvm_location(struct tool_jvm *jvm, uint64_t instruction, uint64_t bytecode);

#endif
