/*
 * HotSpot removes the breakpoints of a class that is changed (VM_RedefineClasses::redefine_single_class, JDK 8 to 28),
 * and does not tell the debugger, which still lists them.  JVMTI tells no agent of the breakpoints of another one, but
 * the class itself has them in a list.
 */
#include "core/agent/instrument/breakpoints.h"

#include "core/agent/codecache/own_vm.h"
#include "core/hotspot/vm_objects.h"
#include "core/hotspot/vm.h"

#include <link.h>
#include <pthread.h>
#include <string.h>

#define TRIES      3 /* a collector may move a class' mirror while it is read */
#define NAME_BYTES 1024

static struct {
    struct class_layout classes;
    uint64_t breakpoints; /* in an InstanceKlass */
    uint32_t mirror_klass;
    bool is_known;
} at;

static void find_fields(void)
{
    uint64_t mirror_klass;
    struct vm_field fields[] = { { "InstanceKlass", "_breakpoints", &at.breakpoints, false },
                                 { "java_lang_Class", "_klass_offset", &mirror_klass, true } };
    class_layout_find(own_vm(), &at.classes);
    at.is_known = vm_fields_find(own_vm(), fields, sizeof fields / sizeof *fields) && at.classes.name != VM_NONE &&
                  at.classes.symbol_body != VM_NONE &&
                  vm_read(own_vm(), mirror_klass, &at.mirror_klass, sizeof at.mirror_klass) && at.mirror_klass != 0;
}

/* The class, which has this name; false: it cannot be read. */
static bool read_class(jclass class_ref, struct wire_text name, uint64_t *klass)
{
    char text[NAME_BYTES];
    uint64_t mirror;
    for (int i = 0; i < TRIES; i++)
        if (vm_read_u64(own_vm(), (uint64_t)(uintptr_t)class_ref, &mirror) &&
            vm_read_u64(own_vm(), mirror + at.mirror_klass, klass) &&
            class_name_text(own_vm(), &at.classes, *klass, text, sizeof text) == name.n &&
            memcmp(text, name.at, name.n < sizeof text ? name.n : sizeof text - 1) == 0)
            return true;
    return false;
}

static int is_debugger(struct dl_phdr_info *library, size_t n, void *context)
{
    (void)n;
    (void)context;
    const char *base = strrchr(library->dlpi_name, '/');
    return base != NULL && strcmp(base, "/libjdwp.so") == 0;
}

bool breakpoints_are_in(jclass class_ref, struct wire_text name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t klass, first;
    pthread_once(&once, find_fields);
    if (at.is_known && read_class(class_ref, name, &klass) && vm_read_u64(own_vm(), klass + at.breakpoints, &first))
        return first != 0;
    return dl_iterate_phdr(is_debugger, NULL) != 0;
}
