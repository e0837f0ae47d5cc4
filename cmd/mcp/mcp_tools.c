/* What tools there are, and whether their arguments are what mcp_tools.json allows: the part of JSON Schema in there.
 */
#include "cmd/mcp/mcp.h"

#include <regex.h>

extern const unsigned char mcp_tools_text[]; /* ends with 0 */

cJSON *mcp_tools(void)
{
    return cJSON_Parse((const char *)mcp_tools_text);
}

const cJSON *mcp_tools_find(const cJSON *tools, const char *name)
{
    const cJSON *tool;
    cJSON_ArrayForEach(tool, tools)
    {
        if (strcmp(cJSON_GetObjectItemCaseSensitive(tool, "name")->valuestring, name) == 0)
            return tool;
    }
    return NULL;
}

static double limit(const cJSON *schema, const char *key, double otherwise)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(schema, key);
    return number == NULL ? otherwise : number->valuedouble;
}

static int check_integer(const cJSON *schema, const cJSON *value, struct err *err)
{
    double least = limit(schema, "minimum", 0), most = limit(schema, "maximum", 0);
    if (cJSON_IsNumber(value) && value->valuedouble == nearbyint(value->valuedouble) && value->valuedouble >= least &&
        value->valuedouble <= most)
        return 0;
    return err_set(err, "'%s' must be an integer from %.0f to %.0f", value->string, least, most);
}

static bool fits_pattern(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool fits = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return fits;
}

static int check_string(const cJSON *schema, const cJSON *value, struct err *err)
{
    const cJSON *pattern = cJSON_GetObjectItemCaseSensitive(schema, "pattern");
    double most = limit(schema, "maxLength", 0);
    if (!cJSON_IsString(value) || (double)strlen(value->valuestring) > most)
        return err_set(err, "'%s' must be a string of at most %.0f bytes", value->string, most);
    if (pattern == NULL || fits_pattern(pattern->valuestring, value->valuestring))
        return 0;
    return err_set(err, "'%s' must be one of: %s", value->string,
                   cJSON_GetObjectItemCaseSensitive(schema, "description")->valuestring);
}

int mcp_tools_check(const cJSON *tool, const cJSON *arguments, struct err *err)
{
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(tool, "inputSchema"), *item;
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(schema, "properties");
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(schema, "required"))
    {
        if (cJSON_GetObjectItemCaseSensitive(arguments, item->valuestring) == NULL)
            return err_set(err, "the argument '%s' is missing", item->valuestring);
    }
    cJSON_ArrayForEach(item, arguments)
    {
        const cJSON *of = cJSON_GetObjectItemCaseSensitive(properties, item->string);
        if (of == NULL)
            return err_set(err, "there is no argument '%.64s'", item->string);
        const char *type = cJSON_GetObjectItemCaseSensitive(of, "type")->valuestring;
        int rc = strcmp(type, "integer") == 0 ? check_integer(of, item, err) : check_string(of, item, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}
