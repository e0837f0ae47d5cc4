/*
 * What the agent is asked to do: the configuration that a plan makes.
 */
#include "core/recorder/metadata.h"

#include "test/unit/tap.h"

#include <stdlib.h>

static char *const command[] = { "java", NULL };

/* Does the configuration have this line? */
static bool has_line(const struct recorder_plan *plan, const char *line)
{
    char *text = metadata_config(plan);
    const char *at = text == NULL ? NULL : strstr(text, line);
    bool has = at != NULL && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
    free(text);
    return has;
}

static void test_code(void)
{
    const struct recorder_plan ip_samples = { .argv = command, .ip_samples_hz = 100 },
                               live = { .argv = command, .is_live = true }, neither = { .argv = command },
                               lines = { .pid = 1, .ip_samples_hz = 100, .wants_lines = true },
                               started_lines = { .argv = command, .ip_samples_hz = 100, .wants_lines = true };
    CHECK("the code in which IP samples are is asked for",
          has_line(&ip_samples, "code_map") && has_line(&ip_samples, "code_asked"));
    CHECK("a live recording knows what code there is, with IP samples or without", has_line(&live, "code_asked"));
    CHECK("and is told to the agent as one", has_line(&live, "live") && !has_line(&ip_samples, "live"));
    CHECK("where nobody needs it, nothing is told of code",
          !has_line(&neither, "code_asked") && !has_line(&neither, "code_map"));
    CHECK("lines of a JVM that runs already need all code",
          has_line(&lines, "code_map") && !has_line(&lines, "code_asked"));
    CHECK("not those of one that is started with them", has_line(&started_lines, "code_asked"));
}

int main(void)
{
    test_code();
    return tap_done();
}
