/* One word of a JVM's options, for flags.h. */
#ifndef CORE_JVM_FLAG_WORDS_H
#define CORE_JVM_FLAG_WORDS_H

#include "core/jvm/flags.h"

/* Take an option into *flags. */
void flag_words_take(struct jvm_flags *flags, const char *word);

/* Is the next word the option's value? */
bool flag_words_has_value(const char *word);

/* Is the word the main class, -jar or -m?  Words behind it are the Java program's. */
bool flag_words_end(const char *word);

#endif
