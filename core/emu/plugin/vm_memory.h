/*
 * Reading the emulated JVM's memory, which is the plugin's own, by pointers that may be bad: a fault of ours would be
 * taken for the program's.  Whether a page is there is asked of the kernel once a page, and remembered until
 * vm_memory_forget.
 */
#ifndef CORE_EMU_PLUGIN_VM_MEMORY_H
#define CORE_EMU_PLUGIN_VM_MEMORY_H

#include "core/base/ticks.h"
#include "core/hotspot/vm_methods.h"
#include "core/hotspot/vm_objects.h"
#include "core/trace/misses.h"

#define VM_TEXT_BYTES 256

struct vm;

/*
 * Where the variables of HotSpot's tables are, SIM_N_SYMBOLS addresses, in the order of SIM_SYMBOL_NAMES: vm_here() is
 * this JVM from now on, under the lock that guards the memory here.
 */
void vm_memory_use(const uint64_t *symbols);

struct vm *vm_here(void);

/* What was there may be gone. */
void vm_memory_forget(void);

/* n bytes; returns whether they are there. */
bool vm_get(uint64_t address, void *value, size_t n);

static inline bool vm_get_u64(uint64_t address, uint64_t *value)
{
    return vm_get(address, value, sizeof *value);
}

static inline bool vm_get_u32(uint64_t address, uint32_t *value)
{
    return vm_get(address, value, sizeof *value);
}

/* 0: not there. */
static inline uint64_t vm_pointer(uint64_t address)
{
    uint64_t value = 0;
    return vm_get_u64(address, &value) ? value : 0;
}

