#include "core/emu/model/sim_foreseen.h"

#include "core/emu/model/sim_opcodes.h"

/* ---- reading an instruction ---- */

struct reader {
    const uint8_t *bytes;
    size_t n, i;
    uint64_t behind; /* the next instruction's address */
    uint8_t rex;     /* W 8, R 4, X 2, B 1; 0x40: there is one */
    uint8_t prefix;  /* of 66, f3, f2: 1, 2, 3; 0: none */
    bool is_wide_vector, is_locked, is_cut;
    bool is_elsewhere; /* addresses by fs, gs or 32 bits */
    uint8_t mode, reg, rm;
    struct sim_addressing addressing; /* of the operand in memory: mode is not 3 */
};

static uint8_t next_byte(struct reader *r)
{
    r->is_cut |= r->i >= r->n;
    return r->is_cut ? 0 : r->bytes[r->i++];
}

static int64_t next_number(struct reader *r, size_t n_bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n_bytes; i++)
        value |= (uint64_t)next_byte(r) << 8 * i;
    unsigned unused = 64 - 8 * (unsigned)n_bytes;
    return (int64_t)(value << unused) >> unused;
}

/* Returns the opcode. */
static uint8_t read_prefixes(struct reader *r)
{
    for (;;) {
        uint8_t byte = next_byte(r);
        if (byte == 0x66)
            r->is_cut |= r->prefix > 1, r->prefix = 1;
        else if (byte == 0xf0)
            r->is_locked = true;
        else if (byte == 0xf3 || byte == 0xf2) {
            r->is_cut |= r->prefix != 0; /* two of them: not known */
            r->prefix = byte == 0xf3 ? 2 : 3;
        } else if (byte == 0x64 || byte == 0x65 || byte == 0x67)
            r->is_elsewhere = true;
        else if (byte != 0x2e && byte != 0x3e && byte != 0x26 && byte != 0x36) {
            if ((byte & 0xf0) != 0x40)
                return byte;
            r->rex = byte;
            return next_byte(r);
        }
    }
}

static void read_addressing(struct reader *r)
{
    struct sim_addressing *addressing = &r->addressing;
    uint8_t base = r->rm & 7;
    *addressing = (struct sim_addressing){ .base = r->rm, .index = SIM_NO_REGISTER };
    if (base == 4) {
        uint8_t sib = next_byte(r), index = (uint8_t)((sib >> 3 & 7) | (r->rex & 2) << 2);
        base = sib & 7;
        addressing->base = (uint8_t)(base | (r->rex & 1) << 3);
        addressing->index = index == SIM_RSP ? SIM_NO_REGISTER : index;
        addressing->shift = sib >> 6;
    }
    if (r->mode == 0 && base == 5) {
        bool is_relative = (r->rm & 7) == 5;
        addressing->base = SIM_NO_REGISTER;
        addressing->offset = next_number(r, 4) + (is_relative ? (int64_t)r->behind : 0);
    } else if (r->mode != 0) {
        addressing->offset = next_number(r, r->mode == 1 ? 1 : 4);
    }
}

static void read_modrm(struct reader *r)
{
    uint8_t modrm = next_byte(r);
    r->mode = modrm >> 6;
    r->reg = (uint8_t)((modrm >> 3 & 7) | (r->rex & 4) << 1);
    r->rm = (uint8_t)((modrm & 7) | (r->rex & 1) << 3);
    if (r->mode != 3)
        read_addressing(r);
}

static uint8_t general_bytes(const struct reader *r)
{
    return (r->rex & 8) != 0 ? 8 : r->prefix == 1 ? 2 : 4;
}

/* ---- what it does ---- */

static void add_access(struct sim_operands *o, const struct sim_addressing *addressing, uint8_t n_bytes, bool is_store)
{
    o->accesses[o->n_accesses++] = (struct sim_operand){ *addressing, n_bytes, is_store };
}

