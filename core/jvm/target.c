#include "core/jvm/target.h"

#define LISTED_MAX    8  /* in a message */
#define COMMAND_CHARS 90 /* of each */

#define FITS_PART  1u
#define FITS_LOWER 2u
#define FITS_NAME  3u

/* ---- by name ---- */

typedef int compare(const char *a, const char *b);
typedef int compare_n(const char *a, const char *b, size_t n);

/* Is it the whole of main, or what stands behind some dot or slash? */
static bool is_named(const char *main, const char *name, compare *same, compare_n *same_n)
{
    size_t n = strlen(main), n_name = strlen(name);
    bool is_jar = n > 4 && strcmp(main + n - 4, ".jar") == 0;
    for (const char *at = main;; at++) {
        if (same(at, name) == 0 || (is_jar && strlen(at) == n_name + 4 && same_n(at, name, n_name) == 0))
            return true;
        at = strpbrk(at, is_jar ? "/" : "/.");
        if (at == NULL)
            break;
    }
    return false;
}

/*
 * How well a name fits a JVM; 0: not at all.  The best is that of its main class (simple or qualified) or jar (with or
 * without folders and ".jar"), then the same but for upper and lower case, then a part of its command line.
 */
static unsigned fits_of(const struct jvm_running *jvm, const char *name)
{
    if (name[0] == '\0')
        return 0;
    if (is_named(jvm->main, name, strcmp, strncmp))
        return FITS_NAME;
    if (is_named(jvm->main, name, strcasecmp, strncasecmp))
        return FITS_LOWER;
    return strcasestr(jvm->command, name) != NULL ? FITS_PART : 0;
}

/* ---- in messages ---- */

/* Its main class or jar with what follows it; the JVM's own options would hide it. */
static const char *words_of(const struct jvm_running *jvm)
{
    const char *at = jvm->main[0] == '\0' ? NULL : strstr(jvm->command, jvm->main);
    return at == NULL ? jvm->command : at;
}

/* A line for each that fits so well. */
static void list_jvms(const struct jvm_running *all, size_t n, const char *name, unsigned fits, char *text, size_t room)
{
    size_t used = 0, n_listed = 0, n_more = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *words = words_of(&all[i]);
        if (name != NULL && fits_of(&all[i], name) != fits)
            continue;
        if (n_listed++ >= LISTED_MAX)
            n_more++;
        else
            used += (size_t)snprintf(text + used, room - used, "\n  %7d  %.*s%s", (int)all[i].pid, COMMAND_CHARS, words,
                                     strlen(words) > COMMAND_CHARS ? "..." : "");
    }
    if (n_more > 0)
        snprintf(text + used, room - used, "\n  and %zu more", n_more);
}

static int tell_running(const char *what, const struct jvm_running *all, size_t n, struct err *err)
{
    char list[ERR_TEXT_BYTES / 2];
    if (n == 0) {
        err_set(err, "%s: no JVM runs here that this user can see", what);
        return err_next(err, "start one under mmprof: -- java ...; a JVM that just started may need another second");
    }
    list_jvms(all, n, NULL, 0, list, sizeof list);
    err_set(err, "%s; running JVMs:%s", what, list);
    return err_next(err, "name one by its PID, main class or jar, or start one with -- java ...");
}

int jvm_target_none(const char *what, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct jvm_running *all;
    size_t n;
    if (jvm_running_list(&arena, &all, &n, err) == 0)
        tell_running(what, all, n, err);
    arena_free(&arena);
    return -1;
}

/* ---- finding ---- */

int jvm_target_choose(const struct jvm_running *all, size_t n, const char *name, pid_t *pid, struct err *err)
{
    char text[ERR_TEXT_BYTES / 2];
    unsigned best = 0;
    size_t n_best = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned fits = fits_of(&all[i], name);
        n_best = fits > best ? 1 : n_best + (fits != 0 && fits == best);
        *pid = fits > best ? all[i].pid : *pid;
        best = fits > best ? fits : best;
    }
    if (n_best == 1)
        return 0;
    if (n_best == 0) {
        snprintf(text, sizeof text, "no JVM has '%.200s' as its main class or jar, or in its command line", name);
        return tell_running(text, all, n, err);
    }
    list_jvms(all, n, name, best, text, sizeof text);
    err_set(err, "'%.200s' means one of %zu JVMs:%s", name, n_best, text);
    return err_next(err, "give one of these PIDs");
}

int jvm_target_find(const char *name, pid_t *pid, uint64_t *start_ticks, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct jvm_running *all;
    size_t n;
    if (name[0] != '\0' && name[strspn(name, "0123456789")] == '\0') {
        unsigned long long number = strtoull(name, NULL, 10);
        *pid = (pid_t)number;
        *start_ticks = jvm_process_start_ticks(*pid);
        return number > 0 && number <= INT_MAX ? 0 : err_set(err, "there is no process %.40s", name);
    }
    int rc = jvm_running_list(&arena, &all, &n, err);
    if (rc == 0)
        rc = jvm_target_choose(all, n, name, pid, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (all[i].pid == *pid)
            *start_ticks = all[i].start_ticks;
    arena_free(&arena);
    return rc;
}
