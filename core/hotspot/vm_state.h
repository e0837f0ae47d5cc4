/* What is known of one JVM.  Each part is one module's, which fills it in at first use (vm_once). */
#ifndef CORE_HOTSPOT_VM_STATE_H
#define CORE_HOTSPOT_VM_STATE_H

#include "core/base/hash.h"
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_methods.h"
#include "core/hotspot/vm_objects.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_threads.h"

#include <pthread.h>
#include <stdatomic.h>

struct vm_once {
    atomic_bool is_done;
};

/* vm.c: memory that the JVM never gives back */
#define VM_RANGES 16u

struct vm_span {
    _Atomic uint64_t low, high;
};

/* vm_exports.c */
#define VM_EXPORTS 4u

struct vm_exported_table {
    struct hash_set entries; /* by the hash of what they are known by: the number, plus 1 */
    uint64_t start, stride, keys[2], values[2];
};

#define VM_PAGE_BYTES 4096u
#define VM_PAGES      1024u

/* Pages of another process' libjvm.so, whose tables have thousands of entries. */
struct vm_pages {
    uint64_t starts[VM_PAGES]; /* plus 1 */
    uint8_t *bytes[VM_PAGES];  /* owned */
};

/* vm.c: pages of its memory, as they were when they were read first; nothing, where bytes is NULL */
#define VM_RECENT_PAGES 24u

struct vm_recent {
    uint64_t starts[VM_RECENT_PAGES]; /* plus 1 */
    uint8_t (*bytes)[VM_PAGE_BYTES];
};

/* vm_flags.c.  Pointers to the array and its length; of one: offsets, its size. */
struct vm_flags {
    struct vm_once once;
    bool are_known;
    uint64_t all, n, name, address, bits, bytes;
    struct hash_set by_name; /* by the hash of a name: its number, plus 1 */
    uint64_t first;          /* the address of the first one */
};

/* code_heaps.c */

/* It is where it is for ever. */
struct code_heap {
    uint64_t address;
    uint64_t low, high;    /* what is reserved for it */
    uint64_t map;          /* of segments, a byte for each */
    int32_t log2;          /* of a segment's bytes */
    _Atomic uint64_t used; /* up to here its memory was in use when that was read last */
    uint8_t *copy;         /* of the map, in this round; owned */
    size_t n_copy, room;
    uint32_t n_asked;
};

struct code_heaps {
    struct vm_once once;
    struct code_heap heaps[CODE_HEAPS_MAX];
    int32_t n;
    bool is_in_rounds;
    uint64_t list;                                  /* the address of a pointer to the list of heaps, */
    uint64_t only;                                  /* or, JDK 8, to the only one */
    uint64_t list_length, list_data;                /* in the list */
    uint64_t heap_memory, heap_segments, heap_log2; /* in a heap */
    uint64_t space_low, space_used, space_high;     /* in a VirtualSpace */
    uint64_t block_bytes;                           /* of a block's header */
};

/* nmethod.c.  Offsets of fields. */
#define NMETHOD_OTHERS 8u

struct nmethod_layout {
    struct vm_once once;
    const char *why_not;
    bool is_apart;  /* as in JDK 25 */
    bool is_former; /* as in JDK 8: together, and the fields of 'apart' that are not of memory of its own */
    uint64_t header_bytes, pc_bytes, pc_at, pc_scope;
    uint64_t name, n_bytes, state, tier, number, pcs; /* of all */
    uint64_t entry;                                   /* VM_NONE: not known */
    struct {
        uint64_t methods, dependencies, method, code_start, code_end, scopes;
    } together;
    struct {
        uint64_t method, code_offset, data_offset, scopes, relocation_bytes, mutable_at, mutable_bytes, fixed,
            fixed_bytes;
    } apart;
    _Atomic uint64_t known[2], others[NMETHOD_OTHERS]; /* addresses of the names of nmethods, and of some other blobs */
    atomic_uint n_others;
};

/* vm_methods.c.  Offsets of fields. */
#define VM_METHOD_TABLES 4u

struct vm_methods {
    struct vm_once once;
    const char *why_not;
    uint64_t constant, access_flags;                                     /* in a Method */
    uint64_t constant_bytes, pool, code_size, n_words, name, descriptor; /* of a ConstMethod */
    uint64_t flags, wide_flags;                                          /* either */
    uint64_t pool_bytes, holder, source;                                 /* of a ConstantPool */
    uint64_t class_name, loader, constants, class_source, smap;          /* in a Klass, in an InstanceKlass */
    uint64_t length, body;                                               /* in a Symbol */
    uint64_t tables[VM_METHOD_TABLES];                                   /* virtual ones, of Methods */
    size_t n_tables;
};

/* vm_bytecodes.c */
struct vm_bytecode_numbers {
    struct vm_once once;
    uint8_t ours[256]; /* by the JVM's number: as in 'opcodes' */
};

