#include "core/agent/codecache/code_check.h"

#include "core/base/hash.h"
#include "core/base/vec.h"
#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_MAX 40
#define SAME      1u
#define DIFFERENT 2u

/* Of a method: of its class, of what it is called, its source file, its lines. */
struct description {
    uint64_t class_name, names, source, lines;
};

static struct {
    int fd;                   /* of the report; owned; 0: none */
    struct description *told; /* owned; by number */
    uint32_t n_told;
    struct hash_set pairs; /* a number and the address of the method: whether they are the same */
    struct nmethod nmethod;
    uint64_t n_compared, n_different, n_not_read, n_points, n_frames, n_methods, n_linkers;
    uint64_t n_classes, n_wrong_classes;
    uint64_t told_ns, read_ns, described_ns;
    char shown[SHOWN_MAX][200];
    uint32_t n_shown;
} check;

static struct vm_method method;

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- the session ---- */

bool code_check_is_on(void)
{
    return check.fd > 0;
}

bool code_check_is_wanted(void)
{
    return getenv("MMPROF_CHECK_CODE") != NULL;
}

void code_check_start(void)
{
    const char *path = getenv("MMPROF_CHECK_CODE");
    if (path != NULL && check.fd == 0)
        check.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void report(void)
{
    const char *why_not = nmethod_why_not(own_vm()) != NULL ? nmethod_why_not(own_vm()) : vm_methods_why_not(own_vm());
    dprintf(check.fd, "code compared %" PRIu64 " different %" PRIu64 " not_read %" PRIu64 "\n", check.n_compared,
            check.n_different, check.n_not_read);
    dprintf(check.fd, "points %" PRIu64 " frames %" PRIu64 " methods %" PRIu64 " linkers %" PRIu64 "\n", check.n_points,
            check.n_frames, check.n_methods, check.n_linkers);
    dprintf(check.fd, "classes %" PRIu64 " wrong %" PRIu64 "\n", check.n_classes, check.n_wrong_classes);
    dprintf(check.fd, "ns told %" PRIu64 " read %" PRIu64 " described %" PRIu64 "\n", check.told_ns, check.read_ns,
            check.described_ns);
    if (why_not != NULL)
        dprintf(check.fd, "not known: %s\n", why_not);
    for (uint32_t i = 0; i < check.n_shown; i++)
        dprintf(check.fd, "different: %s\n", check.shown[i]);
}

void code_check_stop(void)
{
    if (!code_check_is_on())
        return;
    report();
    close(check.fd);
    free(check.told);
    hash_free(&check.pairs);
    nmethod_free(&check.nmethod);
    memset(&check, 0, sizeof check);
}

/* ---- methods ---- */

static struct description describe(const struct code_entry *entry)
{
    struct description its = { HASH_START, HASH_START, HASH_START, HASH_START };
    its.class_name = hash_text(its.class_name, entry->class_name.at, entry->class_name.n);
    its.names = hash_text(its.names, entry->name.at, entry->name.n);
    its.names = hash_text(its.names, entry->descriptor.at, entry->descriptor.n);
    its.source = hash_text(its.source, entry->source.at, entry->source.n);
    its.lines = hash_text(its.lines, (const char *)entry->lines, entry->n_lines * sizeof *entry->lines);
    return its;
}

void code_check_method(const struct code_entry *told)
{
    if (!code_check_is_on())
        return;
    if (vec_reserve_zeroed(check.told, check.n_told, (size_t)told->method + 1) < 0)
        return;
    check.told[told->method] = describe(told);
}

static void show(const char *what, uint64_t told, uint64_t read)
{
    if (check.n_shown < SHOWN_MAX)
        snprintf(check.shown[check.n_shown++], sizeof *check.shown, "%s: told %" PRIu64 ", read %" PRIu64 ", %.*s.%.*s",
                 what, told, read, (int)method.n_class_name, method.class_name, (int)method.n_name, method.name);
}

/*
 * What the JVM itself makes to call method handles, one for each descriptor, has one jmethodID for all of them (JDK 17
 * and 25): the events tell of each that it is the first one.
 */
static bool is_linker(void)
{
    static const char class_name[] = "java/lang/invoke/MethodHandle";
    return method.n_class_name == sizeof class_name - 1 &&
           memcmp(method.class_name, class_name, sizeof class_name - 1) == 0 &&
           (memcmp(method.name, "linkTo", 6) == 0 || memcmp(method.name, "invokeBasic", 11) == 0);
}

static bool is_same_description(const struct description *told, const struct description *read)
{
    if (told->class_name == read->class_name && told->names != read->names && is_linker()) {
        check.n_linkers++;
        return true;
    }
    if (told->class_name != read->class_name || told->names != read->names)
        show("name", told->names, read->names);
    else if (told->source != read->source)
        show("source", told->source, read->source);
    else if (told->lines != read->lines)
        show("lines", told->lines, read->lines);
    return memcmp(told, read, sizeof *told) == 0;
}

/* A method is known as one, and its class, where nobody says that it is a method. */
static void compare_class(uint64_t address)
{
    char name[WIRE_TEXT_SHORT_BYTES];
    uint64_t symbol;
    size_t n;
    vm_methods_pools(own_vm(), &address, 1, &symbol);
    vm_methods_names(own_vm(), &symbol, 1);
    bool is_right = vm_methods_class(own_vm(), symbol, name, &n) && n == method.n_class_name &&
                    memcmp(name, method.class_name, n) == 0;
    check.n_classes++;
    check.n_wrong_classes += !is_right;
    if (!is_right)
        show("class", symbol, address);
}

static bool compare_new(uint32_t number, uint64_t address)
{
    const struct description none = { 0 }, *told = number < check.n_told ? &check.told[number] : &none;
    struct description read = { 0 };
    uint64_t start_ns = thread_ns();
    bool is_read = vm_method_read(own_vm(), &method, address);
    check.described_ns += thread_ns() - start_ns;
    check.n_methods++;
    method.n_class_name = is_read ? method.n_class_name : 0;
    method.n_name = is_read ? method.n_name : 0;
    if (is_read) {
        struct code_entry entry = vm_method_entry(&method, number);
        read = describe(&entry);
        compare_class(address);
    }
    return is_same_description(told, &read);
}

static bool is_same_method(uint32_t number, uint64_t address)
{
    uint64_t key = (address ^ (uint64_t)number << 48 ^ (uint64_t)number >> 16) * UINT64_C(0x9e3779b97f4a7c15);
    struct hash_slot *slot = hash_put(&check.pairs, key ^ key >> 32);
    if (slot == NULL)
        return false;
    if (slot->value == 0)
        slot->value = compare_new(number, address) ? SAME : DIFFERENT;
    return slot->value == SAME;
}

/* ---- code ---- */

/* told: from the outermost frame on; read: from the innermost. */
static bool is_same_point(const struct code_points *told, const struct scopes_walk *read)
{
    if (told->end != read->end || told->n_frames != read->n_frames)
        return false;
    for (uint32_t i = 0; i < told->n_frames; i++) {
        const struct code_frame *a = &told->frames[i];
        const struct scope_frame *b = &read->frames[read->n_frames - 1 - i];
        if (a->index != b->index || !is_same_method(a->method, b->method))
            return false;
    }
    return true;
}

static bool is_same_code(const struct code_entry *told)
{
    struct scopes_walk walk;
    struct code_points points;
    bool has_told, has_read;
    scopes_begin(&walk, &check.nmethod.scopes);
    code_points_begin(&points, told->points, told->n_points_bytes);
    do {
        has_told = code_points_next(&points);
        has_read = scopes_next(&walk);
        if (has_told != has_read || (has_told && !is_same_point(&points, &walk))) {
            show("point", points.end, walk.end);
            return false;
        }
        check.n_points += has_told;
        check.n_frames += has_told ? points.n_frames : 0;
    } while (has_told);
    if (walk.is_bad)
        show("damaged", 0, walk.at);
    return !walk.is_bad;
}

static bool is_same(const struct code_entry *told)
{
    const struct nmethod *read = &check.nmethod;
    if (!is_same_method(told->method, read->method)) {
        show("method", told->method, read->method);
        return false;
    }
    if (told->address != read->start || told->n_bytes != read->n_bytes) {
        show("place", told->n_bytes, read->n_bytes);
        return false;
    }
    if (told->tier != read->tier) {
        show("tier", told->tier, read->tier);
        return false;
    }
    return is_same_code(told);
}

/* An address inside, as a thread is found there. */
void code_check_compiled(const struct code_entry *told, uint64_t told_ns)
{
    struct scopes_walk walk;
    if (!code_check_is_on())
        return;
    uint64_t start_ns = thread_ns();
    bool is_read = nmethod_find(own_vm(), &check.nmethod, told->address + told->n_bytes / 2) &&
                   nmethod_copy(own_vm(), &check.nmethod);
    scopes_begin(&walk, &check.nmethod.scopes);
    while (is_read && scopes_next(&walk))
        continue;
    is_read = is_read && nmethod_is_there(own_vm(), &check.nmethod);
    check.read_ns += thread_ns() - start_ns;
    check.told_ns += told_ns;
    vm_methods_learn(own_vm(), &check.nmethod.method, is_read);
    check.n_not_read += !is_read;
    check.n_compared += is_read;
    check.n_different += is_read && !is_same(told);
}
