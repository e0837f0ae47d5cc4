/*
 * The checksums of a Parquet file's pages: engines read a page whose bits have changed, and answer with what it says
 * then.
 *
 * Source: https://github.com/apache/parquet-format, PageHeader in parquet.thrift.
 */
#ifndef REPORT_FLEET_PARQUET_CHECKSUMS_H
#define REPORT_FLEET_PARQUET_CHECKSUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARQUET_PAGE_HEADER_MAX 4096

struct parquet_page {
    int64_t n_bytes; /* behind the header */
    uint32_t checksum;
    bool has_checksum;
};

/* Decode a page's header.  Returns its length, or 0: it is none, or longer than n bytes. */
size_t parquet_page_header(const uint8_t *bytes, size_t n, struct parquet_page *page);

/* Returns whether a page does not fit its checksum, or is none; false of a file without checksums, or not readable. */
bool parquet_is_damaged(const char *path);

#endif