/* vm_counts.c.  Offsets of fields. */
struct vm_counts {
    struct vm_once once;
    bool knows_code, knows_calls, knows_compiled, knows_bytes;
    uint64_t level;           /* in an nmethod */
    uint64_t counters, code;  /* in a Method */
    uint64_t calls, count;    /* in MethodCounters, in its counter */
    uint64_t constant, bytes; /* in a Method, in its ConstMethod */
};

/* vm_members.c.  Where resolved fields, or methods, are. */
struct vm_resolved {
    uint64_t array, data, entry_bytes, constant; /* in the cache, in the array, of an entry, in an entry */
};

struct vm_members {
    struct vm_once once;
    bool is_known;
    struct class_layout classes;
    uint64_t cache;                              /* in a ConstantPool */
    uint64_t cache_bytes, entry_bytes, constant; /* JDK 17: of a cache, of an entry, in an entry */
    uint64_t offset;                             /* in an entry: of the field */
    struct vm_resolved fields, methods;
};

/* vm_profile.c */
struct vm_profiles {
    struct vm_once once;
    uint64_t data, bytes, list, discarded, traps, more_traps;
    uint64_t counts;            /* where the first of these is, */
    uint32_t n_counts, n_traps; /* the bytes to the last one; reasons; 0: not known */
    const char *reasons[VM_TRAP_REASONS];
    struct class_layout classes;
    bool are_known;
};

/* vm_allocated.c */
struct vm_allocated {
    struct vm_once once;
    uint64_t allocated, buffer, start, top;
    bool are_known;
};

/* vm_compilers.c.  Offsets of fields. */
struct vm_compilers {
    struct vm_once once;
    struct vm_thread_list threads;
    uint64_t compilation, task, number;
    uint64_t method, loop, constant, n_bytes;
    bool are_known, are_methods_known;
};

/* vm_objects.c.  Where fields are, and what is in them for good. */
struct vm_objects {
    struct class_layout classes;
    uint64_t klass_base, oop_base;
    uint32_t klass_shift, oop_shift, mark_shift;
    bool has_narrow_klass, has_narrow_oop, has_compact_headers, is_known;
    bool has_colors;
    bool has_handles; /* the JVM's structures point to handles of objects; JDK 8 and 11: to objects */
};

/* vm_monitors.c */
struct vm_monitor_layout {
    uint64_t entering, waiting, java_thread, stack_base, stack_bytes, lock_stack, owner_id; /* in a JavaThread */
    uint64_t object, owner;                                                                 /* in an ObjectMonitor */
    uint64_t lock_base, lock_top;                                                           /* in a LockStack */
    struct vm_object_field park_blocker, of_thread, of_lock, holder, status, own_status;
};

/* vm_thread_names.c */
struct vm_thread_names {
    uint64_t java_thread;   /* in a JavaThread */
    uint32_t length, units; /* in an array, its first element; 0: not known */
    struct vm_object_field name, value, coder;
};

enum { VM_DIGITS_GUESSED, VM_DIGITS_FROM_0, VM_DIGITS_FROM_1 };

struct vm {
    struct vm_library library;
    void (*close)(void *context); /* library.context is owned; NULL: borrowed */
    pthread_mutex_t lock;         /* recursive: guards vm_once, exported, pages, flags.by_name; no probe takes it */
    struct vm_span in_place[VM_RANGES];
    struct vm_exported_table exported[VM_EXPORTS];
    struct vm_pages pages;
    struct vm_recent recent;
    struct vm_flags flags;
    atomic_uint digits; /* VM_DIGITS_...: what a stream's digits begin at */
    struct code_heaps heaps;
    struct nmethod_layout nmethods;
    struct vm_methods methods;
    struct vm_bytecode_numbers bytecodes;
    struct vm_counts counts;
    struct vm_members members;
    struct vm_profiles profiles;
    struct vm_allocated allocated;
    struct vm_compilers compilers;
    struct vm_objects objects;
    struct vm_monitor_layout monitors;
    struct vm_thread_names thread_names;
};

/*
 * Open a JVM in memory of the caller's, zeroed; it is never closed.  For those who are in the JVM's process, which end
 * with it: no memory is asked for.
 */
void vm_init(struct vm *vm, const struct vm_library *library);

/*
 * From now on what is read is read in pages, each once, until this is called again: what is there is looked at closely,
 * and may be some ms old.  Not of the own process.
 */
void vm_remember(struct vm *vm, bool is_on);

/* Has know() been called for this part?  Call it if not. */
void vm_once(struct vm *vm, struct vm_once *once, void (*know)(struct vm *vm));

/*
 * From low to high memory is the JVM's for as long as it runs: read it in place from now on.  which: the range, below
 * VM_RANGES; its latest ends count.
 */
void vm_read_in_place(struct vm *vm, size_t which, uint64_t low, uint64_t high);

#endif
