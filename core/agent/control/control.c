#include "core/agent/control/control.h"

#include "core/wire/protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HANDSHAKE_TIMEOUT_MS 10000

_Static_assert(CONTROL_PACKET_BYTES == PROTOCOL_PACKET_BYTES, "one size of packets");

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

int control_send(const struct control *control, const char *format, ...)
{
    char packet[PROTOCOL_PACKET_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(packet, sizeof packet, format, arguments);
    va_end(arguments);
    if (n < 0 || control->socket < 0)
        return -1;
    size_t length = (size_t)n < sizeof packet ? (size_t)n : sizeof packet - 1;
    /* Never blocks: a recorder that is stopped must not stop the target. */
    return send(control->socket, packet, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
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
 * Receive one packet and its descriptors (those that it lacks are -1).  Returns its length, 0 at the end of the
 * connection, when time is up, or after control_wake.
 */
static size_t receive(const struct control *connection, char packet[PROTOCOL_PACKET_BYTES], int *fds, size_t n_fds,
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
        return 0;
    struct iovec part = { packet, PROTOCOL_PACKET_BYTES - 1 };
    union {
        char bytes[CMSG_SPACE(sizeof(int) * PROTOCOL_N_FDS)];
        struct cmsghdr align;
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t n = recvmsg(connection->socket, &message, MSG_CMSG_CLOEXEC);
    if (n <= 0)
        return 0;
    packet[n] = '\0';
    take_descriptors(&message, fds, n_fds);
    return (size_t)n;
}

int control_handshake(struct control *control, struct err *err)
{
    char packet[PROTOCOL_PACKET_BYTES];
    int fds[PROTOCOL_N_FDS];
    size_t n = receive(control, packet, fds, PROTOCOL_N_FDS, HANDSHAKE_TIMEOUT_MS);
    control->segment_fd = fds[0];
    control->methods_fd = fds[1];
    control->config_fd = fds[2];
    control->code_fd = fds[3];
    if (n == 0 || strcmp(packet, "session") != 0 || fds[3] < 0)
        return err_set(err, "the recorder does not answer");
    return 0;
}

int control_connect(struct control *control, const char *path, const char *jvm, struct err *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
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
    else if (control_send(control, "hello %d %d %s", PROTOCOL_VERSION, (int)getpid(), jvm) < 0)
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
    char packet[8];
    struct pollfd peer = { .fd = control->socket };
    if (poll(&peer, 1, 0) > 0) /* it has gone, whatever it said before */
        return true;
    ssize_t n = recv(control->socket, packet, sizeof packet, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0)
        return errno != EAGAIN && errno != EINTR;
    return n == 0 || (n == 4 && memcmp(packet, "stop", 4) == 0);
}

bool control_receive(const struct control *control, char packet[CONTROL_PACKET_BYTES], int *fd)
{
    return receive(control, packet, fd, 1, -1) > 0;
}
