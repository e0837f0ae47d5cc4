#include "core/recorder/session.h"

#include "core/recorder/shared_file.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* Threads that run probes at the same time.  A ring has address space only until it is prepared. */
#define N_RINGS 1024

/* A ring that holds one part of so many is worth a round: 8,192 records of 8 MB, which take 0.2 ms at most. */
#define WAKE_PART 128

static size_t pages(size_t n)
{
    return (n + 4095) & ~(size_t)4095;
}

static int make_segment(struct session *session, const struct session_plan *plan, struct err *err)
{
    uint32_t words = 1024;
    while ((uint64_t)words * 2 * sizeof(uint64_t) <= plan->ring_bytes && words < 1u << 30)
        words *= 2;
    session->n_rings = N_RINGS;
    session->ring_words = words;
    session->n_counters = plan->n_counters;
    session->rings_offset = pages(sizeof(struct segment));
    session->words_offset = session->rings_offset + pages(N_RINGS * sizeof(struct ring));
    session->stacks_offset = session->words_offset + (size_t)N_RINGS * words * sizeof(uint64_t);
    session->segment_bytes = session->stacks_offset + (size_t)N_RINGS * ring_stack_words(words) * sizeof(uint32_t);
    session->segment_fd = shared_file_make("mmprof-records", session->segment_bytes, err);
    if (session->segment_fd < 0)
        return -1;
    void *at =
        mmap(NULL, session->segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, session->segment_fd, 0);
    if (at == MAP_FAILED) {
        err_set(err, "cannot map %zu MB of shared memory: %s", session->segment_bytes >> 20, strerror(errno));
        return err_next(err, "give a smaller --buffer, or raise the limit on address space (ulimit -v)");
    }
    session->segment = at;
    session->segment->magic = SEGMENT_MAGIC;
    session->segment->version = SEGMENT_VERSION;
    session->segment->n_rings = session->n_rings;
    session->segment->ring_words = session->ring_words;
    session->segment->wake_words = session->ring_words / WAKE_PART;
    session->segment->n_counters = session->n_counters;
    session->segment->rings_offset = session->rings_offset;
    session->segment->words_offset = session->words_offset;
    session->segment->stacks_offset = session->stacks_offset;
    session->segment->metaspace_bytes = UINT64_MAX;
    session->segment->size_bytes = session->segment_bytes;
    snprintf(session->segment->threads, SEGMENT_THREADS_BYTES, "%s", plan->threads == NULL ? "" : plan->threads);
    return ring_memory_open(session, &plan->memory, err);
}

static int make_files(struct session *session, const char *config, struct err *err)
{
    session->methods_fd = shared_file_log("mmprof-methods", err);
    session->code_fd = session->methods_fd < 0 ? -1 : shared_file_log("mmprof-code", err);
    session->config_fd = session->code_fd < 0 ? -1 : shared_file_text("mmprof-config", config, strlen(config), err);
    return session->config_fd < 0 ? -1 : 0;
}

static int make_listener(struct session *session, struct err *err)
{
    guest_their_path(&session->guest, GUEST_SOCKET, session->socket_path);
    session->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (session->listener < 0)
        return err_set(err, "cannot make a socket: %s", strerror(errno));
    if (guest_bind(&session->guest, session->listener, err) < 0)
        return -1;
    return listen(session->listener, 4) == 0
               ? 0
               : err_set(err, "cannot listen on '%s': %s", session->socket_path, strerror(errno));
}

void session_init(struct session *session)
{
    const struct guest nothing = GUEST_NONE;
    memset(session, 0, sizeof *session);
    session->guest = nothing;
    session->listener = session->peer = session->segment_fd = session->methods_fd = session->config_fd =
        session->code_fd = -1;
}

int session_open(struct session *session, const struct session_plan *plan, struct err *err)
{
    session_init(session);
    /* The child that this starts must not hold on to the memory. */
    if (guest_open(&session->guest, plan->process, "/tmp", err) < 0 || make_segment(session, plan, err) < 0 ||
        make_files(session, plan->config, err) < 0 || guest_make_directory(&session->guest, err) < 0)
        return -1;
    return make_listener(session, err);
}

