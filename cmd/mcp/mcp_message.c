/* JSON-RPC 2.0, one message a line, as the Model Context Protocol has it: no batches, no ID that is null. */
#include "cmd/mcp/mcp.h"
#include "core/base/utf8.h"

#define ID_MAX 9007199254740992.0 /* larger integers have no exact double */

/* Without a NUL, and nothing malformed. */
static bool is_utf8(const char *text, size_t n)
{
    char one[UTF8_BYTES_MAX];
    for (const char *at = text, *end = text + n; at < end;) {
        const char *before = at;
        char *behind = utf8_put(one, utf8_take(&at, end));
        if (behind - one != at - before || memcmp(one, before, (size_t)(at - before)) != 0)
            return false;
    }
    return true;
}

bool mcp_is_id(const cJSON *id)
{
    if (cJSON_IsString(id))
        return strlen(id->valuestring) <= MCP_ID_BYTES / 6; /* as \u001b */
    return cJSON_IsNumber(id) && fabs(id->valuedouble) <= ID_MAX && nearbyint(id->valuedouble) == id->valuedouble;
}

static int refuse(const char **why, const char *text, int code)
{
    *why = text;
    return code;
}

static int read_members(struct mcp_message *message, const char **why)
{
    const cJSON *json = message->json;
    if (!cJSON_IsObject(json))
        return refuse(why, "a message is one object", MCP_INVALID_REQUEST);
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(json, "jsonrpc");
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(json, "id");
    const cJSON *method = cJSON_GetObjectItemCaseSensitive(json, "method");
    message->params = cJSON_GetObjectItemCaseSensitive(json, "params");
    message->id = id != NULL && mcp_is_id(id) ? id : NULL;
    if (!cJSON_IsString(version) || strcmp(version->valuestring, "2.0") != 0)
        return refuse(why, "\"jsonrpc\" must be \"2.0\"", MCP_INVALID_REQUEST);
    if (id != NULL && message->id == NULL)
        return refuse(why, "\"id\" must be an integer or a short string", MCP_INVALID_REQUEST);
    bool is_answer = method == NULL && (cJSON_HasObjectItem(json, "result") || cJSON_HasObjectItem(json, "error"));
    if (!is_answer && !cJSON_IsString(method))
        return refuse(why, "\"method\" must be a string", MCP_INVALID_REQUEST);
    if (message->params != NULL && !cJSON_IsObject(message->params))
        return refuse(why, "\"params\" must be an object", MCP_INVALID_REQUEST);
    message->method = is_answer ? NULL : method->valuestring;
    return 0;
}

int mcp_message_read(struct mcp_message *message, const char *line, size_t n, const char **why)
{
    *message = (struct mcp_message){ .json = NULL };
    if (n > MCP_LINE_BYTES)
        return refuse(why, "the message is longer than 64 KB", MCP_INVALID_REQUEST);
    const char *end = NULL;
    message->json = is_utf8(line, n) ? cJSON_ParseWithLengthOpts(line, n, &end, false) : NULL;
    while (message->json != NULL && end < line + n && strchr(" \t\r", *end) != NULL)
        end++;
    if (message->json == NULL || end != line + n)
        return refuse(why, "the message is no JSON", MCP_PARSE_ERROR);
    return read_members(message, why);
}

void mcp_message_free(struct mcp_message *message)
{
    cJSON_Delete(message->json);
    *message = (struct mcp_message){ .json = NULL };
}
