#include "core/hotspot/bytecodes.h"
#include "core/base/bytes.h"

enum { CODE_IINC = 0x84, CODE_RET = 0xa9, CODE_TABLESWITCH = 0xaa, CODE_WIDE = 0xc4 };

const struct opcode opcodes[256] = {
    [0x00] = { "nop", OPCODE_STACK, 1, 0x00 },
    [0x01] = { "aconst_null", OPCODE_CONSTANT, 1, 0x01 },
    [0x02] = { "iconst_m1", OPCODE_CONSTANT, 1, 0x02 },
    [0x03] = { "iconst_0", OPCODE_CONSTANT, 1, 0x03 },
    [0x04] = { "iconst_1", OPCODE_CONSTANT, 1, 0x04 },
    [0x05] = { "iconst_2", OPCODE_CONSTANT, 1, 0x05 },
    [0x06] = { "iconst_3", OPCODE_CONSTANT, 1, 0x06 },
    [0x07] = { "iconst_4", OPCODE_CONSTANT, 1, 0x07 },
    [0x08] = { "iconst_5", OPCODE_CONSTANT, 1, 0x08 },
    [0x09] = { "lconst_0", OPCODE_CONSTANT, 1, 0x09 },
    [0x0a] = { "lconst_1", OPCODE_CONSTANT, 1, 0x0a },
    [0x0b] = { "fconst_0", OPCODE_CONSTANT, 1, 0x0b },
    [0x0c] = { "fconst_1", OPCODE_CONSTANT, 1, 0x0c },
    [0x0d] = { "fconst_2", OPCODE_CONSTANT, 1, 0x0d },
    [0x0e] = { "dconst_0", OPCODE_CONSTANT, 1, 0x0e },
    [0x0f] = { "dconst_1", OPCODE_CONSTANT, 1, 0x0f },
    [0x10] = { "bipush", OPCODE_CONSTANT, 2, 0x10 },
    [0x11] = { "sipush", OPCODE_CONSTANT, 3, 0x11 },
    [0x12] = { "ldc", OPCODE_CONSTANT, 2, 0x12 },
    [0x13] = { "ldc_w", OPCODE_CONSTANT, 3, 0x13 },
    [0x14] = { "ldc2_w", OPCODE_CONSTANT, 3, 0x14 },
    [0x15] = { "iload", OPCODE_LOCAL_READ, 2, 0x15 },
    [0x16] = { "lload", OPCODE_LOCAL_READ, 2, 0x16 },
    [0x17] = { "fload", OPCODE_LOCAL_READ, 2, 0x17 },
    [0x18] = { "dload", OPCODE_LOCAL_READ, 2, 0x18 },
    [0x19] = { "aload", OPCODE_LOCAL_READ, 2, 0x19 },
    [0x1a] = { "iload_0", OPCODE_LOCAL_READ, 1, 0x1a },
    [0x1b] = { "iload_1", OPCODE_LOCAL_READ, 1, 0x1b },
    [0x1c] = { "iload_2", OPCODE_LOCAL_READ, 1, 0x1c },
    [0x1d] = { "iload_3", OPCODE_LOCAL_READ, 1, 0x1d },
    [0x1e] = { "lload_0", OPCODE_LOCAL_READ, 1, 0x1e },
    [0x1f] = { "lload_1", OPCODE_LOCAL_READ, 1, 0x1f },
    [0x20] = { "lload_2", OPCODE_LOCAL_READ, 1, 0x20 },
    [0x21] = { "lload_3", OPCODE_LOCAL_READ, 1, 0x21 },
    [0x22] = { "fload_0", OPCODE_LOCAL_READ, 1, 0x22 },
    [0x23] = { "fload_1", OPCODE_LOCAL_READ, 1, 0x23 },
    [0x24] = { "fload_2", OPCODE_LOCAL_READ, 1, 0x24 },
    [0x25] = { "fload_3", OPCODE_LOCAL_READ, 1, 0x25 },
    [0x26] = { "dload_0", OPCODE_LOCAL_READ, 1, 0x26 },
    [0x27] = { "dload_1", OPCODE_LOCAL_READ, 1, 0x27 },
    [0x28] = { "dload_2", OPCODE_LOCAL_READ, 1, 0x28 },
    [0x29] = { "dload_3", OPCODE_LOCAL_READ, 1, 0x29 },
    [0x2a] = { "aload_0", OPCODE_LOCAL_READ, 1, 0x2a },
    [0x2b] = { "aload_1", OPCODE_LOCAL_READ, 1, 0x2b },
    [0x2c] = { "aload_2", OPCODE_LOCAL_READ, 1, 0x2c },
    [0x2d] = { "aload_3", OPCODE_LOCAL_READ, 1, 0x2d },
    [0x2e] = { "iaload", OPCODE_ARRAY_READ, 1, 0x2e },
    [0x2f] = { "laload", OPCODE_ARRAY_READ, 1, 0x2f },
    [0x30] = { "faload", OPCODE_ARRAY_READ, 1, 0x30 },
    [0x31] = { "daload", OPCODE_ARRAY_READ, 1, 0x31 },
    [0x32] = { "aaload", OPCODE_ARRAY_READ, 1, 0x32 },
    [0x33] = { "baload", OPCODE_ARRAY_READ, 1, 0x33 },
    [0x34] = { "caload", OPCODE_ARRAY_READ, 1, 0x34 },
    [0x35] = { "saload", OPCODE_ARRAY_READ, 1, 0x35 },
    [0x36] = { "istore", OPCODE_LOCAL_WRITE, 2, 0x36 },
    [0x37] = { "lstore", OPCODE_LOCAL_WRITE, 2, 0x37 },
    [0x38] = { "fstore", OPCODE_LOCAL_WRITE, 2, 0x38 },
    [0x39] = { "dstore", OPCODE_LOCAL_WRITE, 2, 0x39 },
    [0x3a] = { "astore", OPCODE_LOCAL_WRITE, 2, 0x3a },
    [0x3b] = { "istore_0", OPCODE_LOCAL_WRITE, 1, 0x3b },
    [0x3c] = { "istore_1", OPCODE_LOCAL_WRITE, 1, 0x3c },
    [0x3d] = { "istore_2", OPCODE_LOCAL_WRITE, 1, 0x3d },
    [0x3e] = { "istore_3", OPCODE_LOCAL_WRITE, 1, 0x3e },
    [0x3f] = { "lstore_0", OPCODE_LOCAL_WRITE, 1, 0x3f },
    [0x40] = { "lstore_1", OPCODE_LOCAL_WRITE, 1, 0x40 },
    [0x41] = { "lstore_2", OPCODE_LOCAL_WRITE, 1, 0x41 },
    [0x42] = { "lstore_3", OPCODE_LOCAL_WRITE, 1, 0x42 },
    [0x43] = { "fstore_0", OPCODE_LOCAL_WRITE, 1, 0x43 },
    [0x44] = { "fstore_1", OPCODE_LOCAL_WRITE, 1, 0x44 },
    [0x45] = { "fstore_2", OPCODE_LOCAL_WRITE, 1, 0x45 },
    [0x46] = { "fstore_3", OPCODE_LOCAL_WRITE, 1, 0x46 },
    [0x47] = { "dstore_0", OPCODE_LOCAL_WRITE, 1, 0x47 },
    [0x48] = { "dstore_1", OPCODE_LOCAL_WRITE, 1, 0x48 },
    [0x49] = { "dstore_2", OPCODE_LOCAL_WRITE, 1, 0x49 },
    [0x4a] = { "dstore_3", OPCODE_LOCAL_WRITE, 1, 0x4a },
    [0x4b] = { "astore_0", OPCODE_LOCAL_WRITE, 1, 0x4b },
    [0x4c] = { "astore_1", OPCODE_LOCAL_WRITE, 1, 0x4c },
    [0x4d] = { "astore_2", OPCODE_LOCAL_WRITE, 1, 0x4d },
    [0x4e] = { "astore_3", OPCODE_LOCAL_WRITE, 1, 0x4e },
    [0x4f] = { "iastore", OPCODE_ARRAY_WRITE, 1, 0x4f },
    [0x50] = { "lastore", OPCODE_ARRAY_WRITE, 1, 0x50 },
    [0x51] = { "fastore", OPCODE_ARRAY_WRITE, 1, 0x51 },
    [0x52] = { "dastore", OPCODE_ARRAY_WRITE, 1, 0x52 },
    [0x53] = { "aastore", OPCODE_ARRAY_WRITE, 1, 0x53 },
    [0x54] = { "bastore", OPCODE_ARRAY_WRITE, 1, 0x54 },
    [0x55] = { "castore", OPCODE_ARRAY_WRITE, 1, 0x55 },
    [0x56] = { "sastore", OPCODE_ARRAY_WRITE, 1, 0x56 },
    [0x57] = { "pop", OPCODE_STACK, 1, 0x57 },
    [0x58] = { "pop2", OPCODE_STACK, 1, 0x58 },
    [0x59] = { "dup", OPCODE_STACK, 1, 0x59 },
    [0x5a] = { "dup_x1", OPCODE_STACK, 1, 0x5a },
    [0x5b] = { "dup_x2", OPCODE_STACK, 1, 0x5b },
    [0x5c] = { "dup2", OPCODE_STACK, 1, 0x5c },
    [0x5d] = { "dup2_x1", OPCODE_STACK, 1, 0x5d },
    [0x5e] = { "dup2_x2", OPCODE_STACK, 1, 0x5e },
    [0x5f] = { "swap", OPCODE_STACK, 1, 0x5f },
    [0x60] = { "iadd", OPCODE_ARITHMETIC, 1, 0x60 },
    [0x61] = { "ladd", OPCODE_ARITHMETIC, 1, 0x61 },
    [0x62] = { "fadd", OPCODE_ARITHMETIC, 1, 0x62 },
    [0x63] = { "dadd", OPCODE_ARITHMETIC, 1, 0x63 },
    [0x64] = { "isub", OPCODE_ARITHMETIC, 1, 0x64 },
    [0x65] = { "lsub", OPCODE_ARITHMETIC, 1, 0x65 },
    [0x66] = { "fsub", OPCODE_ARITHMETIC, 1, 0x66 },
    [0x67] = { "dsub", OPCODE_ARITHMETIC, 1, 0x67 },
    [0x68] = { "imul", OPCODE_ARITHMETIC, 1, 0x68 },
    [0x69] = { "lmul", OPCODE_ARITHMETIC, 1, 0x69 },
    [0x6a] = { "fmul", OPCODE_ARITHMETIC, 1, 0x6a },
    [0x6b] = { "dmul", OPCODE_ARITHMETIC, 1, 0x6b },
    [0x6c] = { "idiv", OPCODE_ARITHMETIC, 1, 0x6c },
    [0x6d] = { "ldiv", OPCODE_ARITHMETIC, 1, 0x6d },
    [0x6e] = { "fdiv", OPCODE_ARITHMETIC, 1, 0x6e },
    [0x6f] = { "ddiv", OPCODE_ARITHMETIC, 1, 0x6f },
    [0x70] = { "irem", OPCODE_ARITHMETIC, 1, 0x70 },
    [0x71] = { "lrem", OPCODE_ARITHMETIC, 1, 0x71 },
    [0x72] = { "frem", OPCODE_ARITHMETIC, 1, 0x72 },
    [0x73] = { "drem", OPCODE_ARITHMETIC, 1, 0x73 },
    [0x74] = { "ineg", OPCODE_ARITHMETIC, 1, 0x74 },
    [0x75] = { "lneg", OPCODE_ARITHMETIC, 1, 0x75 },
    [0x76] = { "fneg", OPCODE_ARITHMETIC, 1, 0x76 },
    [0x77] = { "dneg", OPCODE_ARITHMETIC, 1, 0x77 },
    [0x78] = { "ishl", OPCODE_ARITHMETIC, 1, 0x78 },
    [0x79] = { "lshl", OPCODE_ARITHMETIC, 1, 0x79 },
    [0x7a] = { "ishr", OPCODE_ARITHMETIC, 1, 0x7a },
    [0x7b] = { "lshr", OPCODE_ARITHMETIC, 1, 0x7b },
    [0x7c] = { "iushr", OPCODE_ARITHMETIC, 1, 0x7c },
    [0x7d] = { "lushr", OPCODE_ARITHMETIC, 1, 0x7d },
    [0x7e] = { "iand", OPCODE_ARITHMETIC, 1, 0x7e },
    [0x7f] = { "land", OPCODE_ARITHMETIC, 1, 0x7f },
    [0x80] = { "ior", OPCODE_ARITHMETIC, 1, 0x80 },
    [0x81] = { "lor", OPCODE_ARITHMETIC, 1, 0x81 },
    [0x82] = { "ixor", OPCODE_ARITHMETIC, 1, 0x82 },
    [0x83] = { "lxor", OPCODE_ARITHMETIC, 1, 0x83 },
    [0x84] = { "iinc", OPCODE_ARITHMETIC, 3, 0x84 },
    [0x85] = { "i2l", OPCODE_ARITHMETIC, 1, 0x85 },
    [0x86] = { "i2f", OPCODE_ARITHMETIC, 1, 0x86 },
    [0x87] = { "i2d", OPCODE_ARITHMETIC, 1, 0x87 },
    [0x88] = { "l2i", OPCODE_ARITHMETIC, 1, 0x88 },
    [0x89] = { "l2f", OPCODE_ARITHMETIC, 1, 0x89 },
    [0x8a] = { "l2d", OPCODE_ARITHMETIC, 1, 0x8a },
    [0x8b] = { "f2i", OPCODE_ARITHMETIC, 1, 0x8b },
    [0x8c] = { "f2l", OPCODE_ARITHMETIC, 1, 0x8c },
    [0x8d] = { "f2d", OPCODE_ARITHMETIC, 1, 0x8d },
    [0x8e] = { "d2i", OPCODE_ARITHMETIC, 1, 0x8e },
    [0x8f] = { "d2l", OPCODE_ARITHMETIC, 1, 0x8f },
    [0x90] = { "d2f", OPCODE_ARITHMETIC, 1, 0x90 },
    [0x91] = { "i2b", OPCODE_ARITHMETIC, 1, 0x91 },
    [0x92] = { "i2c", OPCODE_ARITHMETIC, 1, 0x92 },
    [0x93] = { "i2s", OPCODE_ARITHMETIC, 1, 0x93 },
    [0x94] = { "lcmp", OPCODE_ARITHMETIC, 1, 0x94 },
    [0x95] = { "fcmpl", OPCODE_ARITHMETIC, 1, 0x95 },
    [0x96] = { "fcmpg", OPCODE_ARITHMETIC, 1, 0x96 },
    [0x97] = { "dcmpl", OPCODE_ARITHMETIC, 1, 0x97 },
    [0x98] = { "dcmpg", OPCODE_ARITHMETIC, 1, 0x98 },
    [0x99] = { "ifeq", OPCODE_BRANCH, 3, 0x99 },
    [0x9a] = { "ifne", OPCODE_BRANCH, 3, 0x9a },
    [0x9b] = { "iflt", OPCODE_BRANCH, 3, 0x9b },
    [0x9c] = { "ifge", OPCODE_BRANCH, 3, 0x9c },
    [0x9d] = { "ifgt", OPCODE_BRANCH, 3, 0x9d },
    [0x9e] = { "ifle", OPCODE_BRANCH, 3, 0x9e },
    [0x9f] = { "if_icmpeq", OPCODE_BRANCH, 3, 0x9f },
    [0xa0] = { "if_icmpne", OPCODE_BRANCH, 3, 0xa0 },
    [0xa1] = { "if_icmplt", OPCODE_BRANCH, 3, 0xa1 },
    [0xa2] = { "if_icmpge", OPCODE_BRANCH, 3, 0xa2 },
    [0xa3] = { "if_icmpgt", OPCODE_BRANCH, 3, 0xa3 },
    [0xa4] = { "if_icmple", OPCODE_BRANCH, 3, 0xa4 },
    [0xa5] = { "if_acmpeq", OPCODE_BRANCH, 3, 0xa5 },
    [0xa6] = { "if_acmpne", OPCODE_BRANCH, 3, 0xa6 },
    [0xa7] = { "goto", OPCODE_BRANCH, 3, 0xa7 },
    [0xa8] = { "jsr", OPCODE_BRANCH, 3, 0xa8 },
    [0xa9] = { "ret", OPCODE_BRANCH, 2, 0xa9 },
    [0xaa] = { "tableswitch", OPCODE_SWITCH, 0, 0xaa },
    [0xab] = { "lookupswitch", OPCODE_SWITCH, 0, 0xab },
    [0xac] = { "ireturn", OPCODE_RETURN, 1, 0xac },
    [0xad] = { "lreturn", OPCODE_RETURN, 1, 0xad },
    [0xae] = { "freturn", OPCODE_RETURN, 1, 0xae },
    [0xaf] = { "dreturn", OPCODE_RETURN, 1, 0xaf },
    [0xb0] = { "areturn", OPCODE_RETURN, 1, 0xb0 },
    [0xb1] = { "return", OPCODE_RETURN, 1, 0xb1 },
    [0xb2] = { "getstatic", OPCODE_STATIC_READ, 3, 0xb2 },
    [0xb3] = { "putstatic", OPCODE_STATIC_WRITE, 3, 0xb3 },
    [0xb4] = { "getfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xb5] = { "putfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xb6] = { "invokevirtual", OPCODE_CALL_VIRTUAL, 3, 0xb6 },
    [0xb7] = { "invokespecial", OPCODE_CALL_SPECIAL, 3, 0xb7 },
    [0xb8] = { "invokestatic", OPCODE_CALL_STATIC, 3, 0xb8 },
    [0xb9] = { "invokeinterface", OPCODE_CALL_INTERFACE, 5, 0xb9 },
    [0xba] = { "invokedynamic", OPCODE_CALL_DYNAMIC, 5, 0xba },
    [0xbb] = { "new", OPCODE_ALLOCATION, 3, 0xbb },
    [0xbc] = { "newarray", OPCODE_ALLOCATION, 2, 0xbc },
    [0xbd] = { "anewarray", OPCODE_ALLOCATION, 3, 0xbd },
    [0xbe] = { "arraylength", OPCODE_ARRAY_LENGTH, 1, 0xbe },
    [0xbf] = { "athrow", OPCODE_THROW, 1, 0xbf },
    [0xc0] = { "checkcast", OPCODE_TYPE_CHECK, 3, 0xc0 },
    [0xc1] = { "instanceof", OPCODE_TYPE_CHECK, 3, 0xc1 },
    [0xc2] = { "monitorenter", OPCODE_MONITOR, 1, 0xc2 },
    [0xc3] = { "monitorexit", OPCODE_MONITOR, 1, 0xc3 },
    [0xc4] = { "wide", OPCODE_WIDE, 0, 0xc4 },
    [0xc5] = { "multianewarray", OPCODE_ALLOCATION, 4, 0xc5 },
    [0xc6] = { "ifnull", OPCODE_BRANCH, 3, 0xc6 },
    [0xc7] = { "ifnonnull", OPCODE_BRANCH, 3, 0xc7 },
    [0xc8] = { "goto_w", OPCODE_BRANCH, 5, 0xc8 },
    [0xc9] = { "jsr_w", OPCODE_BRANCH, 5, 0xc9 },
    [0xcb] = { "fast_agetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xcc] = { "fast_bgetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xcd] = { "fast_cgetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xce] = { "fast_dgetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xcf] = { "fast_fgetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xd0] = { "fast_igetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xd1] = { "fast_lgetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xd2] = { "fast_sgetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xd3] = { "fast_aputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xd4] = { "fast_bputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xd5] = { "fast_zputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xd6] = { "fast_cputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xd7] = { "fast_dputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xd8] = { "fast_fputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xd9] = { "fast_iputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xda] = { "fast_lputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xdb] = { "fast_sputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xdc] = { "fast_aload_0", OPCODE_LOCAL_READ, 1, 0x2a },
    [0xdd] = { "fast_iaccess_0", OPCODE_LOCAL_READ, 1, 0x2a },
    [0xde] = { "fast_aaccess_0", OPCODE_LOCAL_READ, 1, 0x2a },
    [0xdf] = { "fast_faccess_0", OPCODE_LOCAL_READ, 1, 0x2a },
    [0xe0] = { "fast_iload", OPCODE_LOCAL_READ, 2, 0x15 },
    [0xe1] = { "fast_iload2", OPCODE_LOCAL_READ, 2, 0x15 },
    [0xe2] = { "fast_icaload", OPCODE_LOCAL_READ, 2, 0x15 },
    [0xe3] = { "fast_invokevfinal", OPCODE_CALL_VIRTUAL, 3, 0xb6 },
    [0xe4] = { "fast_linearswitch", OPCODE_SWITCH, 0, 0xab },
    [0xe5] = { "fast_binaryswitch", OPCODE_SWITCH, 0, 0xab },
    [0xe6] = { "fast_aldc", OPCODE_CONSTANT, 2, 0x12 },
    [0xe7] = { "fast_aldc_w", OPCODE_CONSTANT, 3, 0x13 },
    [0xe8] = { "return_register_finalizer", OPCODE_RETURN, 1, 0xb1 },
    [0xe9] = { "invokehandle", OPCODE_CALL_DYNAMIC, 3, 0xb6 },
    [0xea] = { "nofast_getfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xeb] = { "nofast_putfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
    [0xec] = { "nofast_aload_0", OPCODE_LOCAL_READ, 1, 0x2a },
    [0xed] = { "nofast_iload", OPCODE_LOCAL_READ, 2, 0x15 },
    [0xee] = { "fast_vgetfield", OPCODE_FIELD_READ, 3, 0xb4 },
    [0xef] = { "fast_vputfield", OPCODE_FIELD_WRITE, 3, 0xb5 },
};

static const char *const kind_names[OPCODE_KINDS] = {
    [OPCODE_INVALID] = "unknown",
    [OPCODE_CONSTANT] = "constant",
    [OPCODE_LOCAL_READ] = "local variable read",
    [OPCODE_LOCAL_WRITE] = "local variable write",
    [OPCODE_STACK] = "operand stack",
    [OPCODE_ARITHMETIC] = "arithmetic",
    [OPCODE_BRANCH] = "branch",
    [OPCODE_SWITCH] = "switch",
    [OPCODE_RETURN] = "return",
    [OPCODE_THROW] = "throw",
    [OPCODE_FIELD_READ] = "field read",
    [OPCODE_FIELD_WRITE] = "field write",
    [OPCODE_STATIC_READ] = "static field read",
    [OPCODE_STATIC_WRITE] = "static field write",
    [OPCODE_ARRAY_READ] = "array read",
    [OPCODE_ARRAY_WRITE] = "array write",
    [OPCODE_ARRAY_LENGTH] = "array length",
    [OPCODE_TYPE_CHECK] = "type check",
    [OPCODE_ALLOCATION] = "allocation",
    [OPCODE_MONITOR] = "monitor",
    [OPCODE_CALL_VIRTUAL] = "virtual call",
    [OPCODE_CALL_SPECIAL] = "special call",
    [OPCODE_CALL_STATIC] = "static call",
    [OPCODE_CALL_INTERFACE] = "interface call",
    [OPCODE_CALL_DYNAMIC] = "dynamic call",
    [OPCODE_WIDE] = "wide",
};

const char *opcode_kind_name(enum opcode_kind kind)
{
    return kind_names[kind];
}

/* ---- lengths ---- */

/* A switch's operands begin at the next multiple of four: default, then low and high, or the number of pairs. */
static struct cursor switch_operands(const uint8_t *code, size_t n, size_t at)
{
    size_t operands = (at + 4) & ~(size_t)3;
    return operands < n ? cursor_over(code + operands, n - operands) : cursor_over(code, 0);
}

/* How many entries a switch has, of so many bytes each, behind the cursor; false: damaged. */
static bool switch_entries(struct cursor *c, uint8_t java, uint32_t *n, size_t *entry_bytes)
{
    int64_t first = (int32_t)cursor_u32be(c), n_entries = first;
    *entry_bytes = 8;
    if (java == CODE_TABLESWITCH) {
        n_entries = (int32_t)cursor_u32be(c) - first + 1;
        *entry_bytes = 4;
    }
    *n = (uint32_t)n_entries;
    return !c->bad && n_entries >= (java == CODE_TABLESWITCH) && (uint64_t)n_entries <= cursor_left(c) / *entry_bytes;
}

static size_t switch_length(const uint8_t *code, size_t n, size_t at)
{
    struct cursor c = switch_operands(code, n, at);
    uint32_t n_entries;
    size_t entry_bytes;
    cursor_u32be(&c);
    if (!switch_entries(&c, opcodes[code[at]].java, &n_entries, &entry_bytes))
        return 0;
    return (size_t)(c.at - code) + n_entries * entry_bytes - at;
}

static bool may_be_wide(uint8_t code)
{
    const struct opcode *opcode = &opcodes[code];
    bool is_local = opcode->kind == OPCODE_LOCAL_READ || opcode->kind == OPCODE_LOCAL_WRITE;
    return code == CODE_RET || code == CODE_IINC || (is_local && opcode->n_bytes == 2 && opcode->java == code);
}

size_t bytecodes_length(const uint8_t *code, size_t n, size_t at)
{
    if (at >= n)
        return 0;
    size_t length = opcodes[code[at]].n_bytes;
    if (opcodes[code[at]].kind == OPCODE_SWITCH)
        length = switch_length(code, n, at);
    else if (code[at] == CODE_WIDE)
        length = at + 1 < n && may_be_wide(code[at + 1]) ? 2u * opcodes[code[at + 1]].n_bytes : 0;
    return length <= n - at ? length : 0;
}

const struct opcode *bytecodes_at(const uint8_t *code, size_t n, size_t at)
{
    if (bytecodes_length(code, n, at) == 0)
        return NULL;
    return &opcodes[code[code[at] == CODE_WIDE ? at + 1 : at]];
}

/* ---- a method ---- */

static bool switch_goes_back(const uint8_t *code, size_t n, size_t at)
{
    struct cursor c = switch_operands(code, n, at);
    uint32_t n_entries;
    size_t entry_bytes;
    bool goes_back = (int32_t)cursor_u32be(&c) <= 0;
    if (!switch_entries(&c, opcodes[code[at]].java, &n_entries, &entry_bytes))
        return false;
    for (uint32_t i = 0; i < n_entries; i++) {
        cursor_bytes(&c, entry_bytes - 4);
        goes_back |= (int32_t)cursor_u32be(&c) <= 0;
    }
    return goes_back;
}

static bool branch_goes_back(const uint8_t *code, size_t n_bytes, size_t at)
{
    struct cursor c = cursor_over(code + at + 1, n_bytes - 1);
    return n_bytes == 5 ? (int32_t)cursor_u32be(&c) <= 0 : n_bytes == 3 && (int16_t)cursor_u16be(&c) <= 0;
}

bool bytecodes_scan(const uint8_t *code, size_t n, struct bytecodes_summary *summary)
{
    *summary = (struct bytecodes_summary){ .is_straight = true };
    for (size_t at = 0, length; at < n; at += length) {
        length = bytecodes_length(code, n, at);
        if (length == 0)
            return false;
        uint8_t kind = opcodes[code[at]].kind;
        summary->n_instructions++;
        summary->n_calls += opcode_is_call(code[at]);
        if (kind == OPCODE_SWITCH)
            summary->has_loop |= switch_goes_back(code, n, at);
        else if (kind == OPCODE_BRANCH)
            summary->has_loop |= branch_goes_back(code, length, at);
        summary->has_calls |= opcode_is_call(code[at]);
        summary->is_straight &= kind != OPCODE_SWITCH && kind != OPCODE_BRANCH;
    }
    summary->is_whole = true;
    return true;
}
