/* What the agent is asked for, where it tells of compiled code only then. */
#include "core/recorder/hits.h"

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

static void add(struct hits *hits, uint64_t address)
{
    hits_add(hits, 1, 5, address, false);
    hits->n_looked = hits->n_waiting;
}

int main(void)
{
    struct hits hits;
    struct err err;
    uint64_t asked[4];
    hits_init(&hits);
    hits.code.fd = make_log();
    CHECK("the log is read", code_map_read(&hits.code, &err) == 0 && hits.code.n_pieces == 2);
    CHECK_NUMBER("without hits nothing is asked", hits_ask(&hits, asked, 4), 0);

    add(&hits, UNKNOWN + 4);
    add(&hits, UNKNOWN + 4);
    CHECK("a hit's address in code that is not known is asked for once",
          hits_ask(&hits, asked, 4) == 1 && asked[0] == UNKNOWN + 4);
    CHECK_NUMBER("and not again", hits_ask(&hits, asked, 4), 0);

    add(&hits, COMPILED + 0x10);
    add(&hits, COMPILED + 0x20);
    CHECK("of code that is known, where it begins, once: it may be gone",
          hits_ask(&hits, asked, 4) == 1 && asked[0] == COMPILED);
    add(&hits, COMPILED + 0x10);
    CHECK("in each round", hits_ask(&hits, asked, 4) == 1 && asked[0] == COMPILED);

    add(&hits, STUB + 8);
    CHECK_NUMBER("nothing of what is not compiled", hits_ask(&hits, asked, 4), 0);

    add(&hits, UNKNOWN);
    hits.waiting[hits.n_waiting - 1].place = 3;
    CHECK_NUMBER("nothing of a hit in a file", hits_ask(&hits, asked, 4), 0);

    for (uint64_t i = 0; i < 6; i++)
        add(&hits, UNKNOWN + 0x100 * i);
    CHECK("no more than there is room for", hits_ask(&hits, asked, 4) == 4 && asked[3] == UNKNOWN + 0x300);
    CHECK("the rest in the next round", hits_ask(&hits, asked, 4) == 2 && asked[1] == UNKNOWN + 0x500);

    close(hits.code.fd);
    hits_free(&hits);
    return tap_done();
}
