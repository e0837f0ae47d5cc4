#include "core/agent/control/wanted.h"

#include "core/agent/control/config.h"

#include <stdlib.h>
#include <string.h>

struct wanted {
    struct agent_config config;
};

struct wanted *wanted_open(int config_fd, struct err *err)
{
    struct wanted *wanted = calloc(1, sizeof *wanted);
    if (wanted != NULL && config_read(&wanted->config, config_fd, err) == 0)
        return wanted;
    if (wanted == NULL)
        err_set(err, "out of memory");
    wanted_close(wanted);
    return NULL;
}

void wanted_close(struct wanted *wanted)
{
    if (wanted == NULL)
        return;
    config_free(&wanted->config);
    free(wanted);
}

static struct rewrite_text text_of(const char *text)
{
    return (struct rewrite_text){ text, strlen(text) };
}

bool wanted_method(const struct wanted *wanted, const char *class_name, const char *name, const char *descriptor,
                   uint32_t code_bytes, bool has_loop)
{
    const struct rewrite_method about = { .class_name = text_of(class_name),
                                          .name = text_of(name),
                                          .descriptor = text_of(descriptor),
                                          .code_bytes = code_bytes,
                                          .has_loop = has_loop };
    return config_wants_class(&wanted->config, about.class_name.at, about.class_name.n) &&
           config_wants_method(&wanted->config, &about);
}
