/*
 * The memory operand of one x86-64 instruction of compiled code: as much of it as says which field it may be of, the
 * offset from the object and whether an index is added.  Source: Intel's manual, volume 2, chapter 2.
 */
#include "core/hotspot/vm_methods.h"

#define RSP 4

struct operand_reading {
    const uint8_t *bytes;
    size_t n, at;
    uint8_t rex; /* W 8, R 4, X 2, B 1 */
    bool is_long, is_vector;
};

static uint8_t next(struct operand_reading *r)
{
    uint8_t byte = 0;
    if (r->at < r->n)
        byte = r->bytes[r->at];
    r->at++;
    return byte;
}

/* Of one byte: does ModRM follow? */
static bool has_modrm(uint8_t opcode)
{
    if (opcode < 0x40)
        return (opcode & 7) < 4;
    return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b || (opcode >= 0x80 && opcode <= 0x8f) || opcode == 0xc0 ||
           opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 || (opcode & 0xfc) == 0xd0 || opcode == 0xf6 ||
           opcode == 0xf7 || opcode >= 0xfe;
}

/* Behind 0f: calls of the system, jumps and what has no operand do not. */
static bool has_modrm_long(uint8_t opcode)
{
    return opcode > 0x0f && (opcode & 0xf0) != 0x80 && (opcode & 0xf8) != 0xc8 && (opcode & 0xf8) != 0x30 &&
           opcode != 0x77 && opcode != 0xa2 && opcode != 0x1f;
}

static void read_vex(struct operand_reading *r, uint8_t first)
{
    uint8_t second = next(r);
    r->rex = (uint8_t)(second & 0x80 ? 0 : 4);
    if (first == 0xc4) {
        r->rex = (uint8_t)(~second >> 5 & 7);
        next(r);
    }
    r->is_vector = true;
}

static uint8_t read_opcode(struct operand_reading *r)
{
    uint8_t byte = next(r);
    while (byte == 0x66 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3)
        byte = next(r);
    if ((byte & 0xf0) == 0x40) {
        r->rex = byte & 15;
        byte = next(r);
    }
    if (byte == 0xc4 || byte == 0xc5) {
        read_vex(r, byte);
        return next(r);
    }
    if (byte != 0x0f)
        return byte;
    byte = next(r);
    r->is_long = true;
    if (byte == 0x38 || byte == 0x3a) {
        r->is_vector = true;
        byte = next(r);
    }
    return byte;
}

static int32_t read_offset(struct operand_reading *r, unsigned mode)
{
    uint8_t bytes[4] = { 0 };
    int32_t offset;
    for (unsigned i = 0; i < (mode == 1 ? 1u : mode == 2 ? 4u : 0u); i++)
        bytes[i] = next(r);
    memcpy(&offset, bytes, sizeof offset);
    return mode == 1 ? (int8_t)bytes[0] : offset;
}

bool memory_operand_read(const uint8_t *bytes, size_t n, struct memory_operand *operand)
{
    struct operand_reading r = { .bytes = bytes, .n = n };
    uint8_t opcode = read_opcode(&r);
    if (!r.is_vector && !(r.is_long ? has_modrm_long(opcode) : has_modrm(opcode)))
        return false;
    if ((!r.is_long && opcode == 0x8d) || (r.is_vector && opcode == 0x77)) /* lea, vzeroupper */
        return false;
    uint8_t modrm = next(&r), mode = modrm >> 6, base = modrm & 7;
    *operand = (struct memory_operand){ .n_shift = 0 };
    if (mode == 3 || (mode == 0 && base == 5))
        return false;
    if (base == RSP) {
        uint8_t sib = next(&r), index = (uint8_t)((sib >> 3 & 7) | (r.rex & 2) << 2);
        base = sib & 7;
        if (mode == 0 && base == 5)
            return false;
        operand->has_index = index != RSP;
        operand->n_shift = sib >> 6;
        base = (uint8_t)(base | (r.rex & 1) << 3);
        if (base == RSP)
            return false;
    } else {
        base = (uint8_t)(base | (r.rex & 1) << 3);
    }
    /* A compressed reference is decoded on the way: r12, the heap's base, and the reference times 8. */
    if (operand->has_index && base == 12 && operand->n_shift == 3)
        operand->has_index = false;
    operand->offset = read_offset(&r, mode);
    return r.at <= n && operand->offset >= 0;
}
