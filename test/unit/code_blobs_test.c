/*
 * What is kept of compiled code and of methods counts only while the JVM has it: other code at the same address, and
 * another method at a Method's address, are told apart in the next round, however they were asked for before.
 *
 * The JVM is made here: CODE pieces of code, one behind the other, each of one method.
 */
#include "core/hotspot/known_methods.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm.h"

#include "test/unit/tap.h"

#define CODE      64u
#define LOW       UINT64_C(0x10000)
#define BYTES     0x1000u
#define PC(i)     (LOW + (i)*BYTES + 0x100)
#define METHOD(i) (UINT64_C(0x700000) + (i)*64)
#define OF(c)     (8 * (size_t)((c) % 16)) /* where the field "_c..." is */

static struct made {
    bool is_there;
    uint32_t number; /* of the compilation */
    uint64_t method;
} code[CODE];
static uint64_t keys[2 * CODE]; /* of the methods */
static unsigned n_code_calls, n_key_calls;

/* ---- the JVM ---- */

uint64_t code_heaps_find(struct vm *vm, uint64_t address)
{
    (void)vm;
    uint64_t i = (address - LOW) / BYTES;
    return code[i].is_there ? LOW + i * BYTES : 0;
}

void code_heaps_round(struct vm *vm)
{
    (void)vm;
}

bool code_heaps_range(struct vm *vm, uint64_t *low, uint64_t *high)
{
    (void)vm;
    *low = LOW;
    *high = LOW + CODE * BYTES;
    return true;
}

bool code_heaps_interpreter(struct vm *vm, uint64_t *low, uint64_t *high)
{
    (void)vm;
    *low = *high = 0;
    return true;
}

bool vm_fields_find(struct vm *vm, struct vm_field *fields, size_t n)
{
    (void)vm;
    for (size_t i = 0; i < n; i++)
        *fields[i].value = OF(fields[i].field[1]);
    return strcmp(fields[0].field, "_code_offset") != 0;
}

uint32_t vm_release(struct vm *vm)
{
    (void)vm;
    return 17;
}

/* A header says where code begins, and its name is at an address of ones. */
size_t vm_read_some(struct vm *vm, uint64_t address, void *bytes, size_t n)
{
    (void)vm;
    const uint64_t low = LOW;
    memset(bytes, 1, n);
    if (address == UINT64_C(0x0101010101010101))
        memcpy(bytes, "nmethod", sizeof "nmethod");
    else if (n >= OF('c') + sizeof low)
        memcpy((uint8_t *)bytes + OF('c'), &low, sizeof low);
    return n;
}

const char *nmethod_why_not(struct vm *vm)
{
    (void)vm;
    return NULL;
}

bool nmethod_take(struct vm *vm, struct nmethod *nmethod, uint64_t address, const uint8_t *header, size_t n)
{
    (void)vm;
    uint64_t i = (address - LOW) / BYTES;
    (void)header;
    (void)n;
    *nmethod = (struct nmethod){
        .address = address, .start = LOW, .n_bytes = CODE * BYTES, .method = code[i].method, .number = code[i].number
    };
    return code[i].is_there;
}

bool nmethod_is_there(struct vm *vm, const struct nmethod *nmethod)
{
    bool is_there;
    nmethods_are_there(vm, &nmethod, 1, &is_there);
    return is_there;
}

void nmethods_are_there(struct vm *vm, const struct nmethod *const *all, size_t n, bool *are_there)
{
    (void)vm;
    n_code_calls += n > 0;
    for (size_t i = 0; i < n; i++) {
        const struct made *now = &code[(all[i]->address - LOW) / BYTES];
        are_there[i] = now->is_there && now->number == all[i]->number;
    }
}

bool nmethod_copy(struct vm *vm, struct nmethod *nmethod)
{
    (void)vm;
    (void)nmethod;
    return false;
}

void nmethod_free(struct nmethod *nmethod)
{
    (void)nmethod;
}

void vm_methods_keys(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *found, struct vm_method_parts *parts)
{
    (void)vm;
    n_key_calls += n > 0;
    memset(parts, 0, n * sizeof *parts);
    for (size_t i = 0; i < n; i++)
        found[i] = addresses[i] < METHOD(0) ? 0 : keys[(addresses[i] - METHOD(0)) / 64];
}

