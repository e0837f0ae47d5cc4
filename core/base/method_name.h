/* What a Java method is called: the name that tells it from all others, whichever class loader it is of. */
#ifndef CORE_BASE_METHOD_NAME_H
#define CORE_BASE_METHOD_NAME_H

#include "core/base/arena.h"

/* As the class file has them: com/sun/tools/javac/parser/JavacParser, classDeclaration, (I)V.  Borrowed. */
struct method_name {
    const char *class_name, *method, *descriptor;
};

bool method_name_equals(const struct method_name *a, const struct method_name *b);

/* By class, then method, then descriptor: as strcmp. */
int method_name_compare(const struct method_name *a, const struct method_name *b);

/* A key for hash.h. */
uint64_t method_name_hash(const struct method_name *name);

/* Of the body of a lambda expression, which javac names: lambda$main$0. */
bool method_name_is_lambda(const struct method_name *name);

/* "java/lang/String.length()I", in the arena. */
char *method_name_text(struct arena *arena, const struct method_name *name);

#endif
