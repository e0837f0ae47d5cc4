/*
 * For tests: is what is read in place of compiled code (nmethod.h, vm_methods.h) what the JVM's events tell of it?
 * The agent that 'make tools' builds does it, with MMPROF_CHECK_CODE=FILE in the program's environment (test/agent/
 * code_check.c); in others nothing is checked.  Of each session some lines are appended to that file.
 *
 *     code compared 6151 different 0 not_read 0
 *     points 251350 frames 490711 methods 4953 linkers 116
 *     classes 4953 wrong 0                                      by what code_dependents.c goes by
 *     ns told 121069787 read 71944086 described 90309163
 *     different: ...                                            of the first ones: what, of which method
 *
 * linkers: of the methods, those that the JVM makes to call method handles, whose descriptors the events do not tell.
 * told: in the agent's part of the events, in its thread's CPU time; read and described: the same without them.
 */
#ifndef CORE_AGENT_CODE_CHECK_H
#define CORE_AGENT_CODE_CHECK_H

#include "core/wire/code_log.h"

/* Then the events are needed, although code is only asked for. */
bool code_check_is_wanted(void);

/* A session begins, or ends.  None of these is called by two threads at once. */
void code_check_start(void);
void code_check_stop(void);
bool code_check_is_on(void);

/* An event told of a method, or of compiled code, which took so long. */
void code_check_method(const struct code_entry *told);
void code_check_compiled(const struct code_entry *told, uint64_t told_ns);

#endif
