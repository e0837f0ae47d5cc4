/*
 * A program for the kernel (BPF) that lets through the samples of one process: of an event that counts a whole CPU, the
 * kernel drops those of others before it copies anything.
 */
#include "core/perf/perf_rings_internal.h"

#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define SLOT (-8) /* on the program's stack: struct bpf_pidns_info */

/* The process' id in its own PID namespace: the last one of "NStgid:\t4711\t1".  0: there is no such process. */
static uint32_t read_inner_pid(pid_t pid)
{
    char path[64], line[256], *at;
    uint32_t inner = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "re");
    while (in != NULL && inner == 0 && fgets(line, sizeof line, in) != NULL)
        if (strncmp(line, "NStgid:", 7) == 0 && (at = strrchr(line, '\t')) != NULL)
            inner = (uint32_t)strtoul(at, NULL, 10);
    if (in != NULL)
        fclose(in);
    return inner;
}

/* A constant of 64 bits has two instructions. */
static void set_constant(struct bpf_insn at[2], uint64_t value)
{
    at[0].imm = (int32_t)value;
    at[1].imm = (int32_t)(value >> 32);
}

static int load(const struct bpf_insn *program, size_t n)
{
    static const char license[] = "Apache-2.0";
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
    attr.insns = (uint64_t)(uintptr_t)program;
    attr.insn_cnt = (uint32_t)n;
    attr.license = (uint64_t)(uintptr_t)license;
    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
}

/* return bpf_get_ns_current_pid_tgid(device, inode, &info, sizeof info) == 0 && info.tgid == inner */
int process_filter_load(pid_t pid)
{
    char path[64];
    struct stat ns;
    uint32_t inner = read_inner_pid(pid);
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    if (inner == 0 || stat(path, &ns) < 0)
        return -1;
    struct bpf_insn program[] = {
        { .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1 },
        { .code = 0 },
        { .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_2 },
        { .code = 0 },
        { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_10 },
        { .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = SLOT },
        { .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = SLOT },
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_4, .imm = sizeof(struct bpf_pidns_info) },
        { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_ns_current_pid_tgid },
        { .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = 4 },
        { .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10, .off = SLOT + 4 },
        { .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_1, .off = 2, .imm = (int32_t)inner },
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
        { .code = BPF_JMP | BPF_EXIT },
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
        { .code = BPF_JMP | BPF_EXIT },
    };
    set_constant(program, ns.st_dev);
    set_constant(program + 2, ns.st_ino);
    return load(program, sizeof program / sizeof *program);
}