/* ---- the tests ---- */

static unsigned shapes(const uint8_t *at, uint64_t n_before)
{
    (void)at;
    (void)n_before;
    return 0;
}

static enum frame_call call(const uint8_t *at, int64_t *distance)
{
    (void)at;
    (void)distance;
    return FRAME_CALL_NONE;
}

static const struct frame_rules rules = { .shapes = shapes, .call = call };
static struct known_methods *methods;
static struct code_blobs *blobs;

static void next_round(void)
{
    known_methods_round(methods);
    code_blobs_round(blobs);
    n_code_calls = n_key_calls = 0;
}

/* The method that code is of. */
static struct known_method *method_of(size_t i)
{
    const struct code_at *at = code_blobs_at(blobs, PC(i));
    return at->n_frames == 1 ? at->frames[0].method : NULL;
}

static void number_all(void)
{
    for (size_t i = 0; i < CODE; i++) {
        struct known_method *method = method_of(i);
        if (method == NULL)
            continue;
        method->number = (uint32_t)i;
        method->is_numbered = true;
    }
}

static bool are_all(void)
{
    bool are = true;
    for (size_t i = 0; i < CODE; i++) {
        const struct known_method *method = method_of(i);
        are = are && method != NULL && method->address == METHOD(i) && method->is_numbered && method->number == i;
    }
    return are;
}

static void test_code(void)
{
    for (size_t i = 0; i < CODE; i++) {
        code[i] = (struct made){ true, (uint32_t)i + 1, METHOD(i) };
        keys[i] = i + 1;
    }
    number_all();
    next_round();
    CHECK("what was there before is known", are_all());
    CHECK("its methods are not compared: it keeps them", n_key_calls == 0);
    next_round();
    CHECK("what is asked for again and again is compared together", are_all() && n_code_calls == 0);
    code[3] = (struct made){ true, 1000, METHOD(CODE) };
    keys[CODE] = 77;
    CHECK("within a round it stays as it was found", are_all());
    next_round();
    CHECK("another compilation at its address is of another method", method_of(3)->address == METHOD(CODE));
    code[4] = (struct made){ true, 1001, METHOD(4) };
    keys[4] = 78;
    code[5].is_there = false;
    next_round();
    CHECK("also where that has the Method's address", method_of(4)->address == METHOD(4) && !method_of(4)->is_numbered);
    CHECK("of code that is gone there is nothing", method_of(5) == NULL && code_blobs_at(blobs, PC(5))->blob == NULL);
    code[5] = (struct made){ true, 1002, METHOD(5) };
    next_round();
    CHECK("if not other code has come", method_of(5) != NULL && method_of(5)->address == METHOD(5));
}

static void test_methods(void)
{
    struct known_method *method = known_methods_get(methods, METHOD(CODE + 1));
    CHECK("where no method is, is none", method == NULL && known_methods_get(methods, METHOD(0) + 1) == NULL);
    keys[CODE + 1] = 5;
    method = known_methods_get(methods, METHOD(CODE + 1));
    method->is_numbered = true;
    n_key_calls = 0;
    CHECK("one is compared once a round",
          known_methods_get(methods, METHOD(CODE + 1)) == method && n_key_calls == 0 && method->is_numbered);
    for (int i = 0; i < 2; i++) {
        next_round();
        known_methods_get(methods, METHOD(CODE + 1));
    }
    keys[CODE + 1] = 6;
    next_round();
    CHECK("another one at its address has no number yet",
          known_methods_get(methods, METHOD(CODE + 1)) == method && !method->is_numbered && n_key_calls == 0);
    keys[CODE + 1] = 0;
    next_round();
    CHECK("one of a class that was unloaded is gone", known_methods_get(methods, METHOD(CODE + 1)) == NULL);
}

int main(void)
{
    struct err err;
    methods = known_methods_open(NULL);
    blobs = code_blobs_open(NULL, &rules, methods, &err);
    if (!CHECK("memory", blobs != NULL))
        return tap_done();
    test_code();
    test_methods();
    code_blobs_close(blobs);
    known_methods_close(methods);
    return tap_done();
}
