/* Whatever a page's header says, it is none, or as long as its bytes at most, with a size that is not negative. */
#include "report/fleet/parquet_pages.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct parquet_page page;
    size_t length = parquet_page_header(data, n, &page);
    if (length > n || (length > 0 && page.n_bytes < 0))
        abort();
    return 0;
}
