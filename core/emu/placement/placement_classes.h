/*
 * Classes, and how hot each and each of its fields is: by sampled misses, as PEBSI §4.2 has it (every sample heats its
 * class), or by those of an earlier run (hindsight).  And the order of a class' fields that puts hot ones together.
 */
#ifndef CORE_EMU_PLACEMENT_PLACEMENT_CLASSES_H
#define CORE_EMU_PLACEMENT_PLACEMENT_CLASSES_H

#include "core/emu/placement/placement_map.h"

#define PLACEMENT_CLASSES_MAX 32768u
#define PLACEMENT_FIELDS_MAX  60u
#define PLACEMENT_NAME_BYTES  256

enum placement_heat { PLACEMENT_BY_SAMPLES, PLACEMENT_BY_HINDSIGHT };

struct placement_field {
    uint32_t offset, n_bytes; /* n_bytes: until the next field, or the object's end */
    uint32_t level;           /* how many superclasses are below the one that declares it */
    bool is_reference;
    uint32_t recent; /* samples since heat was added up */
    double heat[PLACEMENT_HEATS];
};

struct placement_class {
    char name[PLACEMENT_NAME_BYTES];
    uint64_t n_bytes;  /* of an instance; 0: an array, or of no fixed length */
    uint64_t elements; /* an array of references: where they begin; else 0 */
    uint32_t n_fields, recent;
    double heat[PLACEMENT_HEATS];
    struct placement_field fields[PLACEMENT_FIELDS_MAX]; /* by offset */
    uint32_t layouts[PLACEMENT_HEATS];                   /* the latest, of the map */
    /* Objects that were placed, and their bytes. */
    uint64_t n_objects, n_object_bytes;
};

struct placement_classes {
    struct placement_class *classes; /* mapped; number 0 is of none */
    uint32_t n;
    uint64_t n_samples; /* in objects */
};

/* Returns 0, or -1: no memory. */
int placement_classes_open(struct placement_classes *all);
void placement_classes_close(struct placement_classes *all);

/* A new one, zeroed, with a name in which what would break a line is '?'; 0: there are too many. */
uint32_t placement_classes_add(struct placement_classes *all, const char *name);

/*
 * A field of an instance, in any order, before placement_class_ready; offset: of its first byte.  Those beyond
 * PLACEMENT_FIELDS_MAX are left out, and such a class' order is not changed.
 */
void placement_class_field(struct placement_class *class, uint32_t offset, uint32_t level, bool is_reference);
void placement_class_ready(struct placement_class *class);

/* A miss at an offset of an object was sampled. */
void placement_classes_sample(struct placement_classes *all, uint32_t number, uint64_t offset);

/*
 * At each collection: what was sampled since the last one is added to the heat, and what was not sampled at all cools
 * down by half: a class can get cold again (PEBSI §4.2).
 */
void placement_classes_age(struct placement_classes *all);

/*
 * The order that puts the hottest field first, among the bytes that the fields of the same class (not of its
 * superclasses, whose order all of their subclasses share) have; each is aligned as it was.  Returns whether it is
 * another one than the class has.
 */
bool placement_class_order(const struct placement_class *class, unsigned heat, struct placement_layout *layout);

#endif
