/*
 * What an instruction of x86-64 loads and stores, by which registers, and which general registers it writes.
 *
 * Common instructions are known, after QEMU 7.2's way with them: it makes several loads of 8 bytes of one of 16 or 32,
 * and a load and a store of 'add %eax, (%rdx)'.  What is not known says so: locked and exchanging instructions, string
 * instructions, x87, addresses by fs, gs or 32 bits, gathers, AVX-512.
 */
#ifndef CORE_EMU_MODEL_SIM_OPERANDS_H
#define CORE_EMU_MODEL_SIM_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_N_REGISTERS  16 /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, as instructions number them */
#define SIM_NO_REGISTER  16
#define SIM_ACCESSES_MAX 4

enum { SIM_RAX, SIM_RCX, SIM_RDX, SIM_RBX, SIM_RSP, SIM_RBP };

/* base + index * 2^shift + offset, of the registers before the instruction. */
struct sim_addressing {
    uint8_t base, index, shift; /* SIM_NO_REGISTER */
    int64_t offset;
};

struct sim_operand {
    struct sim_addressing addressing;
    uint8_t n_bytes;
    bool is_store;
};

struct sim_operands {
    bool is_known;      /* all of 'accesses'; else they are what they are */
    uint8_t n_accesses; /* in the order in which they happen */
    uint16_t written;   /* a bit for each register; what is not known writes all */
    struct sim_operand accesses[SIM_ACCESSES_MAX];
    /* One written register's new value, 'from' with 'plus' (no index); to is SIM_NO_REGISTER: none is known. */
    uint8_t to, from;
    int64_t plus;
};

/* Of n bytes of one instruction at an address. */
void sim_operands_x86(const uint8_t *bytes, size_t n, uint64_t at, struct sim_operands *operands);

#endif