int session_move(struct session *session, const struct jvm_process *process, struct err *err)
{
    guest_close(&session->guest);
    close(session->listener);
    session->listener = -1;
    if (guest_open(&session->guest, process, "/tmp", err) < 0 || guest_make_directory(&session->guest, err) < 0)
        return -1;
    return make_listener(session, err);
}

/* Returns what sendmsg does. */
static ssize_t send_with(int socket, const char *packet, const int *fds, size_t n_fds)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * PROTOCOL_N_FDS)];
        struct cmsghdr align;
    } control;
    struct iovec part = { (void *)(uintptr_t)packet, strlen(packet) };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    memset(&control, 0, sizeof control);
    if (n_fds > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof *fds * n_fds);
        struct cmsghdr *first = CMSG_FIRSTHDR(&message);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(sizeof *fds * n_fds);
        memcpy(CMSG_DATA(first), fds, sizeof *fds * n_fds);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int send_descriptors(struct session *session, struct err *err)
{
    const int fds[PROTOCOL_N_FDS] = { session->segment_fd, session->methods_fd, session->config_fd, session->code_fd };
    if (send_with(session->peer, wire_name(WIRE_SESSION), fds, PROTOCOL_N_FDS) < 0)
        return err_set(err, "cannot talk to the agent: %s", strerror(errno));
    return 0;
}

/* The version must agree: the library may be another build's. */
static int check_hello(struct session *session, struct err *err)
{
    struct wire_message hello;
    struct pollfd wait = { .fd = session->peer, .events = POLLIN };
    if (poll(&wait, 1, 5000) <= 0 || session_receive(session, &hello) <= 0 || hello.kind != WIRE_HELLO)
        return err_set(err, "the agent does not say hello");
    snprintf(session->jvm, sizeof session->jvm, "%.150s", hello.text);
    if (hello.version != PROTOCOL_VERSION) {
        err_set(err, "the agent library is of another version of mmprof");
        return err_next(err, "restart the JVM, or use the mmprof that attached to it first");
    }
    return 0;
}

int session_accept(struct session *session, struct err *err)
{
    struct ucred who;
    socklen_t n = sizeof who;
    session->peer = accept4(session->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (session->peer < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
        return 0;
    if (session->peer < 0) {
        err_set(err, "cannot accept the agent's connection: %s", strerror(errno));
        return err_next(err, "raise the limit on open files (ulimit -n)");
    }
    if (getsockopt(session->peer, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
        return err_set(err, "cannot see who connected: %s", strerror(errno));
    session->peer_pid = who.pid;
    guest_remove(&session->guest);
    close(session->listener);
    session->listener = -1;
    return check_hello(session, err) < 0 || send_descriptors(session, err) < 0 ? -1 : 1;
}

static void drop_descriptors(struct session *session)
{
    while (session->n_fds > 0)
        close(session->fds[--session->n_fds]);
}

static void take_descriptors(struct session *session, struct msghdr *message)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(session->fds, CMSG_DATA(part), n * sizeof(int)); /* there was room for so many */
        session->n_fds = n;
    }
}

int session_receive(struct session *session, struct wire_message *message)
{
    union {
        char bytes[CMSG_SPACE(sizeof session->fds)];
        struct cmsghdr align;
    } control;
    struct iovec part = { session->packet, sizeof session->packet - 1 };
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    drop_descriptors(session);
    ssize_t n = session->peer < 0 ? 0 : recvmsg(session->peer, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return -1;
    session->packet[n] = '\0';
    take_descriptors(session, &header);
    wire_decode(session->packet, NULL, message);
    return 1;
}

int session_send(struct session *session, enum wire_kind kind)
{
    return session_send_with(session, wire_name(kind), -1);
}

int session_send_with(struct session *session, const char *packet, int fd)
{
    if (session->peer < 0)
        return -1;
    return send_with(session->peer, packet, &fd, fd >= 0) < 0 ? -1 : 0;
}

int session_fd(const struct session *session)
{
    return session->peer >= 0 ? session->peer : session->listener;
}

void session_close(struct session *session)
{
    const int fds[] = { session->listener,   session->peer,      session->segment_fd,
                        session->methods_fd, session->config_fd, session->code_fd };
    guest_close(&session->guest);
    drop_descriptors(session);
    if (session->segment != NULL)
        munmap(session->segment, session->segment_bytes);
    ring_memory_close(&session->memory);
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    session_init(session);
}
