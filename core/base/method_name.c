#include "core/base/method_name.h"

#include "core/base/hash.h"

bool method_name_equals(const struct method_name *a, const struct method_name *b)
{
    return strcmp(a->method, b->method) == 0 && strcmp(a->class_name, b->class_name) == 0 &&
           strcmp(a->descriptor, b->descriptor) == 0;
}

int method_name_compare(const struct method_name *a, const struct method_name *b)
{
    int order = strcmp(a->class_name, b->class_name);
    order = order != 0 ? order : strcmp(a->method, b->method);
    return order != 0 ? order : strcmp(a->descriptor, b->descriptor);
}

uint64_t method_name_hash(const struct method_name *name)
{
    uint64_t hash = hash_text(HASH_START, name->class_name, strlen(name->class_name));
    hash = hash_text(hash, name->method, strlen(name->method));
    return hash_text(hash, name->descriptor, strlen(name->descriptor));
}

bool method_name_is_lambda(const struct method_name *name)
{
    return strncmp(name->method, "lambda$", strlen("lambda$")) == 0;
}

char *method_name_text(struct arena *arena, const struct method_name *name)
{
    return arena_printf(arena, "%s.%s%s", name->class_name, name->method, name->descriptor);
}
