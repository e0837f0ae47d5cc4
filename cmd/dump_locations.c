#include "cmd/dump.h"

#include "cmd/terminal.h"

static void put_text(FILE *out, struct wire_text text)
{
    terminal_text(out, text.at, text.n);
}

/* "file 1 /usr/lib/libc.so.6, build 1a2b, symbols from .symtab" */
static void dump_file(FILE *out, const struct location_entry *entry)
{
    fprintf(out, "file    %" PRIu32 " ", entry->number);
    put_text(out, entry->path);
    if (entry->build_id.n > 0) {
        fputs(", build ", out);
        put_text(out, entry->build_id);
    }
    if (entry->symbols.n > 0) {
        fputs(", symbols: ", out);
        put_text(out, entry->symbols);
    }
    fputc('\n', out);
}

/* A line, or the index of a bytecode. */
static void put_frame(FILE *out, const struct location_frame *frame, const char *before)
{
    bool is_line = frame->line < LOCATION_BYTECODE;
    fprintf(out, "%s code method %" PRIu32 "%s%" PRIu32, before, frame->method, is_line ? ":" : ", bytecode ",
            is_line ? frame->line : frame->line - LOCATION_BYTECODE);
}

static void dump_code(FILE *out, const struct location_entry *entry)
{
    static const char *const codes[LOCATION_CODES] = { "unknown code", "the interpreter", "a stub", "compiled",
                                                       "the kernel's code in the process" };
    fprintf(out, "location %" PRIu32 " %s", entry->number, codes[entry->code]);
    if (entry->tier > 0)
        fprintf(out, ", tier %" PRIu32, entry->tier);
    fputs(entry->name.n > 0 ? " " : "", out);
    put_text(out, entry->name);
    for (uint32_t i = 0; i < entry->n_frames; i++)
        put_frame(out, &entry->frames[i], i == 0 ? ":" : " in");
    fputc('\n', out);
}

void dump_locations(FILE *out, const struct location_entry *entry)
{
    switch (entry->kind) {
    case LOCATION_FILE:
        dump_file(out, entry);
        return;
    case LOCATION_SYMBOL:
        fprintf(out, "symbol  file %" PRIu32 ", %#" PRIx64 ", %" PRIu64 " bytes: ", entry->number, entry->offset,
                entry->n_bytes);
        put_text(out, entry->name);
        break;
    case LOCATION_METHOD:
        fprintf(out, "code method %" PRIu32 " ", entry->number);
        put_text(out, entry->class_name);
        fputc('.', out);
        put_text(out, entry->name);
        put_text(out, entry->descriptor);
        if (entry->source.n > 0) {
            fputs(", ", out);
            put_text(out, entry->source);
        }
        break;
    case LOCATION_IN_FILE:
        fprintf(out, "location %" PRIu32 " file %" PRIu32 ", %#" PRIx64, entry->number, entry->file, entry->offset);
        break;
    case LOCATION_IN_CODE:
        dump_code(out, entry);
        return;
    }
    fputc('\n', out);
}
