/* Classes and objects of a JVM that is read while it runs. */
#ifndef CORE_HOTSPOT_VM_OBJECTS_H
#define CORE_HOTSPOT_VM_OBJECTS_H

#include "core/base/std.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_threads.h"

struct vm;

/* ---- class_layout.c ---- */

/* Where a class of the JVM that is read has its name and its fields: JDK 8 to 28. */

/* Offsets in a Klass, in a Symbol; addresses of what narrow pointers to classes are made of; VM_NONE: not known. */
struct class_layout {
    uint64_t name, super, constants;
    uint64_t fields, n_fields; /* JDK 8 to 17 */
    uint64_t field_stream;     /* JDK 21 and later */
    uint64_t symbol_length, symbol_body;
    uint64_t pool_bytes; /* of a ConstantPool without its elements */
    uint64_t narrow_base, narrow_shift;
    uint32_t field_more; /* flags in the stream that announce another number */
};

struct class_field {
    uint32_t name; /* in the class' constant pool */
    uint32_t offset;
    bool is_static;
};

void class_layout_find(struct vm *vm, struct class_layout *layout);

/* A symbol's text, cut to n - 1 bytes.  Returns the length of the whole; 0: it is none. */
size_t class_symbol_text(struct vm *vm, const struct class_layout *layout, uint64_t symbol, char *text, size_t n);

/* "java/lang/String", likewise. */
size_t class_name_text(struct vm *vm, const struct class_layout *layout, uint64_t klass, char *text, size_t n);

/* The name of a field, likewise. */
size_t class_field_text(struct vm *vm, const struct class_layout *layout, uint64_t klass, uint32_t name, char *text,
                        size_t n);

/* The first field of a class, not of its superclasses, that is_it says yes to.  Returns whether there is one. */
typedef bool class_field_check(const struct class_field *field, void *context);

bool class_field_find(struct vm *vm, const struct class_layout *layout, uint64_t klass, class_field_check *is_it,
                      void *context, struct class_field *field);

/* ---- vm_objects.c ---- */

/*
 * Java objects of a JVM that is read from outside while it runs: an object's class, and references in its fields.
 *
 * Collectors move objects meanwhile, so what is read may be anything: an answer is one that names a class.
 */

#define VM_CLASS_NAME_BYTES 256u /* longer names are not known */

/* Of the JVM that is being read; again after another one has been opened. */
void vm_objects_open(struct vm *vm);

/* Where a handle of the JVM points to: the address of a slot with an object's address in it.  0: to nothing. */
uint64_t vm_handle_object(struct vm *vm, uint64_t handle);

/* The Klass of an object; 0: not known. */
uint64_t vm_object_class(struct vm *vm, uint64_t object);

/* Where an array has its length, in bytes from its beginning; 0: not known. */
uint32_t vm_array_length_at(struct vm *vm);

/* "java/lang/String"; false: not known. */
bool vm_class_text(struct vm *vm, uint64_t class, char *name, size_t n);

#define VM_KNOWN_CLASSES 4u /* the latest ones: a class is found by many reads */

/* A field of an instance, of a class that the object's class is or extends. */
struct vm_object_field {
    const char *class_name, *name;
    uint32_t offset;                  /* 0: not looked for yet, or not found */
    uint64_t known[VM_KNOWN_CLASSES]; /* classes that have it */
    uint32_t n_known;
};

/* The object that a field of an object points to; 0: none, or not known. */
uint64_t vm_object_reference(struct vm *vm, uint64_t object, struct vm_object_field *field);

/* Where it is in objects of this one's class, in bytes; 0: that has none. */
uint32_t vm_object_field_at(struct vm *vm, uint64_t object, struct vm_object_field *field);

/* The same of a class that is known: its own field, of an instance, or static in its mirror (vm_class_mirror). */
uint32_t vm_class_field_at(struct vm *vm, uint64_t class, const char *name, bool is_static);

/* The java.lang.Class of a class; 0: not known. */
uint64_t vm_class_mirror(struct vm *vm, uint64_t class);

/* From what was copied: the class by the first 16 bytes of an object, and a reference by what is in a field. */
uint64_t vm_class_of_header(struct vm *vm, const uint8_t header[16]);
uint64_t vm_reference_of(struct vm *vm, const uint8_t *field);

/* The bytes of a reference in an object. */
uint32_t vm_reference_bytes(struct vm *vm);

/* A field of 8 bytes; or of one. */
bool vm_object_byte(struct vm *vm, uint64_t object, struct vm_object_field *field, uint8_t *value);
bool vm_object_long(struct vm *vm, uint64_t object, struct vm_object_field *field, uint64_t *value);

/*
 * Where the heap's spaces, objects, classes and other memory of a JVM are, for those who walk through them: JDK 17 to
 * 25, Serial, Parallel and G1.
 */

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

/*
 * What a Java thread that waits, waits for, and who has it: the monitor that it wants to enter or that it is notified
 * by, or the object that it is parked for.  Read from outside.
 */

struct vm_monitors {
    struct vm *vm; /* borrowed */
    struct vm_threads threads;
    bool is_known; /* the layout of monitors is */
};

struct vm_lock {
    uint64_t monitor;                     /* the address of an ObjectMonitor; 0: of a park */
    char class_name[VM_CLASS_NAME_BYTES]; /* of the object: "java/util/HashMap"; "": not known */
};

void vm_monitors_open(struct vm *vm, struct vm_monitors *monitors);

/* Before some threads are asked about: which there are. */
void vm_monitors_round(struct vm_monitors *monitors);

/* Is a thread about to enter a monitor? */
bool vm_monitors_entering(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock);

/* Does its java.lang.Thread say that it is, where the JVM's thread says no monitor where that is to be? */
bool vm_monitors_blocked(const struct vm_monitors *monitors, int32_t tid);

/* Is it in Object.wait? */
bool vm_monitors_waiting(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock);

/* What it is parked for, as LockSupport.park was told. */
bool vm_monitors_parked(const struct vm_monitors *monitors, int32_t tid, struct vm_lock *lock);

/*
 * Who has what a thread waits for now, by its id in our PID namespace; of a park, for a lock that one thread has.
 * 0: nobody, or not known.
 */
int32_t vm_monitors_owner(const struct vm_monitors *monitors, int32_t tid, const struct vm_lock *lock);
void vm_monitors_close(struct vm_monitors *monitors);

#endif
