/*
 * Line numbers of Kotlin's inline functions.
 *
 * kotlinc gives code that it inlines line numbers behind the file's last one, and says in the class's
 * SourceDebugExtension (an SMAP, JSR 45) what they stand for: the stratum 'Kotlin' has the inlined function's lines,
 * 'KotlinDebug' the line of the file that calls it.
 */
#ifndef CORE_WIRE_SMAP_H
#define CORE_WIRE_SMAP_H

#include "core/wire/code_log.h"

#define SMAP_BYTES_MAX 32768u /* of longer ones, what is behind is not read */

/* Is it the source file of a class that may have such lines? */
bool smap_is_of(const char *source, size_t n);

/*
 * In place of each line that is behind the file's last one: the line that calls the inlined function; 0: not known.
 * smap: n bytes, which anybody may have written.  Other lines stay, and all do where the text is no SMAP of Kotlin's.
 */
void smap_take_calls(const char *smap, size_t n, struct code_line *lines, uint32_t n_lines);

#endif
