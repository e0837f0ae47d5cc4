/* Answers of JVMs to the command that loads an agent, as each release gives them. */
#include "core/jvm/attach.h"

#include "test/unit/tap.h"

#include <string.h>

static const struct {
    const char *claim, *answer;
    int result;       /* -100: refused */
    const char *says; /* a part of the message then */
} rows[] = {
    { "JDK 11 and later: loaded", "0\nreturn code: 0\n", 0, NULL },
    { "the agent refused", "0\nreturn code: -1\n", -1, NULL },
    { "JDK 8: loaded", "0\n0\n", 0, NULL },
    { "JDK 8: the agent refused", "0\n7\n", 7, NULL },
    { "JDK 8: no such library", "-1\n", -100, "cannot load '/agent.so'" },
    { "JDK 17: no such library", "0\n/agent.so was not loaded.\n/agent.so: cannot open shared object file\n", -100,
      "was not loaded" },
    { "agents are forbidden", "0\nDynamic agent loading is not enabled\n", -100, "EnableDynamicAgentLoading" },
    { "a text that begins with a number", "0\n0 agents may be loaded\n", -100, "0 agents may be loaded" },
    { "a line that does not end", "0\n0", -100, "cannot load" },
    { "nothing", "", -100, "cannot load" },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = { "" };
        int result = -100, rc = jvm_attach_parse(rows[i].answer, "/agent.so", &result, &err);
        CHECK(rows[i].claim, rc == (rows[i].result == -100 ? -1 : 0) && result == rows[i].result &&
                                 (rows[i].says == NULL || strstr(err.text, rows[i].says) != NULL));
    }
    return tap_done();
}
