/* What the agent says over the connection: any packets, one a line, while commands of each kind wait for answers. */
#include "core/recorder/link_state.h"
#include "core/recorder/recorder.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int take_answer(void *context, const struct recorder_answer *answer, struct err *err)
{
    unsigned *n_answers = context;
    (void)err;
    if (wire_answer((enum wire_kind)answer->command) == WIRE_UNKNOWN)
        abort();
    ++*n_answers;
    return 0;
}

static void give_commands(struct recorder_link *link)
{
    static const struct recorder_phase phase = { "a/B", "run", "()V" };
    static const struct trace_method method = {
        .id = 3, .names.class_name = "a/B", .names.method = "run", .names.descriptor = "()V"
    };
    const uint32_t ids[] = { 3, 4 };
    struct err err;
    link_know(link, &method);
    recorder_enable(link, ids, 2);
    recorder_disable(link, ids, 2);
    recorder_instrument(link, &phase, 1, &phase, 1, &err);
    recorder_remove(link, ids, 1);
    recorder_dependents(link);
    recorder_jit(link, &err);
}

static void hear_all(struct recorder_link *link, const uint8_t *bytes, size_t n)
{
    struct recorder_status status;
    struct err err;
    memset(&status, 0, sizeof status);
    while (n > 0) {
        const uint8_t *end = memchr(bytes, '\n', n);
        size_t length = end == NULL ? n : (size_t)(end - bytes);
        char *packet = malloc(length + 1); /* of its very length, so that reading behind it is found */
        if (packet == NULL)
            abort();
        memcpy(packet, bytes, length);
        packet[length] = '\0';
        struct wire_message told;
        wire_decode(packet, NULL, &told);
        int rc = link_hear(link, &told, &err);
        free(packet);
        if (rc < 0 || link_round(link, &status, &err) < 0)
            return;
        bytes += length + (end != NULL);
        n -= length + (end != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    unsigned n_answers = 0;
    const struct recorder_observer observer = { .context = &n_answers, .answer = take_answer };
    struct session session;
    struct recorder_link link;
    struct err err;
    int ends[2];
    session_init(&session);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) < 0)
        abort();
    session.peer = ends[0];
    link_init(&link, &session, &observer);
    if (trace_writer_open(&link.writer, "/dev/null", &err) < 0 ||
        link_hear(&link, &(struct wire_message){ .kind = WIRE_READY }, &err) < 0)
        abort();
    give_commands(&link);
    hear_all(&link, bytes, n);
    trace_writer_close(link.writer, 1, &err);
    link_free(&link);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