/* Memory that is known to be there. */
static inline uint64_t vm_known_u64(uint64_t address)
{
    uint64_t value;
    memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

static inline uint32_t vm_known_u32(uint64_t address)
{
    uint32_t value;
    memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

/* ---- tables of elements that begin with an address, or a number, of 64 bits ---- */

/* For qsort: in ascending order. */
int vm_compare(const void *a, const void *b);

/* The last of n such elements, in order, each of so many bytes, that begins at or before an address; or NULL. */
static inline const void *vm_last_before(const void *elements, uint32_t n, size_t n_bytes, uint64_t address)
{
    const char *all = elements;
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t begin;
        memcpy(&begin, all + middle * n_bytes, sizeof begin);
        if (begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : all + (low - 1) * n_bytes;
}

/*
 * A hash table of such elements, which 0 is at the beginning of when they are empty: the element that begins with a key
 * of n_key bytes, or an empty one that is to get it; NULL: neither is among so many from the hash's place on.
 */
struct vm_table {
    void *elements;       /* mapped */
    uint32_t mask, tries; /* mask: a power of two of elements, less 1 */
};

static inline __attribute__((always_inline)) void *vm_table_find(const struct vm_table *table, size_t n_bytes,
                                                                 uint64_t hash, const void *key, size_t n_key)
{
    static const uint64_t nothing;
    for (uint32_t i = 0; i < table->tries; i++) {
        char *element = (char *)table->elements + ((hash + i) & table->mask) * n_bytes;
        if (memcmp(element, key, n_key) == 0 || memcmp(element, &nothing, sizeof nothing) == 0)
            return element;
    }
    return NULL;
}

/* A number's, or an address', which is of 8 bytes or more. */
static inline uint64_t vm_hash(uint64_t number)
{
    uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* ---- Clocks of the plugin, in ns ---- */

static inline uint64_t sim_clock_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* What looking up takes is this thread's CPU time, a share of all threads': on a busy machine they wait, too. */
static inline uint64_t sim_clock_own_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline uint64_t sim_clock_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* The classes of the emulated JVM's objects: how long an object is, what its class and fields are called. */

enum vm_shape {
    VM_NO_CLASS, /* the address is none of a class */
    VM_INSTANCE,
    VM_MIRROR, /* a java.lang.Class: static fields are behind its own */
    VM_CHUNK,  /* a virtual thread's stack: as long as that is */
    VM_ARRAY
};

struct vm_class {
    uint64_t klass; /* 0: an empty place in the table */
    uint64_t name;  /* its symbol: another one at the same address is another class */
    enum vm_shape shape;
    uint32_t n_bytes;    /* INSTANCE: of an object; ARRAY: in front of its elements; CHUNK: without the stack */
    uint32_t log2;       /* ARRAY: of an element's bytes */
    uint32_t chunk_size; /* CHUNK: where its length in words is */
};

struct vm_classes {
    const struct vm_tables *tables; /* borrowed */
    struct vm_table table;
    uint64_t narrow_base;
    uint32_t narrow_shift, mirror_bytes, mirror_klass;
    struct vm_class none; /* has no room in the table */
};

void vm_classes_open(struct vm_classes *classes, const struct vm_tables *tables);

/* Classes may have gone: each is looked at again before it is believed in. */
void vm_classes_forget(struct vm_classes *classes);

/* The class of an object whose header is there; shape VM_NO_CLASS: there is none. */
const struct vm_class *vm_class_of(struct vm_classes *classes, uint64_t object);

/* The bytes of an object of this class; 0: it makes no sense. */
uint64_t vm_object_bytes(const struct vm_classes *classes, const struct vm_class *class, uint64_t object);

/* A class' name, "java/lang/String" or "[I"; returns whether there is one. */
bool vm_class_name(const struct vm_tables *tables, uint64_t klass, char *text, size_t n);

/*
 * The name of the field at an offset: an instance's, or a static one, which is in the class' mirror.  false: not known.
 */
bool vm_field_name(const struct vm_tables *tables, uint64_t klass, uint32_t offset, bool is_static, char *text,
                   size_t n);

/* The class whose statics a java.lang.Class has; 0: a primitive's. */
uint64_t vm_mirrored(const struct vm_classes *classes, uint64_t object);

/*
 * The emulated JVM's metaspace: which parts of memory it is in, and which method a bytecode belongs to.
 *
 * HotSpot does not tell where its metaspace is, but takes it from the system in aligned blocks of 4 MB or a multiple
 * (JDK 16 and later): one in which a class, a constant pool or a method is, is metaspace.  All classes of all loaders
 * are gone through.
 */

/* A method's bytecodes, whose address comes first. */
struct vm_bytecodes {
    struct vm_method_parts parts;
    uint64_t klass, method;
};

struct vm_metadata {
    const struct vm_tables *tables; /* borrowed */
    uint64_t *blocks;               /* mapped: a bit for each of the address space */
    struct vm_bytecodes *codes;     /* mapped, sorted */
    uint32_t n_codes;
    uint64_t next_look_ns; /* of CPU time */
};

/* A zeroed one has nothing.  */
void vm_metadata_open(struct vm_metadata *metadata, const struct vm_tables *tables);

/* Go through all that there is now, unless that was done not long ago. */
void vm_metadata_look(struct vm_metadata *metadata);

/* In memory that is no file's: is it metaspace? */
bool vm_metadata_has(const struct vm_metadata *metadata, uint64_t address);

/* The method whose bytecodes an address is in, which may be new; or NULL. */
const struct vm_bytecodes *vm_metadata_code(struct vm_metadata *metadata, uint64_t address);

/* Whose the memory is that is not Java heap: stacks, code, metaspace, the card table, files, the C heap. */

struct vm_range {
    uint64_t start, end;
    uint32_t path; /* where in paths; 0: none */
    enum miss_owner kind;
    bool is_program, is_data; /* what the program, a library has besides its code: it may go on behind the file's end */
};

struct vm_ranges {
    const struct vm_tables *tables; /* borrowed; NULL: no JVM */
    struct vm_range *maps;          /* mapped, as the others: sorted */
    char *paths;
    uint64_t *stacks; /* where the stacks of threads begin that the program has made */
    uint32_t n_maps, n_paths_bytes;
    uint64_t arena_end; /* of the one looked at last */
    _Atomic uint32_t n_stacks;
    uint64_t code_low, code_high, cards, cards_end, archive, archive_end;
};

void vm_ranges_open(struct vm_ranges *ranges);

/* The program makes a thread whose stack begins below an address.  Any thread may say so. */
void vm_ranges_add_stack(struct vm_ranges *ranges, uint64_t top);

/* What there is now. */
void vm_ranges_look(struct vm_ranges *ranges);

/* Whose an address is, after vm_ranges_look; *path: of a file. */
enum miss_owner vm_ranges_find(const struct vm_ranges *ranges, const struct vm_metadata *metadata, uint64_t address,
                               const char **path);

/*
 * Which object an address of the emulated JVM's heap is in: the heap's spaces are walked from object to object, as the
 * JVM's own collectors do, over memory that is there and does not move meanwhile (the caller sees to that).
 *
 * A part of a space that a thread allocates in is left out behind what the thread has allocated.  Of each 32 KB of heap
 * the first object is remembered until objects move, so that the next walk begins near an address.  Serial, Parallel
 * and G1.
 */

#define HEAP_WORDS_MAX (UINT64_C(1) << 41) /* 16 TB */

enum heap_space { HEAP_NO_SPACE, HEAP_EDEN, HEAP_SURVIVOR, HEAP_OLD, HEAP_HUMONGOUS, HEAP_SPACES };

enum heap_answer {
    HEAP_OBJECT,
    HEAP_NOT_HEAP,
    HEAP_UNUSED, /* nothing is allocated there now */
    HEAP_BROKEN, /* what is there cannot be read as objects */
};

struct heap_object {
    uint64_t start;
    const struct vm_class *class; /* until the next call of vm_classes_forget */
    enum heap_space space;        /* of all answers but NOT_HEAP; NO_SPACE: a free part of the heap */
};

struct heap_part {
    uint64_t bottom, top, end;
    enum heap_space space;
};

struct heap_walk {
    const struct vm_tables *tables; /* borrowed, as classes */
    struct vm_classes *classes;
    uint64_t base, end;                /* of what is reserved for it */
    uint16_t *firsts;                  /* mapped: of each 32 KB the first object's offset / 8 plus 1 */
    struct heap_part *parts, *buffers; /* mapped, sorted: spaces or regions; threads' buffers (top: allocated) */
    uint32_t n_parts, n_buffers;
    /* Where the walk is. */
    uint64_t at, stretch, stretch_end;
    uint64_t broken; /* from here on the stretch cannot be read */
    bool in_buffer;
};

/* Returns 0, or -1: there is no heap yet. */
int heap_walk_open(struct heap_walk *heap, const struct vm_tables *tables, struct vm_classes *classes);

/* How the heap is divided now. */
void heap_walk_look(struct heap_walk *heap);

/* Objects have moved. */
void heap_walk_forget(struct heap_walk *heap);

/*
 * Where the JVM counts, in 4 bytes that stay there, the collections that move all objects within their spaces.  A young
 * one only copies objects to where nothing was: what was there before, walked as it was looked at before, stays
 * readable until it ends.  0: not known.
 */
uint64_t heap_walk_full_count(const struct heap_walk *heap);

/* In which space an address of the heap was when heap_walk_look was called last. */
enum heap_space heap_walk_space(const struct heap_walk *heap, uint64_t address);

/* How many bytes of each space were in use then. */
void heap_walk_used(const struct heap_walk *heap, uint64_t used[HEAP_SPACES]);

/* The object at an address, after heap_walk_look; fast for addresses that ascend. */
enum heap_answer heap_walk_find(struct heap_walk *heap, uint64_t address, struct heap_object *object);

#endif
