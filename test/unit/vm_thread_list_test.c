/* A JVM's list of threads: an array, or a chain as in JDK 8 and 11; both may change, or be no list, while they are
 * read. */
#include "core/hotspot/vm_threads.h"

#include "core/hotspot/vm_state.h"
#include "test/unit/tap.h"

#include <stdint.h>

static struct vm vm;

struct thread {
    uint64_t unused;
    const struct thread *next;
};

struct threads {
    uint32_t n;
    const struct thread *const *all;
};

#define NOWHERE ((const struct thread *)(uintptr_t)16)

static struct thread third = { 0, NULL }, second = { 0, &third }, first = { 0, &second }, endless = { 0, &endless },
                     ended = { 0, NOWHERE };
static uint64_t found[4];

static uint64_t address(const void *of)
{
    return (uint64_t)(uintptr_t)of;
}

static int64_t read_chain(const struct thread *head, size_t room)
{
    const struct vm_thread_list list = {
        .list = address(&head), .length = VM_NONE, .data = VM_NONE, .next = offsetof(struct thread, next)
    };
    return vm_thread_list_read(&vm, &list, found, room);
}

static int64_t read_array(const struct threads *threads, size_t room)
{
    const struct vm_thread_list list = { .list = address(&threads),
                                         .length = offsetof(struct threads, n),
                                         .data = offsetof(struct threads, all),
                                         .next = VM_NONE };
    return vm_thread_list_read(&vm, &list, found, room);
}

static void test_chain(void)
{
    CHECK_NUMBER("a chain is read to its end", read_chain(&first, 4), 3);
    CHECK("in its order", found[0] == address(&first) && found[1] == address(&second) && found[2] == address(&third));
    found[2] = 1;
    CHECK("no more than there is room for, but all are counted", read_chain(&first, 2) == 3 && found[2] == 1);
    CHECK_NUMBER("there is none", read_chain(NULL, 4), 0);
    CHECK_NUMBER("one that has no end is none", read_chain(&endless, 4), -1);
    CHECK_NUMBER("nor is one that goes to where nothing is", read_chain(&ended, 4), -1);
}

static void test_array(void)
{
    const struct thread *const all[] = { &third, &first };
    CHECK("an array", read_array(&(struct threads){ 2, all }, 4) == 2 && found[0] == address(&third) &&
                          found[1] == address(&first));
    found[1] = 1;
    CHECK("no more than there is room for", read_array(&(struct threads){ 2, all }, 1) == 2 && found[1] == 1);
    CHECK_NUMBER("one without any", read_array(&(struct threads){ 0, NULL }, 4), 0);
    CHECK_NUMBER("one that is too long is none", read_array(&(struct threads){ 1u << 30, all }, 4), -1);
    CHECK_NUMBER("nor is one that is nowhere", read_array((const struct threads *)NOWHERE, 4), -1);
}

int main(void)
{
    vm_init(&vm, &(struct vm_library){ .pid = 0 });
    test_chain();
    test_array();
    return tap_done();
}
