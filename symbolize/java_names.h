/* Names of Java methods as people read them. */
#ifndef SYMBOLIZE_JAVA_NAMES_H
#define SYMBOLIZE_JAVA_NAMES_H

#include "core/base/method_name.h"

enum java_names_style {
    JAVA_NAMES_SHORT, /* JavacParser.classDeclaration */
    JAVA_NAMES_FULL   /* com.sun.tools.javac.parser.JavacParser.classDeclaration */
};

/*
 * One name.  The address that the JVM appends to the names of hidden classes (Shell$$Lambda$14/0x0000000800c03000) is
 * left out.  Lives in the arena.
 */
const char *java_names_display(struct arena *arena, const struct method_name *name, enum java_names_style style);

/* The parameter types of a descriptor, "(int, String[])"; "(?)" when it is malformed. */
const char *java_names_parameters(struct arena *arena, const char *descriptor);

/*
 * A class: "[[Ljava/lang/String;" is java.lang.String[][].  An address behind a hidden class' name is left out.  As
 * above.
 */
const char *java_names_class(struct arena *arena, const char *name);

/*
 * Labels for the n rows of one table: short names, and only where two rows would print alike the package, then the
 * parameter types, then the classes that those are nested in, then the return type, then all of the class name and a
 * number.  n pointers, the arena's.
 */
const char **java_names_labels(struct arena *arena, const struct method_name *names, size_t n);

/*
 * Is the method called that: by its name, or Class.method with an end of the class's name, or Class#method; and with
 * "(int, String)" or the descriptor behind it only if it takes these?  In names '*' stands for any characters, '?' for
 * one.
 */
bool java_names_is(struct arena *arena, const struct method_name *name, const char *pattern);

#endif
