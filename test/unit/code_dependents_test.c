/*
 * Whose classes' code compiled code has, told while code comes and goes.  The JVM is this test's: pieces of code with
 * lists of methods, and methods, each at an address that may be another one's later.
 */
#include "core/hotspot/nmethod.h"
#include "core/agent/codecache/code_out.h"
#include "core/hotspot/vm_methods.h"

#include "test/unit/tap.h"

#define PIECES   4
#define METHODS  8
#define AT(i)    (0x1000 + 0x100 * (uint64_t)(i)) /* of a piece's header; its code begins behind it */
#define CODE(i)  (AT(i) + 0x40)
#define OF(text) ((uint64_t)(uintptr_t)(text)) /* a pool, and a symbol: the class's name */

struct codecache codecache;

/* A piece of code; number 0: there is none. */
static struct piece {
    uint32_t number;
    uint64_t list[3]; /* addresses of methods; 0: none */
} pieces[PIECES];

/* Methods' classes; what is no method has none.  Some have a table of their own, which is to be learnt. */
static struct {
    uint64_t table;
    const char *class_name;
} methods[METHODS];

static uint64_t method(size_t i)
{
    return (uint64_t)(uintptr_t)&methods[i];
}

/* ---- the JVM ---- */

void code_heaps_walk(struct vm *vm, code_block_fn *fn, void *context)
{
    (void)vm;
    for (size_t i = 0; i < PIECES; i++)
        fn(context, AT(i));
}

bool nmethod_find_at(struct vm *vm, struct nmethod *nmethod, uint64_t header)
{
    (void)vm;
    size_t i = (size_t)((header - AT(0)) / (AT(1) - AT(0)));
    if (pieces[i].number == 0)
        return false;
    *nmethod = (struct nmethod){ .address = header,
                                 .start = CODE(i),
                                 .n_bytes = 64,
                                 .method = pieces[i].list[0],
                                 .tier = 4,
                                 .number = pieces[i].number,
                                 .parts = { .from = { (uint64_t)(uintptr_t)pieces[i].list },
                                            .n_methods_bytes = sizeof pieces[i].list } };
    return true;
}

size_t nmethods_find_at(struct vm *vm, struct nmethod *all, const uint64_t *headers, size_t n)
{
    (void)vm;
    size_t n_found = 0;
    for (size_t i = 0; i < n; i++)
        n_found += nmethod_find_at(vm, &all[n_found], headers[i]);
    return n_found;
}

static size_t n_read; /* methods */

static uint64_t n_tables; /* that are known */

static size_t index_of(uint64_t address)
{
    return (size_t)(address - method(0)) / sizeof *methods;
}

bool vm_methods_learn(struct vm *vm, const uint64_t *all, size_t n)
{
    (void)vm;
    uint64_t n_before = n_tables;
    for (size_t i = 0; i < n; i++)
        if (methods[index_of(all[i])].table >= n_tables)
            n_tables = methods[index_of(all[i])].table + 1;
    return n_tables > n_before;
}

void vm_methods_pools(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *pools)
{
    (void)vm;
    n_read += n;
    for (size_t i = 0; i < n; i++) {
        size_t k = index_of(addresses[i]);
        pools[i] = methods[k].table < n_tables ? OF(methods[k].class_name) : 0;
    }
}

void vm_methods_names(struct vm *vm, uint64_t *pools, size_t n)
{
    (void)vm;
    (void)pools;
    (void)n;
}

bool vm_methods_class(struct vm *vm, uint64_t symbol, char *name, size_t *n)
{
    (void)vm;
    *n = symbol == 0 ? 0 : strlen((const char *)(uintptr_t)symbol);
    memcpy(name, (const char *)(uintptr_t)symbol, *n);
    return symbol != 0;
}

/* ---- what is told ---- */

static char told[256], names[16][16];

bool code_out_is_open(void)
{
    return true;
}

void code_out_end(void)
{
}

static void note(const char *text)
{
    strncat(told, text, sizeof told - strlen(told) - 1);
}

