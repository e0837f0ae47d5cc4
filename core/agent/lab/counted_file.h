/*
 * The file that an agent writes what it has counted to, as text; of the JVMs that a command starts, the first one's.
 */
#ifndef CORE_AGENT_LAB_COUNTED_FILE_H
#define CORE_AGENT_LAB_COUNTED_FILE_H

/*
 * Take an empty file, and write its first line, with a line feed.  Returns a descriptor to append to, or -1: another
 * JVM has it or had it, or it cannot be written.
 */
int counted_file_take(const char *path, const char *first_line);

/* A word (core/base/words.h) and a blank; "-" for an empty one.  Returns where they end. */
char *counted_file_word(char *to, const char *word);

/* "Ljava/lang/String;" as "java/lang/String", in place; arrays and primitive types stay. */
void counted_file_plain_class(char *signature);

#endif
