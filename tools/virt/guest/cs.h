/* SPDX-License-Identifier: MIT */
/*
 * An assembler for the command streams of Mali CSF GPUs (arch 10), as small as
 * the guest programs need it: one function an instruction, one 64-bit word out.
 *
 * The tests compare every function here with the instruction set's table
 * (tests/cs-encoding.sh), field by field.
 */
#ifndef PANTHOR_GUEST_CS_H
#define PANTHOR_GUEST_CS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cs_opcode {
	CS_OP_NOP = 0,
	CS_OP_MOVE = 1,
	CS_OP_MOVE32 = 2,
	CS_OP_WAIT = 3,
	CS_OP_RUN_COMPUTE = 4,
	CS_OP_RUN_TILING = 5,
	CS_OP_RUN_IDVS = 6,
	CS_OP_RUN_FRAGMENT = 7,
	CS_OP_FINISH_TILING = 9,
	CS_OP_FINISH_FRAGMENT = 11,
	CS_OP_ADD32 = 16,
	CS_OP_ADD64 = 17,
	CS_OP_UMIN32 = 18,
	CS_OP_LOAD_MULTIPLE = 20,
	CS_OP_STORE_MULTIPLE = 21,
	CS_OP_BRANCH = 22,
	CS_OP_SET_SB_ENTRY = 23,
	CS_OP_CALL = 32,
	CS_OP_JUMP = 33,
	CS_OP_REQ_RESOURCE = 34,
	CS_OP_FLUSH_CACHE2 = 36,
	CS_OP_SYNC_ADD32 = 37,
	CS_OP_SYNC_SET32 = 38,
	CS_OP_SYNC_WAIT32 = 39,
	CS_OP_STORE_STATE = 40,
	CS_OP_HEAP_SET = 48,
	CS_OP_HEAP_OPERATION = 49,
	CS_OP_SYNC_ADD64 = 51,
	CS_OP_SYNC_SET64 = 52,
	CS_OP_SYNC_WAIT64 = 53,
};

enum cs_condition {
	CS_COND_LEQUAL = 0,
	CS_COND_GREATER = 1,
	CS_COND_EQUAL = 2,
	CS_COND_NEQUAL = 3,
	CS_COND_LESS = 4,
	CS_COND_GEQUAL = 5,
	CS_COND_ALWAYS = 6,
};

enum cs_state {
	CS_STATE_TIMESTAMP = 0,
	CS_STATE_CYCLE_COUNT = 1,
};

enum cs_flush {
	CS_FLUSH_NONE = 0,
	CS_FLUSH_CLEAN = 1,
	CS_FLUSH_CLEAN_INVALIDATE = 3,
};

enum cs_scope {
	CS_SCOPE_SYSTEM = 0,
	CS_SCOPE_CSG = 2,
};

enum cs_heap_op {
	CS_HEAP_VT_START = 0,
	CS_HEAP_VT_END = 1,
	CS_HEAP_FRAG_END = 3,
};

enum cs_resource {
	CS_RES_COMPUTE = 1 << 0,
	CS_RES_FRAGMENT = 1 << 1,
	CS_RES_TILER = 1 << 2,
	CS_RES_IDVS = 1 << 3,
};

/* @value cut to @bits, at bit @start: nothing can spill into another field. */
static inline uint64_t cs_field(uint64_t value, unsigned int start, unsigned int bits)
{
	return (value & (~0ull >> (64 - bits))) << start;
}

static inline uint64_t cs_op(enum cs_opcode op)
{
	return (uint64_t)op << 56;
}

static inline uint64_t cs_nop(void)
{
	return cs_op(CS_OP_NOP);
}

static inline uint64_t cs_move(unsigned int dst, uint64_t imm48)
{
	return cs_op(CS_OP_MOVE) | cs_field(dst, 48, 8) | cs_field(imm48, 0, 48);
}

static inline uint64_t cs_move32(unsigned int dst, uint32_t imm)
{
	return cs_op(CS_OP_MOVE32) | cs_field(dst, 48, 8) | cs_field(imm, 0, 32);
}

static inline uint64_t cs_wait(unsigned int slots)
{
	return cs_op(CS_OP_WAIT) | cs_field(slots, 16, 8);
}

static inline uint64_t cs_add32(unsigned int dst, unsigned int src, int32_t imm)
{
	return cs_op(CS_OP_ADD32) | cs_field(dst, 48, 8) | cs_field(src, 40, 8) |
	       cs_field((uint32_t)imm, 0, 32);
}

static inline uint64_t cs_add64(unsigned int dst, unsigned int src, int32_t imm)
{
	return cs_op(CS_OP_ADD64) | cs_field(dst, 48, 8) | cs_field(src, 40, 8) |
	       cs_field((uint32_t)imm, 0, 32);
}

static inline uint64_t cs_umin32(unsigned int dst, unsigned int src1, unsigned int src2)
{
	return cs_op(CS_OP_UMIN32) | cs_field(dst, 48, 8) | cs_field(src2, 40, 8) |
	       cs_field(src1, 32, 8);
}

static inline uint64_t cs_load(unsigned int dst, unsigned int addr, uint16_t mask, int16_t offset)
{
	return cs_op(CS_OP_LOAD_MULTIPLE) | cs_field(dst, 48, 8) | cs_field(addr, 40, 8) |
	       cs_field(mask, 16, 16) | cs_field((uint16_t)offset, 0, 16);
}

static inline uint64_t cs_store(unsigned int src, unsigned int addr, uint16_t mask, int16_t offset)
{
	return cs_op(CS_OP_STORE_MULTIPLE) | cs_field(src, 48, 8) | cs_field(addr, 40, 8) |
	       cs_field(mask, 16, 16) | cs_field((uint16_t)offset, 0, 16);
}

