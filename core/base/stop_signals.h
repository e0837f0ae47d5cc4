/*
 * SIGTERM and SIGINT end this process also when it hangs: a thread that reads them from a signalfd (and blocks them)
 * may wait in the kernel for what somebody else withholds, a reader of a pipe or a file of another machine.
 */
#ifndef CORE_BASE_STOP_SIGNALS_H
#define CORE_BASE_STOP_SIGNALS_H

#define STOP_SIGNALS_MS 10000

/*
 * From now on, one of them that has been pending for grace_ms has its default effect.  Once in a process; call it with
 * the signals blocked.  It is not watched where no thread can be made.
 */
void stop_signals_watch(int grace_ms);

#endif
