/* Memory address trace, in three lines (thesis §2.4.1, Figure 2.4): mmprof memtrace --tool=example_addresses.so -o FILE
 */
#include <mmprof_tool.h>

static void on_access(const struct mmprof_access *a)
{
    fprintf(mmprof_out, "access by insn @ %#llx to memory location %#llx of size %u\n",
            (unsigned long long)a->instruction, (unsigned long long)a->address, a->bytes);
}

MMPROF_TOOL(.access = on_access)
