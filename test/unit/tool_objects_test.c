/*
 * Objects that are followed: in a heap that is the test's, by references that the test moves.
 */
#include "core/emu/tool/tool_jvm.h"

#include "test/unit/tap.h"

#define HEAP_BYTES 4096u

static uint64_t heap[HEAP_BYTES / 8], slots[8];
static struct tool_objects all;
static uint64_t n_moved, n_died, n_left, moved_from;

static uint64_t at(uint64_t offset)
{
    return (uint64_t)(uintptr_t)heap + offset;
}

/* JNI marks weak references in their lowest bits. */
static uint64_t reference(unsigned slot)
{
    return (uint64_t)(uintptr_t)&slots[slot] | 1;
}

static void on_moved(struct mmprof_object *object, uint64_t from)
{
    (void)object;
    n_moved++;
    moved_from = from;
}

static void on_died(struct mmprof_object *object, bool has_died)
{
    (void)object;
    n_died += has_died;
    n_left += !has_died;
}

static const struct tool_objects_listener listener = { on_moved, on_died };

static struct mmprof_object *add(unsigned slot, uint64_t offset, uint64_t bytes)
{
    slots[slot] = at(offset);
    return tool_objects_add(&all, reference(slot), at(offset), bytes, &listener);
}

static void test_find(void)
{
    const struct mmprof_object *a = add(0, 0, 24), *b = add(1, 24, 16), *c = add(2, 1024, 512);
    if (!CHECK("objects are added", a != NULL && b != NULL && c != NULL))
        return;
    CHECK("an address is in the object that begins before it",
          tool_objects_find(&all, at(0)) == a && tool_objects_find(&all, at(23)) == a &&
              tool_objects_find(&all, at(24)) == b && tool_objects_find(&all, at(1535)) == c);
    CHECK("or in none", tool_objects_find(&all, at(40)) == NULL && tool_objects_find(&all, at(1536)) == NULL &&
                            tool_objects_find(&all, at(HEAP_BYTES)) == NULL &&
                            tool_objects_find(&all, at(0) - 1) == NULL);
    CHECK("each has a number of its own", a->number == 0 && b->number == 1 && c->number == 2);
}

/* They slide, each to where the one before has been; one is dead. */
static void test_collect(void)
{
    const struct mmprof_object *a = tool_objects_find(&all, at(0)), *c = tool_objects_find(&all, at(1024));
    slots[1] = 0;
    slots[2] = at(24);
    tool_objects_collect(&all, &listener);
    CHECK("one has moved, and one has died", n_moved == 1 && moved_from == at(1024) && n_died == 1);
    CHECK("where it is now, it is found, also where the dead one was",
          tool_objects_find(&all, at(24)) == c && tool_objects_find(&all, at(535)) == c && c->address == at(24));
    CHECK("where it was, there is none", tool_objects_find(&all, at(1024)) == NULL);
    CHECK("one that stays is where it was", tool_objects_find(&all, at(8)) == a);
    slots[0] = at(512);
    slots[2] = at(0);
    tool_objects_collect(&all, &listener);
    CHECK("two may come where each other have been",
          tool_objects_find(&all, at(520)) == a && tool_objects_find(&all, at(0)) == c && n_moved == 3);
}

static void test_gone(void)
{
    uint64_t gone[8];
    CHECK("a dead one's reference is to be deleted",
          tool_objects_take_gone(&all, gone, 8) == 1 && gone[0] == reference(1));
    CHECK("once", tool_objects_take_gone(&all, gone, 8) == 0);
    const struct mmprof_object *d = add(3, 512, 16);
    CHECK("a new one where another was believed to be: that is dead", d != NULL && d->number == 3 && n_died == 2 &&
                                                                          tool_objects_find(&all, at(512)) == d &&
                                                                          tool_objects_find(&all, at(528)) == NULL);
    CHECK("none is added outside of the heap, or across its end",
          add(4, HEAP_BYTES, 16) == NULL && add(5, HEAP_BYTES - 8, 16) == NULL && add(6, 4, 16) == NULL);
    CHECK("their references are to be deleted, too", tool_objects_take_gone(&all, gone, 8) == 4);
    tool_objects_end(&all, &listener);
    CHECK_NUMBER("at the end, those that are there are told", n_left, 2);
}

static void test_names(void)
{
    static struct tool_names names; /* for good */
    const struct tool_method_text text = { "a/Main", "work", "()V", "Main.java" },
                                  other = { "a/Main", "wor", "k()V", "" };
    tool_names_init(&names);
    const struct mmprof_class *class_of = tool_names_class(&names, "[I");
    struct mmprof_method *method = tool_names_method(&names, &text);
    if (!CHECK("names are kept", class_of != NULL && method != NULL && strcmp(method->source, "Main.java") == 0))
        return;
    CHECK("there is one of each",
          tool_names_class(&names, "[I") == class_of && tool_names_class(&names, "[J")->number == 1 &&
              tool_names_method(&names, &text) == method && tool_names_method(&names, &other) != method);
    const struct mmprof_location *location = tool_names_location(&names, method, 17);
    CHECK("and of each line", location != NULL && tool_names_location(&names, method, 17) == location &&
                                  tool_names_location(&names, method, 18)->number == 1 && location->method == method);
}

int main(void)
{
    tool_objects_open(&all, at(0), at(HEAP_BYTES));
    test_find();
    test_collect();
    test_gone();
    test_names();
    return tap_done();
}
