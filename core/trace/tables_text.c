/* The strings of a trace. */
#include "core/trace/trace_tables.h"

#include "core/base/text.h"

const char *tables_text(struct tables *tables, struct cursor *c, const char *hint, enum tables_result *result)
{
    uint64_t n = cursor_number(c);
    const uint8_t *bytes = n > STRING_MAX_BYTES ? NULL : cursor_bytes(c, (size_t)n);
    if (c->bad || bytes == NULL || memchr(bytes, '\0', (size_t)n) != NULL) {
        *result = TABLES_DAMAGED;
        return NULL;
    }
    if (hint != NULL && strncmp(hint, (const char *)bytes, (size_t)n) == 0 && hint[n] == '\0')
        return hint;
    return text_utf8(&tables->arena, (const char *)bytes, (size_t)n);
}
