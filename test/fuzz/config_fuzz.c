/* What the recorder tells the agent to do: any bytes; the agent must not fall over them, it is in somebody's JVM. */
#include "core/wire/config.h"
#include "core/wire/setting.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What was understood comes back as it went. */
static void repeat(const uint8_t *bytes, size_t n)
{
    struct setting setting;
    char *line = strndup((const char *)bytes, n);
    if (line == NULL)
        abort();
    if (setting_decode(line, &setting) == 0) {
        char *once = malloc(setting_room(&setting)), *twice = malloc(setting_room(&setting));
        if (once == NULL || twice == NULL || setting_encode(&setting, once) != strlen(once))
            abort();
        memcpy(twice, once, strlen(once) + 1);
        if (setting_decode(twice, &setting) < 0)
            abort();
        char *again = malloc(setting_room(&setting));
        if (again == NULL || setting_encode(&setting, again) != strlen(once) || strcmp(again, once) != 0)
            abort();
        free(once);
        free(twice);
        free(again);
    }
    free(line);
}

static void ask(const struct agent_config *config)
{
    static const struct protocol_method method = {
        .class_name = { "a/B", 3 }, .name = { "run", 3 }, .descriptor = { "()V", 3 }, .code_bytes = 60
    };
    static const char half_a_pair[] = "\xed\xa0\xb5\xed";
    bool wants = config_wants_class(config, "a/B", 3) && config_wants_method(config, &method);
    config_wants_class(config, half_a_pair, sizeof half_a_pair - 1);
    if (wants && config->n_phases > 0 && config->phases == NULL)
        abort();
    config_names_classes(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct agent_config config;
    struct err err;
    repeat(bytes, n);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    if (config_read(&config, fd, &err) == 0)
        ask(&config);
    config_free(&config);
    close(fd);
    return 0;
}
