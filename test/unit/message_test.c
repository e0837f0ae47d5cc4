/* The messages between recorder and agent: each row of the table, there and back; and packets that are damaged. */
#include "core/wire/message.h"

#include "test/unit/tap.h"

#include <string.h>

/* As if the other side had it: what a kind has not is 0 there. */
static bool survives(enum wire_kind kind, const char *text)
{
    struct wire_list list = { 3, { 1, 77, 1048575 } }, got_list = { 0, { 0 } };
    const struct wire_message all = { kind,        9,    4711, 4712,           5,           6,     7,   8,   10, 11,
                                      12,          14,   1,    UINT64_MAX / 2, 13000000000, 0.125, 2.5, 1e9, 0,  17.25,
                                      WIRE_REMOVE, text, &list };
    char packet[WIRE_PACKET_BYTES], again[WIRE_PACKET_BYTES];
    struct wire_message got;
    size_t n = wire_encode(&all, packet, sizeof packet);
    wire_decode(packet, &got_list, &got);
    printf("# %s\n", packet);
    return n == strlen(packet) && got.kind == kind && wire_encode(&got, again, sizeof again) == n &&
           strcmp(packet, again) == 0;
}

static void test_rows(void)
{
    char claim[80];
    for (enum wire_kind kind = WIRE_UNKNOWN + 1; kind < WIRE_N_KINDS; kind++) {
        snprintf(claim, sizeof claim, "'%s' comes back as it went", wire_name(kind));
        CHECK(claim, survives(kind, "a text, with ticks=5 in it") && survives(kind, ""));
    }
}

static void test_fields(void)
{
    struct wire_message m;
    struct wire_list list;
    wire_decode("hello 8 4711 OpenJDK 64-Bit Server VM 17", NULL, &m);
    CHECK("an older agent's greeting is understood", m.kind == WIRE_HELLO && m.version == 8 && m.pid == 4711);
    CHECK_TEXT("with its JVM", m.text, "OpenJDK 64-Bit Server VM 17");
    wire_decode("pause ticks=14 colour=red ns=15000000 call_ms=1.5", NULL, &m);
    CHECK("keys that are not known are passed over, missing ones are 0",
          m.ticks == 14 && m.pause_ns == 15000000 && m.call_ms == 1.5 && m.n_classes == 0);
    wire_decode("refused instrument it is not ticks=3", NULL, &m);
    CHECK("a refusal names the command", m.kind == WIRE_REFUSED && m.command == WIRE_INSTRUMENT && m.ticks == 0);
    CHECK_TEXT("and says why", m.text, "it is not ticks=3");
    wire_decode("enable 3 99999999999 7x 8", &list, &m);
    CHECK("a list ends where it is damaged, too large a number is no id",
          m.list == &list && list.n == 3 && list.numbers[1] == UINT32_MAX && list.numbers[2] == 7);
    wire_decode("where 7f00deadbeef 10", &list, &m);
    CHECK("addresses are hexadecimal", list.n == 2 && list.numbers[0] == UINT64_C(0x7f00deadbeef));
    wire_decode("enable 1 2", NULL, &m);
    CHECK("a list that nobody wants is passed over", m.kind == WIRE_ENABLE && m.list == NULL);
}

static void test_damaged(void)
{
    static const char *const rows[] = { "",      " ",       "dance",        "armedx",     "arme",
                                        "hello", "hello x", "hello 1 -1 J", "counters 7", "counters -7 1",
                                        "poll 1" };
    struct wire_message m;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char claim[80];
        snprintf(claim, sizeof claim, "'%s' is no message", rows[i]);
        wire_decode(rows[i], NULL, &m);
        CHECK(claim, m.kind == WIRE_UNKNOWN && m.text != NULL);
    }
    static const struct {
        const char *packet;
        double total_ms;
    } reals[] = { { "ready total_ms=1.5", 1.5 }, { "ready total_ms=-1", 0 },   { "ready total_ms=inf", 0 },
                  { "ready total_ms=nan", 0 },   { "ready total_ms=1e99", 0 }, { "ready total_ms=", 0 } };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        wire_decode(reals[i].packet, NULL, &m);
        CHECK(reals[i].packet, m.kind == WIRE_READY && m.total_ms == reals[i].total_ms);
    }
}

static void test_room(void)
{
    static struct wire_list list = { .n = WIRE_LIST_MAX };
    char packet[WIRE_PACKET_BYTES], text[WIRE_PACKET_BYTES + 100], little[64];
    struct wire_list got;
    struct wire_message m;
    for (size_t i = 0; i < list.n; i++)
        list.numbers[i] = 1048575;
    wire_encode(&(struct wire_message){ .kind = WIRE_ENABLE, .list = &list }, packet, sizeof packet);
    wire_decode(packet, &got, &m);
    CHECK("a packet has room for a list of ids", got.n == WIRE_LIST_MAX && got.numbers[WIRE_LIST_MAX - 1] == 1048575);
    wire_encode(&(struct wire_message){ .kind = WIRE_ENABLE, .list = &list }, little, sizeof little);
    wire_decode(little, &got, &m);
    CHECK("where it has not, no number is cut", got.n > 2 && got.numbers[got.n - 1] == 1048575);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_NUMBER("a text that is too long is cut",
                 wire_encode(&(struct wire_message){ .kind = WIRE_FAILED, .text = text }, packet, sizeof packet),
                 WIRE_PACKET_BYTES - 1);
}

int main(void)
{
    test_rows();
    test_fields();
    test_damaged();
    test_room();
    return tap_done();
}
