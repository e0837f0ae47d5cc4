/* Any bytes as a message to 'mmprof mcp': it is refused with a code, or it is a request whose arguments are checked. */
#include "cmd/mcp/mcp.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void hold(bool condition)
{
    if (!condition)
        abort();
}

/* Whatever is allowed has a short handle, and a view that is no option. */
static void check(const cJSON *tool, const cJSON *arguments)
{
    struct err err = { "" };
    const cJSON *view = cJSON_GetObjectItemCaseSensitive(arguments, "view");
    if (mcp_tools_check(tool, arguments, &err) < 0)
        hold(err.text[0] != '\0');
    else if (view != NULL)
        hold(view->valuestring[0] >= 'a' && view->valuestring[0] <= 'z');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static cJSON *tools;
    struct mcp_message message;
    const char *why = NULL;
    if (tools == NULL)
        tools = mcp_tools();
    int code = mcp_message_read(&message, (const char *)bytes, n, &why);
    hold((code == 0) == (why == NULL) && (code == 0 || code <= MCP_INVALID_REQUEST));
    if (code == 0 && message.method != NULL) {
        const cJSON *tool, *arguments = cJSON_GetObjectItemCaseSensitive(message.params, "arguments");
        cJSON_ArrayForEach(tool, tools)
        {
            if (arguments == NULL || cJSON_IsObject(arguments))
                check(tool, arguments);
        }
    }
    mcp_message_free(&message);
    return 0;
}
