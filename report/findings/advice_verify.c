/* The command that verifies a hint. */
#include "report/findings/advice_internal.h"

#include "core/trace/recording_info.h"

#include <string.h>

#define COMMAND_SHOWN 400 /* bytes; a longer one is not repeated */

/* The program's command: its launcher, and the rest.  What is not known, or too long, stands for itself. */
static const char *command_of(const struct findings_making *making, const char **rest)
{
    const char *command = info_text(making->source->reader, INFO_JVM_COMMAND);
    size_t n = command == NULL ? 0 : strcspn(command, " ");
    *rest = "...";
    if (n == 0 || command[n] == '\0' || strlen(command) > COMMAND_SHOWN || strchr(command, '\'') != NULL)
        return "java";
    *rest = command + n + 1;
    return arena_text(making->source->arena, command, n);
}

const char *advice_verify(const struct findings_making *making, const struct advice_rule *rule)
{
    struct arena *arena = making->source->arena;
    const char *rest, *launcher = command_of(making, &rest);
    const char *clock = rule->is_waiting ? " --clock wall" : "";
    if (launcher == NULL)
        return NULL;
    if (rule->option == NULL)
        return arena_printf(arena,
                            "record both versions in turns, two runs of each or more: mmprof diff%s --before old*.dat "
                            "--after new*.dat",
                            clock);
    const char *first = rule->training == NULL ? "" : arena_printf(arena, "%s %s %s; ", launcher, rule->training, rest);
    if (first == NULL)
        return NULL;
    return arena_printf(arena, "%smmprof diff --until 5%%%s --before '%s %s' --after '%s %s %s'", first, clock,
                        launcher, rest, launcher, rule->option, rest);
}
