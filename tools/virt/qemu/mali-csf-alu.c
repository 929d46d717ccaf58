/*
 * Arm Mali CSF GPU: arithmetic of command streams, from arch 11 on
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Values in, values out: nothing here knows a stream. Where public sources are
 * silent: to shift by the width of a register or more leaves nothing (or the
 * sign); a bit-field ends where its register does, and one that begins behind
 * it has no bits.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "mali-csf-cs.h"

/* Sub-opcodes of ADD_IMM32 and ADD_IMM64 */
enum {
    IMM_ADD, IMM_SHIFT_LEFT, IMM_SHIFT_RIGHT, IMM_SHIFT_RIGHT_SIGNED,
    IMM_EXTRACT, IMM_EXTRACT_SIGNED, IMM_INSERT, IMM_MIN,
};

/* Sub-opcodes of the instructions with two source registers */
enum {
    REG_MIN, REG_ADD, REG_SUBTRACT, REG_SHIFT_LEFT, REG_SHIFT_RIGHT,
    REG_SHIFT_RIGHT_SIGNED, REG_INSERT,
};

static uint64_t alu_low(unsigned bits)
{
    return bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
}

/* @v, of @bits bits, as 64 bits with its sign. */
static int64_t alu_signed(uint64_t v, unsigned bits)
{
    return sextract64(v, 0, bits);
}

static uint64_t alu_left(uint64_t v, uint64_t by, unsigned bits)
{
    return by < bits ? v << by : 0;
}

static uint64_t alu_right(uint64_t v, uint64_t by, unsigned bits)
{
    return by < bits ? v >> by : 0;
}

static uint64_t alu_right_signed(uint64_t v, uint64_t by, unsigned bits)
{
    return alu_signed(v, bits) >> MIN(by, bits - 1);
}

/* Where a bit-field begins, and how many bits of it the register has. */
static unsigned alu_field(uint32_t imm, unsigned bits, unsigned *first)
{
    unsigned width = extract32(imm, 8, 8);

    *first = extract32(imm, 0, 8);
    return *first < bits ? MIN(width, bits - *first) : 0;
}

static uint64_t alu_extract(uint64_t v, uint32_t imm, unsigned bits, bool sign)
{
    unsigned first, width = alu_field(imm, bits, &first);

    if (!width) {
        return 0;
    }
    return sign ? sextract64(v, first, width) : extract64(v, first, width);
}

static uint64_t alu_insert(uint64_t to, uint64_t v, uint32_t imm, unsigned bits)
{
    unsigned first, width = alu_field(imm, bits, &first);

    return width ? deposit64(to, first, width, v) : to;
}

static bool alu_immediate(unsigned op, uint64_t dst, uint64_t src,
                          uint32_t imm, unsigned bits, uint64_t *result)
{
    switch (op) {
    case IMM_ADD:
        *result = src + (int64_t)(int32_t)imm;
        break;
    case IMM_SHIFT_LEFT:
        *result = alu_left(src, imm, bits);
        break;
    case IMM_SHIFT_RIGHT:
        *result = alu_right(src, imm, bits);
        break;
    case IMM_SHIFT_RIGHT_SIGNED:
        *result = alu_right_signed(src, imm, bits);
        break;
    case IMM_EXTRACT:
        *result = alu_extract(src, imm, bits, false);
        break;
    case IMM_EXTRACT_SIGNED:
        *result = alu_extract(src, imm, bits, true);
        break;
    case IMM_INSERT:
        *result = alu_insert(dst, src, imm, bits);
        break;
    case IMM_MIN:
        *result = MIN(src, imm);
        break;
    default:
        return false;
    }
    *result &= alu_low(bits);
    return true;
}

static bool alu_registers(uint32_t imm, uint64_t a, uint64_t b, unsigned bits,
                          uint64_t *result)
{
    switch (extract32(imm, 24, 8)) {
    case REG_MIN:
        *result = MIN(a, b);
        break;
    case REG_ADD:
        *result = a + b;
        break;
    case REG_SUBTRACT:
        *result = a - b;
        break;
    case REG_SHIFT_LEFT:
        *result = alu_left(a, b, bits);
        break;
    case REG_SHIFT_RIGHT:
        *result = alu_right(a, b, bits);
        break;
    case REG_SHIFT_RIGHT_SIGNED:
        *result = alu_right_signed(a, b, bits);
        break;
    case REG_INSERT:
        *result = alu_insert(b, a, imm, bits);
        break;
    default:
        return false;
    }
    *result &= alu_low(bits);
    return true;
}

bool mali_csf_alu_immediate32(unsigned op, uint32_t dst, uint32_t src,
                              uint32_t imm, uint64_t *result)
{
    return alu_immediate(op, dst, src, imm, 32, result);
}

bool mali_csf_alu_immediate64(unsigned op, uint64_t dst, uint64_t src,
                              uint32_t imm, uint64_t *result)
{
    return alu_immediate(op, dst, src, imm, 64, result);
}

bool mali_csf_alu_registers32(uint32_t imm, uint32_t a, uint32_t b,
                              uint64_t *result)
{
    return alu_registers(imm, a, b, 32, result);
}

bool mali_csf_alu_registers64(uint32_t imm, uint64_t a, uint64_t b,
                              uint64_t *result)
{
    return alu_registers(imm, a, b, 64, result);
}

/* A truth table: a and b, a and not b, not a and b, neither. */
uint32_t mali_csf_alu_logic32(uint32_t imm, uint32_t a, uint32_t b)
{
    uint32_t result = 0;

    if (extract32(imm, 4, 1)) {
        b = 1u << (b & 31);
    }
    if (imm & 1) {
        result |= a & b;
    }
    if (imm & 2) {
        result |= a & ~b;
    }
    if (imm & 4) {
        result |= ~a & b;
    }
    if (imm & 8) {
        result |= ~(a | b);
    }
    return result;
}
