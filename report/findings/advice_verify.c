/*
 * The commands that verify a hint.  They can be pasted into a shell: the program's command stands in them with its
 * words quoted, and 'mmprof diff' runs it anew where an option of its JVM is tried.  A JVM that the recording was
 * attached to ends when it likes, and is recorded again; so is a program that is changed.
 */
#include "report/findings/advice_internal.h"

#include "core/base/words.h"
#include "core/trace/recording_info.h"

#define QUOTES_GROWTH 4 /* bytes become so many at most where they stand in quotes */

/* Does it end with what words_append_quoted puts where it cuts? */
static bool is_cut(const char *command)
{
    size_t n = strlen(command);
    return n >= 3 && strcmp(command + n - 3, "...") == 0;
}

/* Does a shell read it as it was?  Not that of an old recording, which has no quotes. */
static bool is_for_shell(const char *command)
{
    bool is_quoted = false;
    for (const char *at = command; *at != '\0'; at++) {
        if (*at == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && *at == '\\' && at[1] == '\'')
            at++;
        else if (!is_quoted && strchr(";&|<>()$`\"*?[]#~!{}\\\n", *at) != NULL)
            return false;
    }
    return !is_quoted;
}

/* The program's command: its launcher, and the rest.  Returns whether it is known: else they are "java" and "...". */
static bool command_of(const struct findings_making *making, const char **launcher, const char **rest)
{
    const char *command = info_text(making->source->reader, INFO_JVM_COMMAND);
    size_t n = command == NULL ? 0 : strcspn(command, " ");
    *launcher = "java";
    *rest = "...";
    if (n == 0 || command[n] == '\0' || is_cut(command) || !is_for_shell(command))
        return false;
    *launcher = arena_text(making->source->arena, command, n);
    *rest = command + n + 1;
    return true;
}

/* ---- an AOT cache ---- */

/* The class path among a command's words, as an option has it; NULL: none, or one in quotes. */
static const char *class_path_of(const char *words, size_t *n)
{
    static const char *const options[] = { "-cp ", "-classpath ", "--class-path " };
    for (const char *at = words; at != NULL; at = strchr(at, ' ') == NULL ? NULL : strchr(at, ' ') + 1)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (strncmp(at, options[i], strlen(options[i])) == 0) {
                at += strlen(options[i]);
                *n = strcspn(at, " ");
                return memchr(at, '\'', *n) == NULL ? at : NULL;
            }
    return NULL;
}

static bool is_directory(const char *entry, size_t n)
{
    return n > 0 && !(n > 4 && memcmp(entry + n - 4, ".jar", 4) == 0);
}

/*
 * A JVM makes no cache of classes in directories.  The words with a JAR in the place of each directory of their class
 * path, and *make, the commands that fill these.
 */
static const char *with_jars(struct arena *arena, const char *words, const char **make)
{
    size_t n = 0, n_made = 0;
    const char *path = class_path_of(words, &n);
    *make = "";
    if (path == NULL)
        return words;
    const char *made = arena_text(arena, words, (size_t)(path - words)), *end = path + n;
    for (const char *at = path; at < end;) {
        size_t length = strcspn(at, ": ");
        bool is_made = is_directory(at, length);
        if (is_made)
            *make = arena_printf(arena, "%sjar -c -f app%zu.jar -C %.*s . && ", *make, ++n_made, (int)length, at);
        made = is_made ? arena_printf(arena, "%s%sapp%zu.jar", made, at == path ? "" : ":", n_made)
                       : arena_printf(arena, "%s%s%.*s", made, at == path ? "" : ":", (int)length, at);
        at += length + (at + length < end ? 1 : 0);
    }
    return arena_printf(arena, "%s%s", made, end);
}

/* ---- commands ---- */

/* A command, of which some words may be "", as a shell's one word. */
static const char *as_word(struct arena *arena, const char *launcher, const char *option, const char *rest)
{
    const char *command = arena_printf(arena, "%s %s%s%s", launcher, option, *option == '\0' ? "" : " ", rest);
    size_t room = QUOTES_GROWTH * strlen(command) + 3;
    char *word = arena_alloc(arena, room);
    words_append_quoted(word, room, command);
    return word;
}

/*
 * Recordings of both versions, and what compares them.  They wait for the change, or for the PID of the JVM that has
 * it, on the terminal.  change: what it is; NULL: the hint's action says that.
 */
static const char *record_both(const struct findings_making *making, const char *clock, const char *change)
{
    struct arena *arena = making->source->arena;
    const char *launcher, *rest, *compare = "--before old1 old2 old3 --after new1 new2 new3";
    if (info_text(making->source->reader, INFO_JVM_ATTACHED) != NULL || !command_of(making, &launcher, &rest))
        return arena_printf(arena,
                            "for v in old new; do printf \"PID of the $v JVM: \"; read pid; for i in 1 2 3; do mmprof "
                            "profile -q -o $v$i $pid > /dev/null; done; done; mmprof diff%s %s%s%s",
                            clock, compare, change == NULL ? "" : " # new: started with ",
                            change == NULL ? "" : change);
    return arena_printf(
        arena,
        "for v in old new; do for i in 1 2 3; do mmprof profile -q -o $v$i -- %s %s > /dev/null; done; [ $v = new ] "
        "|| { printf 'Make the change, then press Enter: '; read x; }; done; mmprof diff%s %s",
        launcher, rest, clock, compare);
}

const char *advice_verify(const struct findings_making *making, const struct advice_rule *rule)
{
    struct arena *arena = making->source->arena;
    const char *launcher, *rest, *clock = rule->is_waiting ? " --clock wall" : "";
    if (rule->option == NULL)
        return record_both(making, clock, NULL);
    if (info_text(making->source->reader, INFO_JVM_ATTACHED) != NULL)
        return record_both(making, clock, rule->option);
    const char *make = "";
    bool is_known = command_of(making, &launcher, &rest);
    if (rule->training != NULL)
        rest = with_jars(arena, rest, &make);
    const char *others = advice_without(arena, rest, rule->option);
    const char *before = as_word(arena, launcher, "", rest), *after = as_word(arena, launcher, rule->option, others),
               *first = rule->training == NULL
                            ? ""
                            : arena_printf(arena, "%s%s %s %s && ", make, launcher, rule->training, rest);
    return arena_printf(arena, "%smmprof diff --until 5%%%s --before %s --after %s%s", first, clock, before, after,
                        is_known ? "" : " (... is the rest of its command, which the recording does not have whole)");
}