/* @offset counts instructions from the one after the branch. */
static inline uint64_t cs_branch(enum cs_condition cond, unsigned int reg, int16_t offset)
{
	return cs_op(CS_OP_BRANCH) | cs_field(reg, 40, 8) | cs_field(cond, 28, 3) |
	       cs_field((uint16_t)offset, 0, 16);
}

static inline uint64_t cs_set_sb_entry(unsigned int endpoint, unsigned int other)
{
	return cs_op(CS_OP_SET_SB_ENTRY) | cs_field(other, 4, 4) | cs_field(endpoint, 0, 4);
}

/* The register @len holds bytes, for a call as for a jump. */
static inline uint64_t cs_call(unsigned int addr, unsigned int len)
{
	return cs_op(CS_OP_CALL) | cs_field(addr, 40, 8) | cs_field(len, 32, 8);
}

static inline uint64_t cs_jump(unsigned int addr, unsigned int len)
{
	return cs_op(CS_OP_JUMP) | cs_field(addr, 40, 8) | cs_field(len, 32, 8);
}

static inline uint64_t cs_req_resource(unsigned int resources)
{
	return cs_op(CS_OP_REQ_RESOURCE) | cs_field(resources, 0, 4);
}

static inline uint64_t cs_flush_cache2(enum cs_flush l2, enum cs_flush lsc, bool other_inv,
				       unsigned int flush_id, unsigned int wait,
				       unsigned int signal)
{
	return cs_op(CS_OP_FLUSH_CACHE2) | cs_field(signal, 48, 4) | cs_field(flush_id, 40, 8) |
	       cs_field(wait, 16, 16) | cs_field(other_inv, 9, 1) | cs_field(lsc, 4, 4) |
	       cs_field(l2, 0, 4);
}

static inline uint64_t cs_sync(enum cs_opcode op, enum cs_scope scope, unsigned int data,
			       unsigned int addr, unsigned int wait, unsigned int signal)
{
	return cs_op(op) | cs_field(signal, 48, 4) | cs_field(addr, 40, 8) |
	       cs_field(data, 32, 8) | cs_field(wait, 16, 16) | cs_field(scope, 1, 2);
}

static inline uint64_t cs_sync_wait(enum cs_opcode op, enum cs_condition cond, unsigned int data,
				    unsigned int addr)
{
	return cs_op(op) | cs_field(addr, 40, 8) | cs_field(data, 32, 8) | cs_field(cond, 28, 4);
}

static inline uint64_t cs_store_state(enum cs_state state, unsigned int addr, int16_t offset,
				      unsigned int wait, unsigned int signal)
{
	return cs_op(CS_OP_STORE_STATE) | cs_field(signal, 48, 4) | cs_field(addr, 40, 8) |
	       cs_field(state, 32, 2) | cs_field(wait, 16, 16) |
	       cs_field((uint16_t)offset, 0, 16);
}

/* @axis: 0 x, 1 y, 2 z, along which a task takes @increment workgroups. */
static inline uint64_t cs_run_compute(unsigned int increment, unsigned int axis)
{
	return cs_op(CS_OP_RUN_COMPUTE) | cs_field(axis, 14, 2) | cs_field(increment, 0, 14);
}

static inline uint64_t cs_run_tiling(uint32_t flags)
{
	return cs_op(CS_OP_RUN_TILING) | cs_field(flags, 0, 32);
}

static inline uint64_t cs_run_idvs(uint32_t flags, bool malloc_enable)
{
	return cs_op(CS_OP_RUN_IDVS) | cs_field(malloc_enable, 33, 1) | cs_field(flags, 0, 32);
}

static inline uint64_t cs_run_fragment(bool enable_tem, unsigned int tile_order)
{
	return cs_op(CS_OP_RUN_FRAGMENT) | cs_field(tile_order, 4, 4) | cs_field(enable_tem, 0, 1);
}

static inline uint64_t cs_finish_tiling(void)
{
	return cs_op(CS_OP_FINISH_TILING);
}

static inline uint64_t cs_finish_fragment(bool increment, unsigned int first_chunk,
					  unsigned int last_chunk, unsigned int wait,
					  unsigned int signal)
{
	return cs_op(CS_OP_FINISH_FRAGMENT) | cs_field(signal, 48, 4) |
	       cs_field(first_chunk, 40, 8) | cs_field(last_chunk, 32, 8) |
	       cs_field(wait, 16, 16) | cs_field(increment, 0, 1);
}

static inline uint64_t cs_heap_set(unsigned int addr)
{
	return cs_op(CS_OP_HEAP_SET) | cs_field(addr, 40, 8);
}

static inline uint64_t cs_heap_operation(enum cs_heap_op op, unsigned int wait,
					 unsigned int signal)
{
	return cs_op(CS_OP_HEAP_OPERATION) | cs_field(signal, 48, 4) | cs_field(op, 32, 2) |
	       cs_field(wait, 16, 16);
}

/**
 * struct cs_buf - a stream being written
 * @insn: where it goes, memory that the GPU sees at @va
 * @va: the GPU's address of @insn[0]
 * @count: instructions written
 * @room: instructions that fit
 */
struct cs_buf {
	uint64_t *insn;
	uint64_t va;
	uint32_t count;
	uint32_t room;
};

/* Dropping what does not fit would run half a stream: overflow is for the caller to see. */
static inline void cs_emit(struct cs_buf *b, uint64_t insn)
{
	if (b->count < b->room)
		b->insn[b->count] = insn;
	b->count++;
}

static inline bool cs_overflowed(const struct cs_buf *b)
{
	return b->count > b->room;
}

static inline uint32_t cs_size(const struct cs_buf *b)
{
	return b->count * sizeof(uint64_t);
}

#endif /* PANTHOR_GUEST_CS_H */
