/*
 * Entries of the file in which a JVM shows its counters.
 */
#ifndef TEST_UNIT_PERF_DATA_MAKER_H
#define TEST_UNIT_PERF_DATA_MAKER_H

#include "core/base/bytes.h"

#include <string.h>

/* A number of 8 bytes (n_vector is 0), or a text of n_vector bytes, its NUL included. */
static inline void put_entry(struct sink *s, char type, const char *name, const void *value, uint32_t n_vector)
{
    uint32_t n_name = (uint32_t)strlen(name) + 1, n_value = n_vector == 0 ? 8 : n_vector;
    uint32_t value_at = (20 + n_name + 7) / 8 * 8, length = value_at + (n_value + 7) / 8 * 8;
    static const uint8_t zeros[256];
    sink_u32le(s, length);
    sink_u32le(s, 20);
    sink_u32le(s, n_vector);
    sink_u8(s, (uint8_t)type);
    sink_bytes(s, zeros, 3);
    sink_u32le(s, value_at);
    sink_bytes(s, name, n_name);
    sink_bytes(s, zeros, value_at - 20 - n_name);
    sink_bytes(s, value, n_value);
    sink_bytes(s, zeros, length - value_at - n_value);
}

#endif
