#include "core/base/call_argument.h"

/* "(1)" and what follows; returns where that is, or NULL. */
static const char *take_number(const char *at, uint32_t *number)
{
    char *end;
    if (at[1] < '0' || at[1] > '9')
        return NULL;
    unsigned long value = strtoul(at + 1, &end, 10);
    *number = (uint32_t)value;
    return *end == ')' && value <= CALL_ARGUMENT_MAX ? end + 1 : NULL;
}

/* "" or ".getName()" */
static int take_accessor(const char *at, char *accessor)
{
    size_t n = strlen(at);
    accessor[0] = '\0';
    if (n == 0)
        return 0;
    if (n < 4 || at[0] != '.' || strcmp(at + n - 2, "()") != 0 || n - 3 >= CALL_ARGUMENT_ACCESSOR)
        return -1;
    memcpy(accessor, at + 1, n - 3);
    accessor[n - 3] = '\0';
    return strpbrk(accessor, ".()#/; \n") == NULL ? 0 : -1;
}

int call_argument_parse(struct call_argument *argument, const char *text)
{
    struct pattern pattern;
    size_t n = strcspn(text, "(");
    const char *rest = text[n] == '\0' ? NULL : take_number(text + n, &argument->number);
    if (rest == NULL || n == 0 || n + 8 > sizeof argument->methods || take_accessor(rest, argument->accessor) < 0)
        return -1;
    memcpy(argument->methods, text, n);
    argument->methods[n] = '\0';
    char *dot = strrchr(argument->methods, '.'), *hash = strchr(argument->methods, '#');
    if (hash == NULL && dot == NULL)
        return -1;
    if (hash == NULL)
        *dot = '#';
    return strpbrk(argument->methods, " \n") == NULL ? pattern_parse(&pattern, argument->methods) : -1;
}