void code_out_tell(const struct code_entry *entry)
{
    char text[32];
    if (entry->kind == CODE_CLASS) {
        snprintf(names[entry->method], sizeof *names, "%.*s", (int)entry->class_name.n, entry->class_name.at);
        return;
    }
    snprintf(text, sizeof text, "%s%d", told[0] == '\0' ? "" : ", ", (int)((entry->address - CODE(0)) / 0x100));
    note(text);
    note(entry->n_bytes == 0 ? " gone" : ":");
    for (size_t i = 0; i < entry->n_classes_bytes; i++) {
        note(" ");
        note(names[entry->classes[i]]);
    }
}

/* What a walk tells: pieces with the classes whose code they have. */
static const char *walk(void)
{
    told[0] = '\0';
    n_read = 0;
    code_dependents_tell();
    return told;
}

static void make(size_t i, uint32_t number, uint64_t a, uint64_t b, uint64_t c)
{
    pieces[i] = (struct piece){ number, { a, b, c } };
}

/* ---- cases ---- */

static void test_coming(void)
{
    make(0, 1, method(0), method(1), 0);
    make(1, 2, method(1), method(7), 0); /* the last one is no method */
    CHECK_TEXT("code is told with its classes", walk(), "0: A B, 1: B");
    CHECK_NUMBER("each of what it refers to is read once", n_read, 3);
    CHECK_TEXT("nothing is told twice", walk(), "");
    CHECK_NUMBER("nor read", n_read, 0);
    make(2, 3, method(2), method(0), method(7));
    CHECK_TEXT("what has come is told", walk(), "2: C A");
    CHECK_NUMBER("and only methods that no code had are read", n_read, 1);
}

static void test_going(void)
{
    make(0, 0, 0, 0, 0);
    make(2, 0, 0, 0, 0);
    methods[0].class_name = "Z";
    make(3, 4, method(0), method(1), 0);
    CHECK_TEXT("an address is another method's when the code that had it has gone", walk(), "3: Z B, 0 gone, 2 gone");
    CHECK_NUMBER("read again, and the other one not", n_read, 1);
}

static void test_replacing(void)
{
    make(3, 5, method(0), 0, 0);
    methods[0].class_name = "Y";
    CHECK_TEXT("so is one whose code has been replaced in its place, which is told once", walk(), "3: Y");
    CHECK_TEXT("and is there from then on", walk(), "");
    make(3, 0, 0, 0, 0);
    CHECK_TEXT("until it goes", walk(), "3 gone");
}

static void test_learning(void)
{
    methods[3].table = 1;
    make(0, 6, method(1), method(3), 0);
    CHECK_TEXT("a method of a kind that is not known is taken for none", walk(), "0: B");
    make(2, 7, method(2), method(3), method(1));
    CHECK_TEXT("as long as none of them is compiled", walk(), "2: C B");
    make(3, 8, method(3), method(1), 0);
    CHECK_TEXT("then it is known", walk(), "3: D B");
    make(2, 9, method(1), method(3), 0);
    CHECK_TEXT("from then on", walk(), "2: B D");
    make(0, 0, 0, 0, 0);
    make(2, 0, 0, 0, 0);
    make(3, 0, 0, 0, 0);
    CHECK_TEXT("all go", walk(), "0 gone, 3 gone, 2 gone");
}

static void test_sessions(void)
{
    code_dependents_stop();
    code_dependents_start();
    methods[1].class_name = "X";
    CHECK_TEXT("another session knows nothing of the one before", walk(), "1: X");
    CHECK_NUMBER("it reads all", n_read, 2);
    code_dependents_stop();
    CHECK_TEXT("and without a session nothing is told", walk(), "");
}

int main(void)
{
    static const char *const classes[] = { "A", "B", "C", "D" };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        methods[i].class_name = classes[i];
    code_dependents_start();
    test_coming();
    test_going();
    test_replacing();
    test_learning();
    test_sessions();
    return tap_done();
}
