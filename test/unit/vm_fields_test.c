/* Reading a process' own memory: what is there, what is not, and what is read without the kernel. */
#include "core/hotspot/vm_state.h"

#include "test/unit/tap.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

static struct vm vm;

static uint8_t *pages; /* three; the last one is none */

static uint64_t at(size_t offset)
{
    return (uint64_t)(uintptr_t)pages + offset;
}

static void test_reading(const char *how)
{
    const struct vm_piece pieces[] = { { at(8), 4 }, { at(PAGE - 2), 4 }, { at(2 * PAGE - 4), 4 } };
    const struct vm_piece with_none[] = { { at(8), 4 }, { at(2 * PAGE), 4 }, { at(2 * PAGE - 4), 4 } };
    uint8_t bytes[2 * PAGE];
    printf("# %s\n", how);
    CHECK("bytes are read, over the end of a page",
          vm_read(&vm, at(PAGE - 2), bytes, 4) && memcmp(bytes, pages + PAGE - 2, 4) == 0);
    CHECK("what is not all there is not",
          !vm_read(&vm, at(2 * PAGE - 2), bytes, 4) && !vm_read(&vm, at(2 * PAGE), bytes, 1));
    CHECK("nor what would end behind all addresses",
          !vm_read(&vm, UINT64_MAX - 1, bytes, 4) && !vm_read(&vm, 0, bytes, 1));
    CHECK("some of it is",
          vm_read_some(&vm, at(2 * PAGE - 6), bytes, 64) == 6 && memcmp(bytes, pages + 2 * PAGE - 6, 6) == 0);
    CHECK("pieces stand one behind the other",
          vm_read_pieces(&vm, pieces, 3, bytes) && memcmp(bytes, pages + 8, 4) == 0 &&
              memcmp(bytes + 4, pages + PAGE - 2, 4) == 0 && memcmp(bytes + 8, pages + 2 * PAGE - 4, 4) == 0);
    CHECK("all of them, or none", !vm_read_pieces(&vm, with_none, 3, bytes));
    vm_read_each(&vm, with_none, 3, bytes);
    CHECK("or zeros for the one that is not there", memcmp(bytes, pages + 8, 4) == 0 &&
                                                        memcmp(bytes + 4, "\0\0\0", 4) == 0 &&
                                                        memcmp(bytes + 8, pages + 2 * PAGE - 4, 4) == 0);
    const struct vm_piece wild[] = { { 0, 4 }, { UINT64_MAX - 1, 4 }, { at(8), 4 }, { UINT64_C(1) << 63, 4 } };
    memset(bytes, 1, sizeof bytes);
    vm_read_each(&vm, wild, 4, bytes);
    CHECK("wherever that is", memcmp(bytes, "\0\0\0\0\0\0\0", 8) == 0 && memcmp(bytes + 8, pages + 8, 4) == 0 &&
                                  memcmp(bytes + 12, "\0\0\0", 4) == 0);
}

/* The same answers, of pieces that are in place, are not, or begin there and end behind. */
static void test_in_place(void)
{
    uint8_t bytes[8];
    vm_read_in_place(&vm, 3, at(PAGE), at(2 * PAGE));
    test_reading("one page in place");
    vm_read_in_place(&vm, 0, at(0), at(2 * PAGE));
    test_reading("both in place");
    vm_read_in_place(&vm, 0, at(0), at(0));
    vm_read_in_place(&vm, 3, at(0), at(0));
    test_reading("none any more");
    CHECK("a range of nothing has nothing", !vm_read(&vm, 0, bytes, 1));
}

int main(void)
{
    vm_init(&vm, &(struct vm_library){ .pid = 0 });
    /* cppcheck-suppress invalidFunctionArg */
    pages = mmap(NULL, 3 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK("memory", pages != MAP_FAILED))
        return tap_done();
    munmap(pages + 2 * (size_t)PAGE, PAGE);
    for (size_t i = 0; i < 2 * (size_t)PAGE; i++)
        pages[i] = (uint8_t)(i * 7 + i / 251 + 1);
    test_reading("by the kernel");
    test_in_place();
    munmap(pages, 2 * (size_t)PAGE);
    return tap_done();
}
