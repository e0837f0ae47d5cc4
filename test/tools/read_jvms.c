/*
 * read_jvms PID...: the compiled methods of the application's classes (those without a package) in several JVMs, all of
 * which are open at once and are read in turns, as "RELEASE CLASS.METHOD" lines.
 */
#include "core/hotspot/nmethod.h"
#include "core/hotspot/known_methods.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_methods.h"

#include <stdio.h>
#include <stdlib.h>

#define JVMS_MAX   8
#define BLOCKS_MAX 65536u

struct jvm {
    struct vm *vm;
    struct stack_walker *walker;
    uint64_t blocks[BLOCKS_MAX];
    size_t n;
};

static void take_block(void *context, uint64_t address)
{
    struct jvm *jvm = context;
    if (jvm->n < BLOCKS_MAX)
        jvm->blocks[jvm->n++] = address;
}

static void print_method(struct jvm *jvm, uint64_t block)
{
    static struct vm_method method;
    struct nmethod nmethod = { .address = 0 };
    if (nmethod_find_at(jvm->vm, &nmethod, block) && vm_method_read(jvm->vm, &method, nmethod.method) &&
        memchr(method.class_name, '/', method.n_class_name) == NULL)
        printf("%u %.*s.%.*s\n", (unsigned)vm_release(jvm->vm), (int)method.n_class_name, method.class_name,
               (int)method.n_name, method.name);
    nmethod_free(&nmethod);
}

static int open_jvm(struct jvm *jvm, pid_t pid, struct err *err)
{
    jvm->vm = vm_open(pid, err);
    jvm->walker = jvm->vm == NULL ? NULL : stack_walker_open(jvm->vm, frame_rules_here(), err);
    return jvm->walker == NULL || vm_check_stacks(jvm->walker, err) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    static struct jvm jvms[JVMS_MAX];
    struct err err = { "too many" };
    int n = argc - 1;
    for (int i = 0; i < n; i++)
        if (i == JVMS_MAX || open_jvm(&jvms[i], (pid_t)atoi(argv[1 + i]), &err) < 0) {
            fprintf(stderr, "read_jvms: %s: %s\n", argv[1 + i], err.text);
            return 1;
        }
    for (int i = 0; i < n; i++)
        code_heaps_walk(jvms[i].vm, take_block, &jvms[i]);
    for (size_t block = 0; block < BLOCKS_MAX; block++)
        for (int i = 0; i < n; i++)
            if (block < jvms[i].n)
                print_method(&jvms[i], jvms[i].blocks[block]);
    for (int i = 0; i < n; i++) {
        stack_walker_close(jvms[i].walker);
        vm_close(jvms[i].vm);
    }
    return 0;
}
