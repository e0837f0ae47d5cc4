#include "core/jvm/jvm_memory.h"

#include "core/jvm/attach.h"

/* "64.00 MB", "512.00 KB", "17 bytes"; *bytes is left alone where there is no such text. */
static const char *parse_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = { { "bytes", 1 }, { "KB", 1024 }, { "MB", 1048576 }, { "GB", 1073741824 } };
    char *end;
    double number = strtod(text, &end);
    if (end == text || number < 0 || number > 1e12)
        return NULL;
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp(end, units[i].unit, strlen(units[i].unit)) == 0) {
            *bytes = (uint64_t)(number * units[i].bytes);
            return end;
        }
    return NULL;
}

/* Behind the word, after that which stands before it in the report; or NULL. */
static const char *behind(const char *report, const char *before, const char *word)
{
    const char *at = report == NULL ? NULL : strstr(report, before);
    at = at == NULL ? NULL : strstr(at, word);
    return at == NULL ? NULL : at + strlen(word);
}

int jvm_metaspace_parse(const char *report, struct jvm_metaspace *metaspace)
{
    const char *max = behind(report, "MaxMetaspaceSize:", ":");
    const char *both = behind(report, "Virtual space:", "Both:");
    const char *committed = behind(both, "reserved,", ",");
    /* Only the long report has it: "deallocated: 8730 blocks with 2.31 MB". */
    const char *back = behind(behind(report, "Usage", "Both:"), "deallocated:", "with");
    memset(metaspace, 0, sizeof *metaspace);
    metaspace->max_bytes = METASPACE_ANY;
    if (max == NULL || committed == NULL || parse_size(committed, &metaspace->committed_bytes) == NULL)
        return -1;
    max += strspn(max, " ");
    if (strncmp(max, "unlimited", strlen("unlimited")) != 0 && parse_size(max, &metaspace->max_bytes) == NULL)
        return -1;
    if (back != NULL)
        parse_size(back, &metaspace->free_bytes);
    return 0;
}

uint64_t jvm_metaspace_room(const struct jvm_metaspace *metaspace)
{
    if (metaspace->max_bytes == METASPACE_ANY)
        return METASPACE_ANY;
    uint64_t limit = metaspace->max_bytes - metaspace->max_bytes / 4,
             last = metaspace->max_bytes - metaspace->max_bytes / 8;
    uint64_t room = metaspace->committed_bytes < limit ? limit - metaspace->committed_bytes : 0;
    /* In small pieces, and of some loaders: what does not fit takes from the rest. */
    uint64_t rest = metaspace->committed_bytes < last ? last - metaspace->committed_bytes : 0;
    uint64_t back = metaspace->free_bytes / 2 < rest ? metaspace->free_bytes / 2 : rest;
    return room > back ? room : back;
}

int jvm_metaspace_ask(const struct jvm_process *process, struct guest *guest, struct jvm_metaspace *metaspace,
                      struct err *err)
{
    char report[JVM_ANSWER_BYTES];
    const struct jvm_metaspace unknown = { METASPACE_ANY, 0, 0 };
    if (jvm_attach_jcmd(process, guest, "VM.metaspace basic", report, err) < 0)
        return -1;
    bool is_limited = jvm_metaspace_parse(report, metaspace) == 0 && metaspace->max_bytes != METASPACE_ANY;
    /* The long report stops the JVM for a moment. */
    if (is_limited && jvm_attach_jcmd(process, guest, "VM.metaspace", report, err) < 0)
        return -1;
    if (!is_limited || jvm_metaspace_parse(report, metaspace) < 0)
        *metaspace = unknown;
    return 0;
}
