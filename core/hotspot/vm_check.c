#include "core/hotspot/vm_check.h"

#include "core/hotspot/code_heaps.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_methods.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CHECKED_MAX 32u /* compilations that are read */
#define BLOCKS_MAX  20000u

struct check {
    struct vm *vm;
    struct nmethod nmethod;
    struct vm_method method;
    struct scopes_walk walk;
    uint64_t low, high; /* of the code cache */
    bool has_points;
    uint32_t n_blocks, n_named, n_read, n_checked, n_outside, n_scopes, n_names;
};

/* "(I[Ljava/lang/String;)V": as far as one that is cut goes. */
static bool is_descriptor(const char *text, size_t n)
{
    if (n < 3 || text[0] != '(')
        return false;
    for (size_t i = 0; i < n; i++)
        if ((uint8_t)text[i] <= ' ' || (uint8_t)text[i] == 0x7f)
            return false;
    const char *end = memchr(text, ')', n);
    return n >= WIRE_TEXT_SHORT_BYTES - 4 ||
           (end != NULL && end + 1 < text + n && strchr("BCDFIJSZVL[", end[1]) != NULL);
}

static bool is_named(struct check *c, uint64_t method)
{
    const struct vm_method *m = &c->method;
    return vm_method_read(c->vm, &c->method, method) && m->n_class_name > 0 && m->n_name > 0 &&
           memchr(m->class_name, '(', m->n_class_name) == NULL && memchr(m->name, '(', m->n_name) == NULL &&
           is_descriptor(m->descriptor, m->n_descriptor);
}

/* The outermost frame of each point is of the method that was compiled; getters have no points. */
static bool is_of_its_method(struct check *c)
{
    scopes_begin(&c->walk, &c->nmethod.scopes);
    while (scopes_next(&c->walk)) {
        c->has_points = true;
        if (c->walk.n_frames < CODE_FRAMES_MAX && c->walk.frames[c->walk.n_frames - 1].method != c->nmethod.method)
            return false;
    }
    return !c->walk.is_bad;
}

static void check_block(void *context, uint64_t address)
{
    struct check *c = context;
    struct nmethod *nmethod = &c->nmethod;
    if (c->n_checked == CHECKED_MAX || ++c->n_blocks > BLOCKS_MAX || !nmethod_is_named(c->vm, address))
        return;
    c->n_named++;
    if (!nmethod_find_at(c->vm, nmethod, address))
        return;
    c->n_read++;
    if (nmethod->tier == 0 || !nmethod->is_in_use)
        return;
    bool is_inside =
        nmethod->start > address && nmethod->start < c->high && nmethod->n_bytes < c->high - nmethod->start;
    c->has_points = false;
    bool has_scopes = is_inside && nmethod_copy(c->vm, nmethod) && is_of_its_method(c);
    bool has_names = has_scopes && is_named(c, nmethod->method);
    if (!nmethod_is_there(c->vm, nmethod)) /* it was thrown away meanwhile */
        return;
    if (has_names && !c->has_points) /* which says less */
        return;
    c->n_checked++;
    c->n_outside += !is_inside;
    c->n_scopes += is_inside && !has_scopes;
    c->n_names += has_scopes && !has_names;
}

/* Not all releases export it. */
static bool is_whole_cache(const struct check *c)
{
    uint64_t low_at, high_at, low, high;
    struct vm_field bounds[] = { { "CodeCache", "_low_bound", &low_at, true },
                                 { "CodeCache", "_high_bound", &high_at, true } };
    return !vm_fields_find(c->vm, bounds, sizeof bounds / sizeof *bounds) || !vm_read_u64(c->vm, low_at, &low) ||
           !vm_read_u64(c->vm, high_at, &high) || (low == c->low && high == c->high);
}

/* The interpreter is a block of the code cache with that name. */
static bool is_interpreter(const struct check *c)
{
    uint64_t low, high, name_at;
    struct vm_field name = { "CodeBlob", "_name", &name_at, false };
    char text[16] = "";
    if (!code_heaps_interpreter(c->vm, &low, &high) || low < c->low || high > c->high ||
        !vm_fields_find(c->vm, &name, 1))
        return false;
    uint64_t blob = code_heaps_find(c->vm, low);
    return blob != 0 && vm_read_text(c->vm, blob + name_at, text, sizeof text) && strcmp(text, "Interpreter") == 0;
}

/* What does not agree, or NULL. */
static const char *disagreement(struct check *c)
{
    if (!code_heaps_range(c->vm, &c->low, &c->high) || !is_whole_cache(c))
        return "the code cache is not where the JVM says";
    if (!is_interpreter(c))
        return "the interpreter is not where the JVM says";
    code_heaps_walk(c->vm, check_block, c);
    nmethod_free(&c->nmethod);
    uint32_t most = c->n_checked / 2; /* code changes while it is read */
    return c->n_read < c->n_named / 2 ? "compiled code cannot be read"
           : c->n_outside > most      ? "compiled code is outside of the code cache"
           : c->n_scopes > most       ? "compiled code and its debug information are of different methods"
           : c->n_names > most        ? "methods' names cannot be read"
                                      : NULL;
}

int vm_check_code(struct vm *vm, struct err *err)
{
    struct check *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, "out of memory for a check of the JVM's layout");
    c->vm = vm;
    const char *why = disagreement(c);
    free(c);
    if (why == NULL)
        return 0;
    err_set(err, "the layout of this JVM's stacks is not known (JDK %u): %s", (unsigned)vm_release(vm), why);
    return err_next(err, "use --mechanism polling, which asks the JVM itself");
}
