#include "report/view/bytecode_names.h"

#include "core/base/text.h"
#include "core/base/vec.h"
#include "report/view/misses_report.h"

#include <stdlib.h>
#include <string.h>

void bytecode_names_open(struct bytecode_names *names, bool by_class, struct arena *arena)
{
    memset(names, 0, sizeof *names);
    names->by_class = by_class;
    names->by_label.arena = arena;
}

void bytecode_names_free(struct bytecode_names *names)
{
    hash_free(&names->by_place);
    map_free(&names->by_label);
    free(names->labels);
}

/* What is at the index now, if that is the instruction that the sampler has read. */
static bool read_there(struct bytecode_names *names, const struct sampled_method *method, uint32_t index)
{
    struct vm_method_parts parts;
    uint64_t key;
    vm_methods_keys(method->vm, &method->address, 1, &key, &parts);
    if (key == 0 || parts.n_code != method->code.n_bytes)
        return false;
    index = vm_instruction_last(method->vm, &parts, index);
    const struct opcode *opcode = bytecodes_at(method->bytes, method->code.n_bytes, index);
    return opcode != NULL && vm_instruction_read(method->vm, &names->read, &parts, index) &&
           names->read.opcode == opcode->java;
}

static const char *label_of(struct bytecode_names *names)
{
    struct arena *arena = names->by_label.arena;
    const struct vm_instruction *read = &names->read;
    const struct misses_bytecode bytecode = { text_utf8(arena, read->class_name, read->n_class_name),
                                              text_utf8(arena, read->name, read->n_name),
                                              text_utf8(arena, read->descriptor, read->n_descriptor), read->opcode };
    if (bytecode.class_name == NULL || bytecode.name == NULL || bytecode.descriptor == NULL)
        return NULL;
    return names->by_class ? misses_named_class(arena, &bytecode) : misses_named_field(arena, &bytecode);
}

/* The number of a label; BYTECODE_NAMES_UNKNOWN: no memory. */
static uint32_t number_of(struct bytecode_names *names, const char *label)
{
    const uint32_t *known = label == NULL ? NULL : map_get(&names->by_label, label, strlen(label));
    if (known != NULL)
        return *known;
    if (label == NULL || vec_reserve(names->labels, names->labels_room, (size_t)names->n_labels + 1) < 0 ||
        map_put(&names->by_label, label, strlen(label), BYTECODE_NAMES_FIRST + names->n_labels) < 0)
        return BYTECODE_NAMES_UNKNOWN;
    names->labels[names->n_labels] = label;
    return BYTECODE_NAMES_FIRST + names->n_labels++;
}

bool bytecode_names_find(struct bytecode_names *names, uint32_t number, const struct sampled_method *method,
                         int32_t index, uint32_t *name)
{
    uint64_t place = (uint64_t)number << 32 | (uint32_t)index;
    const uint32_t *known = hash_find(&names->by_place, place);
    *name = known != NULL ? *known : BYTECODE_NAMES_UNKNOWN;
    if (known != NULL || index < 0 || method->address == 0 || method->bytes == NULL ||
        !read_there(names, method, (uint32_t)index))
        return true;
    const char *label = label_of(names);
    *name = label != NULL && label[0] == '\0' ? BYTECODE_NAMES_NOTHING : number_of(names, label);
    return *name != BYTECODE_NAMES_UNKNOWN && hash_store(&names->by_place, place, *name) == 0;
}

const char *bytecode_names_label(const struct bytecode_names *names, uint32_t number)
{
    return names->labels[number - BYTECODE_NAMES_FIRST];
}

int fields_way(const char *text, const char *option, bool *by_class, struct err *err)
{
    *by_class = strcmp(text, "class") == 0;
    if (*by_class || text[0] == '\0' || strcmp(text, "field") == 0)
        return 0;
    err_set(err, "fields cannot be grouped by '%s'", text);
    return err_next(err, "use %s, or %s=class", option, option);
}