/* The stack pointer changes, behind an access to the stack at an offset from it. */
static void use_stack(struct sim_operands *o, int64_t offset, int64_t plus, bool is_store)
{
    const struct sim_addressing addressing = { .base = SIM_RSP, .index = SIM_NO_REGISTER, .offset = offset };
    add_access(o, &addressing, 8, is_store);
    o->written |= 1u << SIM_RSP;
    o->to = o->from = SIM_RSP;
    o->plus = plus;
}

static void write_register(struct sim_operands *o, const struct reader *r, uint8_t to, uint8_t n_bytes)
{
    o->written |= (uint16_t)(1u << to);
    if (n_bytes == 1 && r->rex == 0 && to >= 4) /* ah, ch, dh, bh */
        o->written |= (uint16_t)(1u << (to - 4));
}

/* The operand in memory: one access, or several of 8 bytes. */
static void use_memory(struct sim_operands *o, const struct reader *r, unsigned does, uint8_t n_bytes)
{
    struct sim_addressing addressing = r->addressing;
    if ((does & OWN) != 0 || (r->is_elsewhere && (does & (LOAD | STORE)) != 0))
        o->is_known = false;
    if (!o->is_known || (does & (LOAD | STORE)) == 0)
        return;
    for (uint8_t done = 0; done < n_bytes; done += 8) {
        uint8_t n = n_bytes < 8 ? n_bytes : 8;
        if ((does & LOAD) != 0)
            add_access(o, &addressing, n, false);
        if ((does & STORE) != 0)
            add_access(o, &addressing, n, true);
        addressing.offset += 8;
    }
}

static void follow(struct sim_operands *o, uint8_t to, uint8_t from, int64_t plus)
{
    o->to = to;
    o->from = from;
    o->plus = plus;
}

/* By a row of a table; modrm has been read. */
static void apply(struct sim_operands *o, const struct reader *r, unsigned does, uint8_t n_bytes)
{
    n_bytes = n_bytes == V ? general_bytes(r) : n_bytes == Y ? (r->rex & 8 ? 8 : 4) : n_bytes;
    o->is_known = !r->is_locked;
    o->written = 0;
    if ((does & TO_REG) != 0)
        write_register(o, r, r->reg, n_bytes);
    if ((does & TO_AX) != 0)
        o->written |= 1u << SIM_RAX;
    if ((does & TO_DX) != 0)
        o->written |= 1u << SIM_RDX;
    if ((does & MODRM) == 0)
        return;
    if (r->mode != 3)
        use_memory(o, r, does, n_bytes);
    else if ((does & TO_RM) != 0)
        write_register(o, r, r->rm, n_bytes);
}

/* ---- groups of instructions that share an opcode ---- */

static bool group_1(struct reader *r, struct sim_operands *o, uint8_t code, struct sim_opcode_row row)
{
    uint8_t which = r->reg & 7;
    apply(o, r, which == 7 ? READS : row.does, row.n_bytes); /* cmp */
    if (r->mode != 3 || (r->rex & 8) == 0 || code == 0x80 || (which != 0 && which != 5))
        return true;
    int64_t number = next_number(r, code == 0x83 ? 1 : 4);
    follow(o, r->rm, r->rm, which == 0 ? number : -number);
    return true;
}

static bool group_3(const struct reader *r, struct sim_operands *o, struct sim_opcode_row row)
{
    uint8_t which = r->reg & 7;
    if (which < 2) /* test */
        apply(o, r, READS, row.n_bytes);
    else
        apply(o, r, which < 4 ? row.does : READS | TO_AX | TO_DX, row.n_bytes);
    return true;
}

/* inc, dec, call, jmp, push */
static bool group_5(const struct reader *r, struct sim_operands *o, struct sim_opcode_row row)
{
    uint8_t which = r->reg & 7;
    if (which < 2) {
        apply(o, r, row.does, row.n_bytes);
        if (r->mode == 3 && (r->rex & 8) != 0 && row.n_bytes == V)
            follow(o, r->rm, r->rm, which == 0 ? 1 : -1);
        return true;
    }
    if (which == 3 || which == 5 || which == 7 || r->is_locked || r->prefix == 1 || (r->is_elsewhere && r->mode != 3))
        return false;
    apply(o, r, READS, 8);
    if (which != 4)
        use_stack(o, -8, -8, true);
    return true;
}

