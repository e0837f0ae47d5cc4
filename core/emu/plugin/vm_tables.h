/*
 * Where HotSpot's structures have their fields, as libjvm.so tells its debugger (gHotSpotVMStructs; SA §3.1): JDK 17 to
 * 25.  The agent, inside the JVM, gives the addresses of the tables (SIM_TELL_TABLES).
 */
#ifndef CORE_PLUGIN_VM_TABLES_H
#define CORE_PLUGIN_VM_TABLES_H

#include "core/emu/model/sim_slots.h"

#define VM_NONE UINT64_MAX /* this JVM has no such field */

enum vm_collector { VM_SERIAL, VM_PARALLEL, VM_G1, VM_OTHER_COLLECTOR };

/* Offsets of fields in their structures; addresses of static ones; sizes. */
struct vm_tables {
    /* the heap */
    uint64_t heap, heap_reserved, region_start, region_words, collections;
    uint64_t young, old, serial_young, serial_old, eden, from, to, tenured;
    uint64_t space_bottom, space_end, contiguous_bottom, contiguous_end, contiguous_top;
    uint64_t mutable_bottom, mutable_end, mutable_top;
    uint64_t parallel_young, parallel_old, ps_eden, ps_from, ps_to, ps_old;
    uint64_t g1_manager, g1_regions, g1_base, g1_length, g1_bottom, g1_end, g1_top, g1_type, g1_tag;
    uint64_t humongous_mask; /* in a region's tag */
    /* threads */
    uint64_t threads, n_threads, threads_data, tlab, tlab_start, tlab_top, tlab_end, tlab_desired, tlab_reserve;
    uint64_t stack_base, stack_size;
    /* objects and classes */
    uint64_t narrow_base, narrow_shift, layout_helper, klass_name, klass_super, next_klass, constants, methods;
    uint64_t fields, n_java_fields, field_stream, mirror_bytes, mirror_klass;
    uint64_t symbol_length, symbol_body, pool_bytes, pool_holder, source_index;
    /* methods */
    uint64_t const_method, const_constants, code_size, name_index, signature_index, const_bytes, const_flags;
    uint64_t wide_flags; /* those of JDK 20 and later, of 4 bytes */
    uint64_t counters, method_data;
    uint64_t loaders, next_loader, loader_klasses;
    /* other memory */
    uint64_t code_low, code_high, interpreter, stub_buffer, stub_limit, barriers, card_table, cards, cards_bytes;
    uint64_t archive_base, archive_top;
    enum vm_collector collector;
    bool has_narrow_klass;
};

/*
 * symbols: SIM_N_SYMBOLS addresses of the tables' variables, in the order of SIM_SYMBOL_NAMES.  Returns 0; or -1 and in
 * why what is missing, in words for the user: addresses cannot be resolved then.
 */
int vm_tables_read(const uint64_t *symbols, struct vm_tables *tables, const char **why);

#endif
