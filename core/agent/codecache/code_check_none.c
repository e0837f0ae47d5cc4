/* Nothing is checked; what checks is linked in its place for tests (test/agent/code_check.c). */
#include "core/agent/codecache/code_check.h"

bool code_check_is_wanted(void)
{
    return false;
}

void code_check_start(void)
{
}

void code_check_stop(void)
{
}

bool code_check_is_on(void)
{
    return false;
}

void code_check_method(const struct code_entry *told)
{
    (void)told;
}

void code_check_compiled(const struct code_entry *told, uint64_t told_ns)
{
    (void)told, (void)told_ns;
}
