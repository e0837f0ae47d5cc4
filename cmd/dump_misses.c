#include "cmd/dump.h"

#include "cmd/terminal.h"
#include "core/hotspot/bytecodes.h"

static void put_text(FILE *out, struct wire_text text)
{
    terminal_text(out, text.at, text.n);
}

static const char *const spaces[MISS_SPACES] = { "no space", "eden", "survivor", "old", "humongous" };

static void put_owner(FILE *out, const struct miss_entry *entry)
{
    static const char *const kinds[MISS_OWNERS] = {
        [MISS_OBJECTS] = "objects of",  [MISS_STATICS] = "static fields of",
        [MISS_STACK] = "stacks",        [MISS_CODE] = "the code cache",
        [MISS_METASPACE] = "metaspace", [MISS_CARDS] = "the card table",
        [MISS_C_HEAP] = "the C heap",   [MISS_FILE] = "file",
        [MISS_OTHER] = "other memory",  [MISS_HEAP] = "Java heap, no object:",
        [MISS_UNKNOWN] = "not mapped",
    };
    fprintf(out, "owner   %" PRIu32 " %s%s", entry->number, kinds[entry->owner_kind], entry->name.n > 0 ? " " : "");
    put_text(out, entry->name);
}

static void put_counts(FILE *out, const struct miss_entry *entry)
{
    static const char *const names[MISS_N_COUNTS] = { "L1D", "L2", "DTLB" };
    for (int i = 0; i < MISS_N_COUNTS; i++)
        fprintf(out, ", %s %" PRIu64, names[i], entry->counts[i]);
}

static void put_bytecode(FILE *out, const struct miss_entry *entry)
{
    const char *name = opcodes[entry->opcode].name;
    fprintf(out, "bytecode %" PRIu32 " index %" PRIu32 ", %s ", entry->number, entry->index,
            name == NULL ? "unknown" : name);
    put_text(out, entry->class_name);
    fputs(entry->name.n > 0 ? "." : "", out);
    put_text(out, entry->name);
    fputs(entry->descriptor.n > 0 ? " " : "", out);
    put_text(out, entry->descriptor);
}

void dump_misses(FILE *out, const struct miss_entry *entry)
{
    switch (entry->kind) {
    case MISS_OWNER:
        put_owner(out, entry);
        break;
    case MISS_CELL:
        fprintf(out, "cell    %" PRIu32 " owner %" PRIu32 ", %s, +%" PRIu32 " ", entry->number, entry->owner,
                spaces[entry->space], entry->offset);
        put_text(out, entry->name);
        break;
    case MISS_COUNTS:
        fprintf(out, "misses  %" PRIu64 " ticks, thread %" PRIu32 ", location %" PRIu64 ", cell %" PRIu32, entry->ticks,
                entry->thread, entry->location, entry->cell);
        put_counts(out, entry);
        fprintf(out, ", of %" PRIu64 " kept", entry->n_kept);
        break;
    case MISS_TOTALS:
        fprintf(out, "misses  %" PRIu64 " ticks, of all: accesses %" PRIu64, entry->ticks, entry->n_accesses);
        put_counts(out, entry);
        fprintf(out, "; looked up %" PRIu64 " times in %" PRIu64 " ns", entry->n_looks, entry->look_ns);
        break;
    case MISS_ACCESSES:
        fprintf(out,
                "misses  %" PRIu64 " ticks, thread %" PRIu32 ", location %" PRIu64 ", cell %" PRIu32
                ", accesses %" PRIu64 ", of %" PRIu64 " drawn",
                entry->ticks, entry->thread, entry->location, entry->cell, entry->n_accesses, entry->n_kept);
        break;
    case MISS_CONTENTS:
        fprintf(out, "misses  %" PRIu64 " ticks, thread %" PRIu32 ", contents of cell %" PRIu32, entry->ticks,
                entry->thread, entry->cell);
        put_counts(out, entry);
        break;
    case MISS_USED:
        fprintf(out, "heap    %" PRIu64 " ticks, in use:", entry->ticks);
        for (int i = MISS_NO_SPACE + 1; i < MISS_SPACES; i++)
            fprintf(out, "%s %s %" PRIu64, i > MISS_NO_SPACE + 1 ? "," : "", spaces[i], entry->used[i]);
        fprintf(out, " bytes");
        break;
    case MISS_BYTECODE:
        put_bytecode(out, entry);
        break;
    case MISS_AT:
        fprintf(out, "bytecode of location %" PRIu64 ": ", entry->location);
        if (entry->number == 0)
            fputs("not known", out);
        else
            fprintf(out, "%" PRIu32, entry->number - 1);
        break;
    case MISS_METHOD:
        return;
    }
    fputc('\n', out);
}
