/* The connection with the recorder. */
#ifndef CORE_AGENT_CONTROL_H
#define CORE_AGENT_CONTROL_H

#include "core/base/err.h"

#include <stdbool.h>

struct control {
    int socket; /* -1 when not connected */
    int segment_fd, methods_fd, config_fd, code_fd;
    int wake_fd; /* an eventfd: readable when no packet is to be waited for any more */
};

#define CONTROL_PACKET_BYTES 4096

/*
 * Connect to the recorder and say hello, in the name of a JVM; does not wait.  Returns 0, or -1 with *err set and
 * nothing left open.
 */
int control_connect(struct control *control, const char *path, const char *jvm, struct err *err);

/* Wait for the session's descriptors.  Returns 0, or -1 with *err set. */
int control_handshake(struct control *control, struct err *err);
int control_send(const struct control *control, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Wait for a packet.  *fd is the descriptor that came with it, the caller's to close, or -1.  Returns false at the end
 * of the connection, or after control_wake.
 */
bool control_receive(const struct control *control, char packet[CONTROL_PACKET_BYTES], int *fd);

/* Let the thread that waits for packets go on without one; from any thread. */
void control_wake(const struct control *control);

/* Is "stop" or the end of the connection what comes next? */
bool control_has_stop(const struct control *control);
void control_close(struct control *control);

#endif
