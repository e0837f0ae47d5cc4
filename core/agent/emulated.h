/*
 * What the agent does for a JVM that runs in an emulator (mmprof record --simulate).
 */
#ifndef CORE_AGENT_EMULATED_H
#define CORE_AGENT_EMULATED_H

#define EMULATED_PREFIX "simulated:" /* in front of the recorder's path, in the library's options */

/*
 * Put a function in front of each signal handler that there is now, which gives it a stack as the ABI wants it.  May be
 * called again when there are more.
 */
void emulated_align_handlers(void);

/* Tell the simulator where the JVM's tables are: it reads them, and so finds what memory belongs to what. */
void emulated_tell_tables(void);

/* Objects are about to move, have moved, and the JVM is about to end. */
void emulated_tell_move(void);
void emulated_tell_moved(void);
void emulated_tell_end(void);

#endif
