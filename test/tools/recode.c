/*
 * The same trace in the present code:   recode OLD NEW
 *
 * All chunks are kept but those of RECORDS, whose records are encoded anew, and the version.  What is printed of OLD
 * and of NEW must be the same, byte for byte.
 */
#include "core/trace/chunks.h"
#include "core/trace/decode.h"
#include "core/trace/encode.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N_BATCH 4096

struct recoding {
    FILE *out;
    struct decoder decoder;
    struct encoder encoder;
    uint64_t *words; /* of one chunk */
    size_t n_words, room;
    uint64_t last_ticks;
    uint64_t n_records;
};

static void put_chunk(struct recoding *r, const struct chunk *chunk, unsigned flags, const uint8_t *payload, size_t n)
{
    uint8_t header[CHUNK_HEADER_BYTES];
    encode_header(header, chunk->type, flags, chunk->thread, payload, n);
    fwrite(header, 1, sizeof header, r->out);
    fwrite(payload, 1, n, r->out);
}

static void put_version(struct recoding *r)
{
    uint8_t bytes[FILE_HEADER_BYTES];
    struct sink s = sink_into(bytes, sizeof bytes);
    sink_bytes(&s, FILE_MAGIC, FILE_MAGIC_BYTES);
    sink_u16le(&s, FORMAT_MAJOR);
    sink_u16le(&s, FORMAT_MINOR);
    sink_u32le(&s, 0);
    fwrite(bytes, 1, sizeof bytes, r->out);
}

static void keep(struct recoding *r, const struct trace_record *record)
{
    size_t n = 1 + r->decoder.n_counters;
    if (r->n_words + n > r->room) {
        r->room = r->room * 2 + 65536;
        r->words = realloc(r->words, r->room * sizeof *r->words);
        if (r->words == NULL)
            abort();
    }
    r->words[r->n_words] = ring_word((enum ring_kind)record->kind, record->operand, record->ticks);
    memcpy(r->words + r->n_words + 1, r->decoder.counters, r->decoder.n_counters * sizeof *r->words);
    r->n_words += n;
    r->last_ticks = record->ticks;
    r->n_records++;
}

static int recode_records(struct recoding *r, const struct chunk *chunk)
{
    static uint8_t payload[RECORDS_PAYLOAD_BYTES];
    static struct trace_record records[N_BATCH];
    size_t n;
    enum decode_result result = decode_begin(&r->decoder, chunk->payload, chunk->payload_bytes, chunk->flags);
    uint64_t first = r->decoder.base;
    r->n_words = 0;
    r->encoder.n_counters = r->decoder.n_counters;
    while (result == DECODE_OK && !decode_is_done(&r->decoder)) {
        result = decode_records(&r->decoder, records, N_BATCH, &n);
        for (size_t i = 0; i < n; i++)
            keep(r, &records[i]);
    }
    for (size_t used; r->n_words > 0 && result == DECODE_OK; r->n_words -= used) {
        used = r->n_words;
        size_t n_bytes = encode_predicted(&r->encoder, r->words, &used, r->last_ticks, &first, payload);
        put_chunk(r, chunk, CHUNK_FLAG_PREDICTED | (unsigned)r->encoder.n_counters, payload, n_bytes);
        memmove(r->words, r->words + used, (r->n_words - used) * sizeof *r->words);
    }
    return result == DECODE_OK ? 0 : -1;
}

int main(int argc, char **argv)
{
    static struct recoding r;
    struct chunk_source source;
    struct chunk chunk;
    struct err err = { "" };
    int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || (r.out = fopen(argv[2], "wb")) == NULL) {
        fprintf(stderr, "usage: recode OLD NEW\n");
        return 1;
    }
    int rc = chunks_open(&source, fd, NULL, 0, argv[1], false, &err);
    put_version(&r);
    while (rc == 0 && (rc = chunks_next(&source, &chunk, &err)) > 0) {
        rc = 0;
        if (chunk.type == CHUNK_RECORDS)
            rc = recode_records(&r, &chunk);
        else
            put_chunk(&r, &chunk, chunk.flags, chunk.payload, chunk.payload_bytes);
    }
    printf("%llu records\n", (unsigned long long)r.n_records);
    chunks_close(&source);
    decode_free(&r.decoder);
    free(r.words);
    if (rc < 0 || fclose(r.out) != 0)
        fprintf(stderr, "recode: %s\n", err.text[0] != '\0' ? err.text : "a chunk is damaged, or writing failed");
    return rc < 0;
}
