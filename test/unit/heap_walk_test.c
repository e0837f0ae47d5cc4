/*
 * The walk through a heap: a made-up one, in this program's memory, with the structures that tables describe.
 */
#include "core/emu/plugin/vm_memory.h"

#include "test/unit/tap.h"

#include <stddef.h>

#define HEAP_WORDS 32768 /* 256 KB: eight times what the walk remembers an object for */

struct symbol {
    uint16_t length;
    char body[62];
};

struct pool {
    uint64_t header[4];
    const struct symbol *texts[4];
};

struct fields17 {
    int32_t length, n;
    uint16_t all[2][6];
};

struct stream25 {
    int32_t length;
    uint8_t bytes[28];
};

struct klass {
    const struct symbol *name;
    const struct klass *super;
    const struct pool *constants;
    const void *fields;
    int32_t layout_helper;
    uint16_t n_fields;
};

struct space {
    const uint64_t *bottom, *top, *end;
};

struct generation {
    const struct space *eden, *from, *to, *tenured;
};

struct thread {
    const uint64_t *start, *top, *prefetched, *end, *allocation_end;
    uint64_t desired;
};

struct list {
    uint32_t length;
    const struct thread *const *all;
};

struct heap {
    const uint64_t *reserved;
    uint64_t words;
    const struct generation *young, *old;
};

static uint64_t words[HEAP_WORDS];

static const struct symbol node_name = { 6, "a/Node" }, longs_name = { 2, "[J" };
static const struct symbol mirror_name = { 15, "java/lang/Class" }, next = { 4, "next" }, size = { 4, "size" };
static const struct pool pool = { { 0 }, { NULL, &next, &size, NULL } };
/* next at 16; size, a static field, at 40: the offset stands above two bits of a tag. */
static const struct fields17 fields = { 12, 0, { { 0, 1, 0, 0, 16 << 2 | 1, 0 }, { 8, 2, 0, 0, 40 << 2 | 1, 0 } } };
/* The same in numbers of which each digit is one more: two fields, none injected. */
static const struct stream25 stream = { 12, { 3, 1, 2, 1, 17, 1, 1, 3, 1, 41, 9, 1 } };
static const struct klass base = { &node_name, NULL, &pool, &fields.n, 32, 2 };
static const struct klass node = { &node_name, &base, &pool, NULL, 40, 0 };
static const struct klass longs = { &longs_name, NULL, NULL, NULL, (int32_t)0xc0180b03, 0 };
static const struct klass mirror = { &mirror_name, NULL, NULL, NULL, 40, 0 };

static struct space eden, from, to, tenured;
static struct generation young = { &eden, &from, &to, NULL }, old = { NULL, NULL, NULL, &tenured };
static struct heap heap = { words, HEAP_WORDS, &young, &old };
static const struct heap *heap_pointer = &heap;
static struct thread thread;
static const struct thread *const threads[] = { &thread };
static struct list list = { 1, threads };
static const struct list *list_pointer = &list;
static const uint64_t narrow_base, narrow_shift;
static const int32_t at_mirror_bytes = 24, at_mirror_klass = 16;

static struct vm_tables tables;
static struct vm_classes classes;
static struct heap_walk walk;

