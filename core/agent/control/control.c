#include "core/agent/control/control.h"

#include "core/wire/protocol.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#define HANDSHAKE_TIMEOUT_MS 10000

void control_close(struct control *control)
{
    int *fds[] = { &control->socket,    &control->segment_fd, &control->methods_fd,
                   &control->config_fd, &control->code_fd,    &control->wake_fd };
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

int control_send(const struct control *control, const struct wire_message *message)
{
    char packet[WIRE_PACKET_BYTES];
    size_t length = wire_encode(message, packet, sizeof packet);
    /* A recorder that is stopped must not stop the target. */
    return control->socket < 0 || send(control->socket, packet, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

int control_send_text(const struct control *control, enum wire_kind kind, const char *text)
{
    return control_send(control, &(struct wire_message){ .kind = kind, .text = text });
}

/* The descriptors of a message; those for which there is no room are closed. */
static void take_descriptors(struct msghdr *message, int *fds, size_t n_fds)
{
    size_t n = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; CMSG_LEN(sizeof(int) * (i + 1)) <= part->cmsg_len; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + sizeof fd * i, sizeof fd);
            if (n < n_fds)
                fds[n++] = fd;
            else
                close(fd);
        }
    }
}

/*
 * Receive one message and its descriptors (those that it lacks are -1).  Returns false at the end of the connection,
 * when time is up, or after control_wake.
 */
static bool receive(const struct control *connection, struct control_received *received, int *fds, size_t n_fds,
                    int timeout_ms)
{
    struct pollfd wait[] = { { .fd = connection->socket, .events = POLLIN },
                             { .fd = connection->wake_fd, .events = POLLIN } };
    int ready;
    for (size_t i = 0; i < n_fds; i++)
        fds[i] = -1;
    do {
        ready = poll(wait, 2, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0 || wait[1].revents != 0)
        return false;
    struct iovec part = { received->packet, sizeof received->packet - 1 };
    union {
        char bytes[CMSG_SPACE(sizeof(int) * PROTOCOL_N_FDS)];
        struct cmsghdr align;
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t n = recvmsg(connection->socket, &message, MSG_CMSG_CLOEXEC);
    if (n <= 0)
        return false;
    received->packet[n] = '\0';
    take_descriptors(&message, fds, n_fds);
    wire_decode(received->packet, &received->list, &received->message);
    return true;
}

int control_handshake(struct control *control, struct err *err)
{
    struct control_received received;
    int fds[PROTOCOL_N_FDS];
    bool is_there = receive(control, &received, fds, PROTOCOL_N_FDS, HANDSHAKE_TIMEOUT_MS);
    control->segment_fd = fds[0];
    control->methods_fd = fds[1];
    control->config_fd = fds[2];
    control->code_fd = fds[3];
    if (!is_there || received.message.kind != WIRE_SESSION || fds[3] < 0)
        return err_set(err, "the recorder does not answer");
    return 0;
}

int control_connect(struct control *control, const char *path, const char *jvm, struct err *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const struct wire_message hello = {
        .kind = WIRE_HELLO, .version = PROTOCOL_VERSION, .pid = (uint32_t)getpid(), .text = jvm
    };
    control->segment_fd = control->methods_fd = control->config_fd = control->code_fd = -1;
    control->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    control->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (control->socket < 0 || control->wake_fd < 0 || strlen(path) >= sizeof address.sun_path) {
        control_close(control);
        return err_set(err, "cannot make a socket");
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (connect(control->socket, (const struct sockaddr *)&address, sizeof address) < 0)
        err_set(err, "cannot connect to the recorder: %s", strerror(errno));
    else if (control_send(control, &hello) < 0)
        err_set(err, "cannot greet the recorder: %s", strerror(errno));
    else
        return 0;
    control_close(control);
    return -1;
}

void control_wake(const struct control *control)
{
    uint64_t one = 1;
    ssize_t ignored = write(control->wake_fd, &one, sizeof one);
    (void)ignored;
}

bool control_has_stop(const struct control *control)
{
    char packet[64] = "";
    struct wire_message message;
    struct pollfd peer = { .fd = control->socket };
    if (poll(&peer, 1, 0) > 0) /* it has gone, whatever it said before */
        return true;
    ssize_t n = recv(control->socket, packet, sizeof packet - 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0)
        return errno != EAGAIN && errno != EINTR;
    wire_decode(packet, NULL, &message);
    return n == 0 || message.kind == WIRE_STOP;
}

bool control_receive(const struct control *control, struct control_received *received, int *fd)
{
    return receive(control, received, fd, 1, -1);
}
