/*
 * Preloaded into the programs that a command starts: a launcher of Java starts again, with the options that mmprof
 * wants in front of its own, and without what mmprof has put into the environment.
 *
 * The JVM prints a line for options that come in an environment variable (JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS), and
 * none for options on its command line.  A launcher is a program that is linked with libjli; in all others this does
 * nothing.  A JVM that runs no program (java -version) stays as it is.
 */
#include "core/jvm/started.h"

#include "core/jvm/flags.h"

#include <sys/auxv.h>

#define OPTIONS_MAX 8

/* NULL where the program has no such function. */
extern int JLI_Launch(void) __attribute__((weak));
extern const char *gnu_get_libc_version(void) __attribute__((weak)); /* others give a constructor no arguments */

/* ---- what is started ---- */

/* All words, each with its NUL: n bytes.  NULL: no memory. */
static char *join_words(int argc, char **argv, size_t *n)
{
    size_t at = 0;
    *n = 0;
    for (int i = 0; i < argc; i++)
        *n += strlen(argv[i]) + 1;
    char *words = malloc(*n + 1);
    for (int i = 0; words != NULL && i < argc; i++) {
        size_t length = strlen(argv[i]) + 1;
        memcpy(words + at, argv[i], length);
        at += length;
    }
    return words;
}

/* A blank is between words then. */
static bool has_name(char *words, size_t n, const char *name)
{
    for (size_t i = 0; i + 1 < n; i++)
        words[i] = words[i] == '\0' ? ' ' : words[i];
    return name == NULL || strstr(words, name) != NULL;
}

/* It runs a program, and may have an agent: a JVM that writes a class archive would not start. */
static bool is_wanted(int argc, char **argv)
{
    struct jvm_flags flags = { .tiered_stop = 4 };
    size_t n;
    char *words = join_words(argc, argv, &n);
    if (words == NULL)
        return false;
    jvm_flags_command(&flags, words, n);
    bool may = jvm_flags_runs(words, n) && !flags.archive_bars_agents && !flags.may_archive &&
               has_name(words, n, secure_getenv(START_JAVA_NAME));
    free(words);
    return may;
}

/* ---- starting it again ---- */

/* The words, and the options behind the first one.  NULL: no memory. */
static char **with_options(int argc, char **argv, const char *options, const char *prefix)
{
    char **words = calloc((size_t)argc + OPTIONS_MAX + 1, sizeof *words);
    int n = 0;
    if (words == NULL)
        return NULL;
    words[n++] = argv[0];
    while (*options != '\0' && n <= OPTIONS_MAX) {
        int length = (int)strcspn(options, "\n");
        if (asprintf(&words[n++], "%s%.*s", prefix, length, options) < 0)
            return NULL;
        options += length + (options[length] == '\n');
    }
    memcpy(words + n, argv + 1, ((size_t)argc - 1) * sizeof *words);
    return words;
}

static bool is_variable(const char *variable, const char *name)
{
    size_t n = strlen(name);
    return strncmp(variable, name, n) == 0 && variable[n] == '=';
}

/* Without the library, which is the last of the list; NULL: it is the only one. */
static char *preload_before(const char *variable)
{
    const char *last = strrchr(variable, ':');
    return last == NULL ? NULL : strndup(variable, (size_t)(last - variable));
}

static char **environment_before(char **now)
{
    size_t n = 0, at = 0;
    while (now[n] != NULL)
        n++;
    char **before = calloc(n + 1, sizeof *before);
    for (size_t i = 0; before != NULL && i < n; i++) {
        char *variable = now[i];
        if (is_variable(variable, START_JAVA_PRELOAD))
            variable = preload_before(variable);
        else if (is_variable(variable, START_JAVA_OPTIONS) || is_variable(variable, START_JAVA_NAME))
            variable = NULL;
        if (variable != NULL)
            before[at++] = variable;
    }
    return before;
}

static bool is_last(const char *preload)
{
    size_t n = strlen(preload), n_library = strlen("/" START_JAVA_LIBRARY);
    return n > n_library && strcmp(preload + n - n_library, "/" START_JAVA_LIBRARY) == 0;
}

/* Before main.  Where it cannot be started again, it goes on as it is. */
__attribute__((constructor)) static void start_again(int argc, char **argv, char **environment)
{
    if (JLI_Launch == NULL || gnu_get_libc_version == NULL || argc < 1)
        return;
    const char *options = secure_getenv(START_JAVA_OPTIONS), *preload = secure_getenv(START_JAVA_PRELOAD);
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (options == NULL || preload == NULL || !is_last(preload) || n <= 0)
        return;
    program[n] = '\0';
    const char *prefix = jvm_flags_prefix(program);
    if (prefix == NULL || !is_wanted(argc, argv))
        return;
    char **words = with_options(argc, argv, options, prefix), **before = environment_before(environment);
    if (words == NULL || before == NULL)
        return;
    const char *started_as = (const char *)getauxval(AT_EXECFN); /* of which the kernel makes the thread's name */
    if (started_as != NULL)
        execve(started_as, words, before);
    execve(program, words, before);
}