static uint64_t address(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static void describe(void)
{
    tables = (struct vm_tables){
        .heap = address(&heap_pointer),
        .heap_reserved = offsetof(struct heap, reserved),
        .region_words = 8,
        .young = offsetof(struct heap, young),
        .old = offsetof(struct heap, old),
        .from = offsetof(struct generation, from),
        .to = offsetof(struct generation, to),
        .tenured = offsetof(struct generation, tenured),
        .space_top = offsetof(struct space, top),
        .space_end = offsetof(struct space, end),
        .threads = address(&list_pointer),
        .threads_data = offsetof(struct list, all),
        .tlab_top = offsetof(struct thread, top),
        .tlab_end = offsetof(struct thread, end),
        .tlab_desired = offsetof(struct thread, desired),
        .tlab_reserve = VM_NONE,
        .classes.narrow_base = address(&narrow_base),
        .classes.narrow_shift = address(&narrow_shift),
        .layout_helper = offsetof(struct klass, layout_helper),
        .classes.super = offsetof(struct klass, super),
        .classes.constants = offsetof(struct klass, constants),
        .classes.fields = offsetof(struct klass, fields),
        .classes.n_fields = offsetof(struct klass, n_fields),
        .classes.field_stream = VM_NONE,
        .mirror_bytes = address(&at_mirror_bytes),
        .mirror_klass = address(&at_mirror_klass),
        .classes.symbol_body = offsetof(struct symbol, body),
        .classes.pool_bytes = offsetof(struct pool, texts),
        .collector = VM_SERIAL,
    };
}

/* An object of n words; returns where the next one is. */
static uint64_t *put(uint64_t *at, const struct klass *klass, size_t n)
{
    at[1] = address(klass);
    return at + n;
}

static uint64_t *put_array(uint64_t *at, uint64_t length)
{
    at[1] = address(&longs);
    at[2] = length;
    return at + 3 + length;
}

/* Eden: three nodes, an array of 100 longs, a thread's buffer with a node in it, a node.  Old: many nodes. */
static void make(void)
{
    memset(words, 0, sizeof words);
    memset(&thread, 0, sizeof thread);
    uint64_t *at = words;
    for (int i = 0; i < 3; i++)
        at = put(at, &node, 5);
    at = put_array(at, 100);
    thread.start = at;
    at = put(at, &node, 5);
    thread.top = at;
    thread.end = at + 20;
    thread.allocation_end = at + 30;
    at = put(at + 32, &node, 5); /* behind the room for a filler */
    eden = (struct space){ words, at, words + 2048 };
    from = (struct space){ words + 2048, words + 2048, words + 3072 };
    to = (struct space){ words + 3072, words + 3072, words + 4096 };
    for (at = words + 4096; at + 5 <= words + HEAP_WORDS;)
        at = put(at, &node, 5);
    tenured = (struct space){ words + 4096, at, words + HEAP_WORDS };
    vm_classes_open(&classes, &tables);
    CHECK("a walk begins", heap_walk_open(&walk, &tables, &classes) == 0);
    vm_classes_forget(&classes);
    heap_walk_look(&walk);
}

static void check(const char *claim, const uint64_t *at, enum heap_answer answer, const uint64_t *start,
                  enum heap_space space)
{
    struct heap_object object = { .start = 0 };
    enum heap_answer found = heap_walk_find(&walk, address(at), &object);
    CHECK(claim, found == answer && (answer == HEAP_NOT_HEAP || object.space == space) &&
                     (answer != HEAP_OBJECT || object.start == address(start)));
}

static void test_objects(void)
{
    static const uint64_t elsewhere;
    make();
    uint64_t *array = words + 15, *buffer = array + 103, *last = buffer + 5 + 32;
    check("the first object", words, HEAP_OBJECT, words, HEAP_EDEN);
    check("the end of the third", words + 14, HEAP_OBJECT, words + 10, HEAP_EDEN);
    check("an array's last element", array + 102, HEAP_OBJECT, array, HEAP_EDEN);
    check("an object in a thread's buffer", buffer + 2, HEAP_OBJECT, buffer, HEAP_EDEN);
    check("nothing behind what the thread has allocated", buffer + 7, HEAP_UNUSED, NULL, HEAP_EDEN);
    check("nor where the filler will be", last - 1, HEAP_UNUSED, NULL, HEAP_EDEN);
    check("an object behind the buffer", last + 4, HEAP_OBJECT, last, HEAP_EDEN);
    check("nothing above the last one", last + 5, HEAP_UNUSED, NULL, HEAP_EDEN);
    check("nothing in an empty space", words + 2050, HEAP_UNUSED, NULL, HEAP_SURVIVOR);
    check("an old one far on", words + 4096 + 5 * 5000 + 4, HEAP_OBJECT, words + 4096 + 5 * 5000, HEAP_OLD);
    check("and one before it, again", words + 4096 + 5 * 1000, HEAP_OBJECT, words + 4096 + 5 * 1000, HEAP_OLD);
    check("memory that is not the heap's", &elsewhere, HEAP_NOT_HEAP, NULL, HEAP_NO_SPACE);
    CHECK_NUMBER("an address' space alone", heap_walk_space(&walk, address(words + 5000)), HEAP_OLD);
}

/* An object that has no class yet is the end of what can be read, of its stretch only. */
static void test_broken(void)
{
    make();
    words[4096 + 5 * 2000 + 1] = 0;
    words[6] = 3; /* no class' address */
    check("the objects before one without a class", words + 4096 + 5 * 1999, HEAP_OBJECT, words + 4096 + 5 * 1999,
          HEAP_OLD);
    check("one before those, again", words + 4096 + 5 * 100, HEAP_OBJECT, words + 4096 + 5 * 100, HEAP_OLD);
    check("itself", words + 4096 + 5 * 2000, HEAP_BROKEN, NULL, HEAP_OLD);
    check("and what comes after it", words + 4096 + 5 * 2001, HEAP_BROKEN, NULL, HEAP_OLD);
    check("but not what comes before it", words + 4096 + 5 * 1998, HEAP_OBJECT, words + 4096 + 5 * 1998, HEAP_OLD);
    check("a class at no address", words + 8, HEAP_BROKEN, NULL, HEAP_EDEN);
    check("but the thread's buffer is its own stretch", thread.start + 1, HEAP_OBJECT, thread.start, HEAP_EDEN);
    words[4096 + 5 * 2000 + 1] = address(&node);
    heap_walk_forget(&walk);
    heap_walk_look(&walk);
    check("when it has got one, it is found", words + 4096 + 5 * 2001, HEAP_OBJECT, words + 4096 + 5 * 2001, HEAP_OLD);
    words[15 + 2] = UINT32_MAX;
    heap_walk_forget(&walk);
    words[6] = address(&node);
    check("an array that is longer than its stretch", words + 20, HEAP_BROKEN, NULL, HEAP_EDEN);
}

static void test_mirrors(void)
{
    struct heap_object object;
    make();
    uint64_t *at = words; /* of 8 words: 5 of its own, and static fields */
    put(at, &mirror, 8);
    at[2] = address(&base);
    at[3] = 8;
    put_array(at + 8, 4);
    heap_walk_look(&walk);
    check("a class' static fields are behind its own", words + 6, HEAP_OBJECT, words, HEAP_EDEN);
    heap_walk_find(&walk, address(words + 6), &object);
    CHECK("of the class that it is of", object.class->shape == VM_MIRROR && object.class->n_bytes == 40 &&
                                            vm_mirrored(&classes, object.start) == address(&base));
    check("the next object is behind them", words + 9, HEAP_OBJECT, words + 8, HEAP_EDEN);
}

static bool field_is(const struct klass *klass, uint32_t offset, bool is_static, const char *name)
{
    char text[VM_TEXT_BYTES];
    bool found = vm_field_name(&tables, address(klass), offset, is_static, text, sizeof text);
    return name == NULL ? !found : found && strcmp(text, name) == 0;
}

static void test_fields(void)
{
    static const struct klass later = { &node_name, NULL, &pool, &stream, 32, 0 };
    char text[VM_TEXT_BYTES];
    describe();
    CHECK("a class' name", vm_class_name(&tables, address(&node), text, sizeof text) && strcmp(text, "a/Node") == 0);
    CHECK("a field's, of JDK 17", field_is(&base, 16, false, "next"));
    CHECK("one that is inherited", field_is(&node, 16, false, "next"));
    CHECK("a static one", field_is(&base, 40, true, "size"));
    CHECK("which is no instance's", field_is(&base, 40, false, NULL));
    CHECK("none between", field_is(&base, 20, false, NULL));
    tables.classes.field_stream = tables.classes.fields;
    tables.classes.fields = VM_NONE;
    CHECK("a field's, of JDK 25", field_is(&later, 16, false, "next"));
    CHECK("a static one", field_is(&later, 40, true, "size"));
    CHECK("none that there is not", field_is(&later, 24, false, NULL));
}

int main(void)
{
    describe();
    test_objects();
    test_broken();
    test_mirrors();
    test_fields();
    return tap_done();
}
