/* The connection with the recorder. */
#ifndef CORE_AGENT_CONTROL_H
#define CORE_AGENT_CONTROL_H

#include "core/base/err.h"
#include "core/wire/message.h"

struct control {
    int socket; /* -1 when not connected */
    int segment_fd, methods_fd, config_fd, code_fd;
    int wake_fd; /* an eventfd: readable when no packet is to be waited for any more */
};

/* A message, and the packet that it is from. */
struct control_received {
    struct wire_message message; /* its text and list point into the others */
    struct wire_list list;
    char packet[WIRE_PACKET_BYTES];
};

/*
 * Connect to the recorder and say hello, in the name of a JVM; does not wait.  Returns 0, or -1 with *err set and
 * nothing left open.
 */
int control_connect(struct control *control, const char *path, const char *jvm, struct err *err);

/* Wait for the session's descriptors.  Returns 0, or -1 with *err set. */
int control_handshake(struct control *control, struct err *err);

/* Never blocks.  Returns 0, or -1: it was not sent.  The second: a message of a text alone. */
int control_send(const struct control *control, const struct wire_message *message);
int control_send_text(const struct control *control, enum wire_kind kind, const char *text);

/*
 * Wait for a message.  *fd is the descriptor that came with it, the caller's to close, or -1.  Returns false at the end
 * of the connection, or after control_wake.
 */
bool control_receive(const struct control *control, struct control_received *received, int *fd);

/* Let the thread that waits for packets go on without one; from any thread. */
void control_wake(const struct control *control);

/* Is "stop" or the end of the connection what comes next? */
bool control_has_stop(const struct control *control);
void control_close(struct control *control);

#endif
