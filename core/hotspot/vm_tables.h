/*
 * Where the heap's spaces, objects, classes and other memory of a JVM are, for those who walk through them: JDK 17 to
 * 25, Serial, Parallel and G1.
 */
#ifndef CORE_HOTSPOT_VM_TABLES_H
#define CORE_HOTSPOT_VM_TABLES_H

#include "core/hotspot/vm_objects.h"
#include "core/hotspot/vm.h"

enum vm_collector { VM_SERIAL, VM_PARALLEL, VM_G1, VM_OTHER_COLLECTOR };

/* Offsets of fields in their structures; addresses of static ones; sizes; VM_NONE: this JVM has no such field. */
struct vm_tables {
    /* the heap */
    uint64_t heap, heap_reserved, region_start, region_words, collections;
    uint64_t young, old; /* of Serial in the heap, of Parallel static */
    uint64_t eden, from, to, tenured, space_bottom, space_end, space_top;
    uint64_t g1_manager, g1_regions, g1_base, g1_length, g1_bottom, g1_end, g1_top, g1_type, g1_tag;
    uint64_t humongous_mask; /* in a region's tag */
    /* threads */
    uint64_t threads, n_threads, threads_data, tlab, tlab_start, tlab_top, tlab_end, tlab_desired, tlab_reserve;
    /* objects and classes */
    struct class_layout classes;
    uint64_t layout_helper, next_klass, methods, mirror_bytes, mirror_klass;
    uint64_t counters, method_data; /* in a Method */
    uint64_t loaders, next_loader, loader_klasses;
    /* other memory */
    uint64_t barriers, card_table, cards, cards_bytes, archive_base, archive_top;
    enum vm_collector collector;
    bool has_narrow_klass;
};

/*
 * Returns 0; or -1 and in why what is missing, in words for the user: its
 * heap cannot be walked through.
 */
int vm_tables_read(struct vm *vm, struct vm_tables *tables, const char **why);

#endif
