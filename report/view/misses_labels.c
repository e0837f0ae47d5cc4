#include "report/view/misses_report.h"

#include "core/base/text.h"
#include "core/hotspot/bytecodes.h"
#include "symbolize/java_names.h"

enum { CODE_IALOAD = 0x2e, CODE_SALOAD = 0x35, CODE_IASTORE = 0x4f, CODE_SASTORE = 0x56 };

/* ---- memory ---- */

static const char *const owners[MISS_OWNERS] = {
    [MISS_OBJECTS] = "Java heap",
    [MISS_STATICS] = "Java heap",
    [MISS_STACK] = "threads' stacks",
    [MISS_CODE] = "code cache",
    [MISS_METASPACE] = "metaspace",
    [MISS_CARDS] = "card table",
    [MISS_C_HEAP] = "C heap",
    [MISS_FILE] = "file",
    [MISS_OTHER] = "other memory",
    [MISS_HEAP] = "Java heap, object not known",
    [MISS_UNKNOWN] = "not mapped any more",
};

const char *misses_owner_kind(enum miss_owner kind)
{
    return owners[kind];
}

bool misses_is_class(const struct misses_owner *owner)
{
    return owner->kind == MISS_OBJECTS || owner->kind == MISS_STATICS;
}

const char *misses_owner_label(struct arena *arena, const struct misses_owner *owner)
{
    if (owner->kind == MISS_OBJECTS)
        return java_names_class(arena, owner->name);
    if (owner->kind == MISS_STATICS)
        return arena_printf(arena, "%s (static fields)", java_names_class(arena, owner->name));
    if (owner->kind == MISS_FILE)
        return arena_printf(arena, "file: %s", text_base_name(owner->name));
    return owners[owner->kind];
}

const char *misses_field_label(struct arena *arena, const struct misses_owner *owner, const struct misses_cell *cell)
{
    const char *name = owner->name == NULL ? "" : java_names_class(arena, owner->name);
    if (!misses_is_class(owner))
        return misses_owner_label(arena, owner);
    if (cell->name[0] == '\0')
        return arena_printf(arena, "%s +%" PRIu32, name, cell->offset);
    if (strcmp(cell->name, "header") == 0)
        return arena_printf(arena, "%s (header)", name);
    if (cell->name[0] == '[' && cell->name[1] != ']')
        return arena_printf(arena, "%s %s", name, cell->name);
    return strcmp(cell->name, "[]") == 0 ? arena_printf(arena, "%s elements", name)
                                         : arena_printf(arena, "%s.%s", name, cell->name);
}

/* ---- bytecodes ---- */

/* What arrays have whose elements an instruction reads or writes; NULL: it does neither. */
static const char *element_of(const struct misses_bytecode *bytecode)
{
    static const char *const elements[] = { "int",  "long", "float", "double", "reference", "byte or boolean",
                                            "char", "short" };
    if (bytecode->opcode >= CODE_IALOAD && bytecode->opcode <= CODE_SALOAD)
        return elements[bytecode->opcode - CODE_IALOAD];
    return bytecode->opcode >= CODE_IASTORE && bytecode->opcode <= CODE_SASTORE
               ? elements[bytecode->opcode - CODE_IASTORE]
               : NULL;
}

static bool names_field(const struct misses_bytecode *bytecode)
{
    enum opcode_kind kind = opcodes[bytecode->opcode].kind;
    return kind >= OPCODE_FIELD_READ && kind <= OPCODE_STATIC_WRITE && bytecode->name[0] != '\0';
}

const char *misses_bytecode_kind(struct arena *arena, const struct misses_bytecode *bytecode)
{
    const char *kind = opcode_kind_name(opcodes[bytecode->opcode].kind), *element = element_of(bytecode);
    if (element != NULL)
        return arena_printf(arena, "%s, %s", kind, element);
    if (!names_field(bytecode))
        return kind;
    bool is_reference = bytecode->descriptor[0] == 'L' || bytecode->descriptor[0] == '[';
    return arena_printf(arena, "%s, %s", kind, is_reference ? "reference" : "primitive");
}

/* "long[]"; a bytecode does not tell arrays of bytes from those of booleans, nor of which class references are. */
static const char *array_of(struct arena *arena, const char *element)
{
    if (strcmp(element, "reference") == 0)
        return "reference arrays";
    return strcmp(element, "byte or boolean") == 0 ? "byte[] or boolean[]" : arena_printf(arena, "%s[]", element);
}

const char *misses_named_field(struct arena *arena, const struct misses_bytecode *bytecode)
{
    const char *element = element_of(bytecode);
    if (element != NULL)
        return strcmp(element, "reference") == 0 ? "elements of reference arrays"
                                                 : arena_printf(arena, "%s elements", array_of(arena, element));
    return !names_field(bytecode)
               ? ""
               : arena_printf(arena, "%s.%s", java_names_class(arena, bytecode->class_name), bytecode->name);
}

const char *misses_named_class(struct arena *arena, const struct misses_bytecode *bytecode)
{
    const char *element = element_of(bytecode);
    if (element != NULL)
        return array_of(arena, element);
    return bytecode->class_name[0] == '\0' ? "" : java_names_class(arena, bytecode->class_name);
}
