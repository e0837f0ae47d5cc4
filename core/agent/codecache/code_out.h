/*
 * The log of a session's code (core/wire/code_log.h), for those that tell of it.  Entries are buffered, and written in
 * large pieces: a write costs as much as an entry.
 *
 * Whoever has the lock waits for nothing but a write and the JVM's tables of methods.
 */
#ifndef CORE_AGENT_CODE_OUT_H
#define CORE_AGENT_CODE_OUT_H

#include "core/wire/code_log.h"

/* Is there a session?  Without the lock it may end at once. */
bool code_out_is_open(void);
void code_out_lock(void);
void code_out_unlock(void);

/* With the lock: a session begins (the descriptor is borrowed), or ends. */
void code_out_open(int fd);
void code_out_close(void);

/*
 * With the lock, in a session.  One that is too long is left out; after CODE_LOG_BYTES (of
 * which CODE_LOG_UNREAD_BYTES may wait for the recorder), or if a write fails, all.
 */
void code_out_put(const struct code_entry *entry);
void code_out_flush(void);

/* Without the lock, for an entry each; nothing without a session.  The last one is followed by an end. */
void code_out_tell(const struct code_entry *entry);
void code_out_end(void);

#endif
