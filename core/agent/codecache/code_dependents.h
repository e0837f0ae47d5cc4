/*
 * Whose classes' code compiled code has: what the JVM throws away when one of them changes.  HotSpot throws away what
 * has a method of the class in its list of metadata (nmethod::has_evol_metadata), where all methods are that were
 * inlined.  Only those lists are read, of many pieces at once: that takes a small part of what it takes to tell where
 * each piece of them is from (code_asked.h).
 */
#ifndef CORE_AGENT_CODE_DEPENDENTS_H
#define CORE_AGENT_CODE_DEPENDENTS_H

/* A session begins, where code can be read (code_asked_why_not), or ends: nothing was told in it. */
void code_dependents_start(void);
void code_dependents_stop(void);

/* Append to the session's log (code_out.h) what has come and gone since the last time; nothing in other sessions. */
void code_dependents_tell(void);

#endif