/* mov, with 8 bytes: the register is the other one. */
static void follow_move(struct reader *r, struct sim_operands *o, uint8_t code)
{
    if (r->mode == 3 && (r->rex & 8) != 0 && (code == 0x89 || code == 0x8b))
        follow(o, code == 0x89 ? r->rm : r->reg, code == 0x89 ? r->reg : r->rm, 0);
    else if (r->mode == 3 && (r->rex & 8) != 0 && code == 0xc7)
        follow(o, r->rm, SIM_NO_REGISTER, next_number(r, 4));
    else if (code == 0x8d && (r->rex & 8) != 0 && !r->is_elsewhere && r->addressing.index == SIM_NO_REGISTER)
        follow(o, r->reg, r->addressing.base, r->addressing.offset);
}

static bool by_modrm(struct reader *r, struct sim_operands *o, uint8_t code, struct sim_opcode_row row)
{
    read_modrm(r);
    uint8_t which = r->reg & 7;
    switch (code) {
    case 0x80:
    case 0x81:
    case 0x83:
        return group_1(r, o, code, row);
    case 0xc0:
    case 0xc1:
    case 0xd0 ... 0xd3:
        if (which == 2 || which == 3) /* rcl, rcr */
            return false;
        break;
    case 0xc6:
    case 0xc7:
        if (which != 0)
            return false;
        break;
    case 0xf6:
    case 0xf7:
        return group_3(r, o, row);
    case 0xfe:
    case 0xff:
        return (code == 0xff || which < 2) && group_5(r, o, row);
    case 0x8d:
        if (r->mode == 3)
            return false;
        break;
    }
    apply(o, r, row.does, row.n_bytes);
    follow_move(r, o, code);
    return true;
}

/* ---- those without modrm ---- */

static bool push_or_pop(const struct reader *r, struct sim_operands *o, uint8_t code)
{
    uint8_t one = (uint8_t)((code & 7) | (r->rex & 1) << 3);
    if (r->prefix != 0)
        return false;
    o->is_known = true;
    o->written = 0;
    if (code < 0x58) {
        use_stack(o, -8, -8, true);
        return true;
    }
    use_stack(o, 0, 8, false);
    o->written |= (uint16_t)(1u << one);
    if (one == SIM_RSP)
        o->to = SIM_NO_REGISTER;
    return true;
}

/* The stack alone, or a number into a register. */
static bool by_opcode(struct reader *r, struct sim_operands *o, uint8_t code)
{
    uint8_t one = (uint8_t)((code & 7) | (r->rex & 1) << 3);
    const struct sim_addressing frame = { .base = SIM_RBP, .index = SIM_NO_REGISTER };
    if ((code & 0xf0) == 0x50)
        return push_or_pop(r, o, code);
    if (r->prefix == 1 && (code & 0xf0) != 0xb0 && code != 0x90)
        return false;
    o->is_known = true;
    o->written = 0;
    switch (code) {
    case 0x68: /* push */
    case 0x6a:
    case 0xe8: /* call */
        use_stack(o, -8, -8, true);
        return true;
    case 0xc3:
        use_stack(o, 0, 8, false);
        return true;
    case 0xc9: /* leave */
        add_access(o, &frame, 8, false);
        o->written = 1u << SIM_RSP | 1u << SIM_RBP;
        follow(o, SIM_RSP, SIM_RBP, 8);
        return true;
    case 0x90 ... 0x97: /* xchg; nop */
        o->written = (uint16_t)(one == SIM_RAX ? 0 : 1u << SIM_RAX | 1u << one);
        return r->prefix == 0 || (r->prefix == 1 && one == SIM_RAX);
    case 0xb0 ... 0xb7:
        write_register(o, r, one, 1);
        return true;
    case 0xb8 ... 0xbf:
        write_register(o, r, one, 8);
        if ((r->rex & 8) != 0)
            follow(o, one, SIM_NO_REGISTER, next_number(r, 8));
        return true;
    default:
        return false;
    }
}

/* ---- behind 0f, and with VEX ---- */

