/*
 * Names of the functions of an ELF file: from its own symbol table (.symtab), else from that of a separate file with
 * debug information (by build id, then by .gnu_debuglink), else from what it exports (.dynsym).
 *
 * What lies between two functions of a table has no name; nothing is guessed.
 */
#ifndef SYMBOLIZE_NATIVE_SYMBOLS_H
#define SYMBOLIZE_NATIVE_SYMBOLS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/jvm/jvm_root.h"

struct native_symbol {
    uint64_t offset, n_bytes; /* in the file */
    const char *name;         /* as the linker knows it */
};

struct native_symbols {
    const struct native_symbol *all; /* by offset, one for each */
    size_t n;
    /* Where they are from, in words: ".symtab", ".symtab of /usr/lib/debug/...", ".dynsym (exported functions only)",
     * "none". */
    const char *from;
};

/*
 * The functions of a file in which these n offsets in it are, in any order.
 *
 * file      open (else errno says why not); with its root directory, in which separate files are
 * build_id  in hexadecimal: a file with another one is refused; "" takes any
 * debug     directories with separate files, parted by colons: "/usr/lib/debug"
 *
 * A table is gone through once, and not sorted: a JVM's has 57,000 names, and few are asked for.  What is found lives
 * in the arena.  Returns 0, or -1 with *err set: no such file, not ELF, another build.  A file without any
 * symbols is no error.
 */
int native_symbols_find(struct arena *arena, const struct jvm_file *file, const char *build_id, const char *debug,
                        const uint64_t *offsets, size_t n, struct native_symbols *symbols, struct err *err);

#define NATIVE_SYMBOLS_DEBUG "/usr/lib/debug"

/* The one of them at an offset in the file, or NULL: there is none, or it has no name. */
const struct native_symbol *native_symbols_at(const struct native_symbols *symbols, uint64_t offset);

/*
 * Names of a function in the order of its scopes, as far as its mangled name (Itanium C++ ABI) says them without
 * templates' arguments and parameters: "G1CollectedHeap::do_collection_pause_at_safepoint", "Foo<>::bar".  A name that
 * is not mangled, or in an unusual way, is as it is, but for what the compiler appended (".part.0", ".constprop.1").
 * Lives in the arena.
 *
 * Not __cxa_demangle: of a name of 231 bytes, which a hostile library may have, it makes 140 MB in ten seconds.
 */
const char *native_symbols_display(struct arena *arena, const char *name);

#endif
