/* What the agent is asked for, where it tells of compiled code only then. */
#include "core/recorder/ip_samples.h"

#include "test/unit/tap.h"

#include <sys/mman.h>
#include <unistd.h>

#define COMPILED UINT64_C(0x1000)
#define STUB     UINT64_C(0x2000)
#define UNKNOWN  UINT64_C(0x3000)

static int make_log(void)
{
    uint8_t bytes[512];
    struct sink s = sink_into(bytes, sizeof bytes);
    const struct code_entry entries[] = {
        { .kind = CODE_COMPILED, .ticks = 1, .address = COMPILED, .n_bytes = 0x100 },
        { .kind = CODE_OTHER, .ticks = 1, .address = STUB, .n_bytes = 0x100, .name = { "stub", 4 } },
    };
    int fd = memfd_create("log", MFD_CLOEXEC);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        code_log_put(&s, &entries[i]);
    return write(fd, bytes, (size_t)(s.at - bytes)) < 0 ? -1 : fd;
}

static void add(struct ip_samples *ip_samples, uint64_t address)
{
    ip_samples_add(ip_samples, 1, 5, address, false);
    ip_samples->n_looked = ip_samples->n_waiting;
}

int main(void)
{
    struct ip_samples ip_samples;
    uint64_t asked[4];
    ip_samples_init(&ip_samples);
    ip_samples.code.fd = make_log();
    CHECK("the log is read", (code_map_read(&ip_samples.code), true) && ip_samples.code.n_pieces == 2);
    CHECK_NUMBER("without IP samples nothing is asked", ip_samples_ask(&ip_samples, asked, 4), 0);

    add(&ip_samples, UNKNOWN + 4);
    add(&ip_samples, UNKNOWN + 4);
    CHECK("an IP sample's address in code that is not known is asked for once",
          ip_samples_ask(&ip_samples, asked, 4) == 1 && asked[0] == UNKNOWN + 4);
    CHECK_NUMBER("and not again", ip_samples_ask(&ip_samples, asked, 4), 0);

    add(&ip_samples, COMPILED + 0x10);
    add(&ip_samples, COMPILED + 0x20);
    CHECK("of code that is known, where it begins, once: it may be gone",
          ip_samples_ask(&ip_samples, asked, 4) == 1 && asked[0] == COMPILED);
    add(&ip_samples, COMPILED + 0x10);
    CHECK("in each round", ip_samples_ask(&ip_samples, asked, 4) == 1 && asked[0] == COMPILED);

    add(&ip_samples, STUB + 8);
    CHECK_NUMBER("nothing of what is not compiled", ip_samples_ask(&ip_samples, asked, 4), 0);

    add(&ip_samples, UNKNOWN);
    ip_samples.waiting[ip_samples.n_waiting - 1].location = 3;
    CHECK_NUMBER("nothing of an IP sample in a file", ip_samples_ask(&ip_samples, asked, 4), 0);

    for (uint64_t i = 0; i < 6; i++)
        add(&ip_samples, UNKNOWN + 0x100 * i);
    CHECK("no more than there is room for", ip_samples_ask(&ip_samples, asked, 4) == 4 && asked[3] == UNKNOWN + 0x300);
    CHECK("the rest in the next round", ip_samples_ask(&ip_samples, asked, 4) == 2 && asked[1] == UNKNOWN + 0x500);

    close(ip_samples.code.fd);
    ip_samples_free(&ip_samples);
    return tap_done();
}