/* Vectors, whose accesses are left to QEMU to tell.  f0 and behind have general registers. */
static bool by_three_bytes(struct sim_operands *o, uint8_t map, uint8_t code)
{
    bool writes_general = map == 2 ? code >= 0xf0 : (code >= 0x14 && code <= 0x17) || code >= 0x60;
    if (map > 3 || writes_general)
        return false;
    o->written = 0;
    return true;
}

static bool by_two_bytes(struct reader *r, struct sim_operands *o, uint8_t code)
{
    const struct sim_opcode_rows *row = &two_bytes[code];
    uint8_t n_bytes = row->n_bytes[r->prefix];
    unsigned does = row->does;
    if (code == 0x38 || code == 0x3a)
        return by_three_bytes(o, code == 0x38 ? 2 : 3, next_byte(r));
    if ((code & 0xf8) == 0xc8) { /* bswap */
        o->is_known = true;
        o->written = (uint16_t)(1u << ((code & 7) | (r->rex & 1) << 3));
        return true;
    }
    if ((does & KNOWN) == 0 || (n_bytes == NO && (does & (LOAD | STORE)) != 0))
        return false;
    if ((does & MODRM) != 0)
        read_modrm(r);
    if (code == 0x7e && r->prefix == 2) /* movq */
        does = READS;
    if (code == 0xba) {
        if ((r->reg & 7) < 4)
            return false;
        does = (r->reg & 7) == 4 ? READS : BOTH;
    }
    if (r->is_wide_vector && code == 0xe6 && r->prefix == 2)
        return false;
    if (r->is_wide_vector && n_bytes == X)
        n_bytes = 2 * X;
    else if (r->is_wide_vector && r->prefix < 2 && n_bytes != 0)
        return false;
    apply(o, r, does, n_bytes);
    return true;
}

static bool by_vex(struct reader *r, struct sim_operands *o, uint8_t code)
{
    static const uint8_t prefixes[4] = { 0, 1, 2, 3 };
    uint8_t first = next_byte(r), last = first, map = 1, rex = (uint8_t)(0x40 | (first & 0x80 ? 0 : 4));
    if (r->prefix != 0 || r->rex != 0)
        return false;
    if (code == 0xc4) {
        last = next_byte(r);
        map = first & 0x1f;
        rex = (uint8_t)(0x40 | (~first >> 5 & 7) | (last & 0x80 ? 8 : 0));
    }
    r->rex = rex;
    r->prefix = prefixes[last & 3];
    r->is_wide_vector = (last & 4) != 0;
    code = next_byte(r);
    if (map != 1)
        return by_three_bytes(o, map, code);
    /* Of general registers there are none but these in this map; behind 0x90 are AVX-512's masks. */
    if ((code >= 0x40 && code < 0x50) || (code >= 0x80 && code < 0xc0))
        return false;
    return by_two_bytes(r, o, code);
}

void sim_operands_x86(const uint8_t *bytes, size_t n, uint64_t at, struct sim_operands *o)
{
    struct reader r = { .bytes = bytes, .n = n, .behind = at + n, .mode = 3 };
    memset(o, 0, sizeof *o);
    o->written = 0xffff;
    o->to = o->from = SIM_NO_REGISTER;
    uint8_t code = read_prefixes(&r);
    struct sim_opcode_row row = one_byte[code];
    bool is_known = false;
    if (code == 0x0f)
        is_known = by_two_bytes(&r, o, next_byte(&r));
    else if (code == 0xc4 || code == 0xc5)
        is_known = by_vex(&r, o, code);
    else if ((row.does & MODRM) != 0)
        is_known = r.prefix < 2 && by_modrm(&r, o, code, row);
    else if ((row.does & KNOWN) != 0)
        apply(o, &r, row.does, 0), is_known = true;
    else
        is_known = by_opcode(&r, o, code);
    if (is_known && !r.is_cut && !(r.is_locked && o->is_known))
        return;
    memset(o, 0, sizeof *o);
    o->written = 0xffff;
    o->to = o->from = SIM_NO_REGISTER;
}
