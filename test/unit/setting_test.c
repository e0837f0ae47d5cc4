/* What the recorder tells the agent to do: each setting there and back; those that are damaged; a whole configuration.
 */
#include "core/wire/config.h"
#include "core/wire/setting.h"

#include "test/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As if the kind had them all: what it has not is not in the line. */
static bool survives(enum setting_kind kind)
{
    const struct setting all = { .kind = kind,
                                 .number = UINT32_MAX,
                                 .text = "/a text: 'b c' %20",
                                 .class_name = "a b/%C\t:",
                                 .name = "<init>",
                                 .descriptor = "()V",
                                 .event = { 1, 4, 2, UINT64_MAX, 0x1b, 7 } };
    char *line = malloc(setting_room(&all)), again[512];
    struct setting got;
    size_t n = setting_encode(&all, line);
    printf("# %s\n", line);
    bool fits = n == strlen(line) && n < setting_room(&all);
    char *cut = strdup(line);
    bool same = setting_decode(cut, &got) == 0 && got.kind == kind && setting_encode(&got, again) == n &&
                strcmp(again, line) == 0;
    if (kind == SETTING_PHASE)
        same = same && strcmp(got.class_name, all.class_name) == 0 && strcmp(got.descriptor, "()V") == 0;
    if (kind == SETTING_EVENT)
        same = same && got.event.group == 1 && got.event.exclude == 2 && got.event.config == UINT64_MAX &&
               got.event.config2 == 7;
    free(cut);
    free(line);
    return fits && same;
}

static void test_rows(void)
{
    for (enum setting_kind kind = SETTING_MIN_BYTECODES; kind < SETTING_N_KINDS; kind++) {
        char claim[80];
        snprintf(claim, sizeof claim, "setting %d comes back as it went", (int)kind);
        CHECK(claim, survives(kind));
    }
}

static void test_damaged(void)
{
    static const char *const lines[] = { "",
                                         " ",
                                         ":",
                                         "dance",
                                         "liv",
                                         "lived",
                                         "live ",
                                         "live 1",
                                         "include",
                                         "include ",
                                         "include:a",
                                         "min_bytecodes",
                                         "min_bytecodes x",
                                         "min_bytecodes -1",
                                         "min_bytecodes 5000000000",
                                         "min_bytecodes 1 2",
                                         "phase a b",
                                         "phase a  b",
                                         "phase a b ()V x",
                                         "event 0 0 1 0 0",
                                         "event 0 0 0x1 0 0 2",
                                         "event 0 0 10000000000000000 0 0 2",
                                         "simulated",
                                         "simulated:",
                                         "track_objects:",
                                         "count_objects:",
                                         "count_receivers:/a",
                                         "count_calls:/a",
                                         "count_objects_in:1:/a",
                                         "track_objects 5" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char claim[80], line[80];
        struct setting setting;
        snprintf(claim, sizeof claim, "'%s' is no setting", lines[i]);
        snprintf(line, sizeof line, "%s", lines[i]);
        CHECK(claim, setting_decode(line, &setting) < 0);
    }
}

/* Returns what config_read says of a text: "" if it takes it. */
static const char *refusal(struct agent_config *config, const char *text)
{
    static struct err err;
    int fd = memfd_create("config", MFD_CLOEXEC);
    bool is_read =
        fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && config_read(config, fd, &err) == 0;
    close(fd);
    return is_read ? "" : err.text;
}

static void test_configuration(void)
{
    struct agent_config c;
    CHECK_TEXT("a whole configuration is taken",
               refusal(&c,
                       "min_bytecodes 7\ncode_map\nbegin_later\ninclude a/*\nexclude b/C#m\nphase z/Z m ()V\n"
                       "phase a/A%20 m ()I\nloop a/A l ()V\nevent 0 4 a1b 0 0 2\nevent 1 0 1 0 0 2\nread_by_call\n"),
               "");
    CHECK("with its numbers and flags", c.min_bytecodes == 7 && c.wants_code_map && c.begins_later && !c.is_live &&
                                            !c.asks_for_code && !c.wants_perf_map && c.reads_by_call);
    CHECK("its patterns", c.n_includes == 1 && c.n_excludes == 1 && c.excludes[0].names_methods);
    CHECK("its methods, by class", c.n_phases == 2 && strcmp(c.phases[0].class_name, "a/A ") == 0 && c.n_loops == 1);
    CHECK("and its events", c.n_events == 2 && c.events[1].group == 1 && c.events[0].config == 0xa1b);
    config_free(&c);
    static const struct {
        const char *text, *refusal;
    } rows[] = {
        { "live\ndance 1\n", "unknown or damaged setting 'dance' in the configuration" },
        { "phase a b\n", "unknown or damaged setting 'phase' in the configuration" },
        { "track_objects:7\n", "unknown or damaged setting 'track_objects' in the configuration" },
        { "event 1 0 1 0 0 2\n", "bad groups of events in the configuration" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_TEXT(rows[i].refusal, refusal(&c, rows[i].text), rows[i].refusal);
        config_free(&c);
    }
}

int main(void)
{
    test_rows();
    test_damaged();
    test_configuration();
    return tap_done();
}
