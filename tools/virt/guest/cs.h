/* SPDX-License-Identifier: MIT */
/*
 * An assembler for the command streams of Mali CSF GPUs: one function an
 * instruction, one 64-bit word out.
 *
 * There are two instruction sets, that of arch 10 and that of arch 11 and later.
 * Most instructions are the same in both. What only one of them has is said at
 * the function; cs11_ is the later set's. cs_emit_sb_entries() and
 * cs_emit_run_idvs() emit what the stream's GPU has.
 *
 * The tests compare every function here with the tables of the instruction sets
 * (tests/cs-encoding.sh), field by field, and every row of the tables with a
 * function here.
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
	CS_OP_RUN_FULLSCREEN = 8,
	CS_OP_FINISH_TILING = 9,
	CS_OP_FINISH_FRAGMENT = 11,
	CS_OP_RUN_IDVS2 = 12,
	CS_OP_ADD32 = 16,
	CS_OP_ADD64 = 17,
	CS_OP_UMIN32 = 18,
	CS_OP_ARITH32 = 18,
	CS_OP_LOGIC_OP32 = 19,
	CS_OP_LOAD_MULTIPLE = 20,
	CS_OP_STORE_MULTIPLE = 21,
	CS_OP_BRANCH = 22,
	CS_OP_SET_SB_ENTRY = 23,
	CS_OP_PROGRESS_WAIT = 24,
	CS_OP_SET_EXCEPTION_HANDLER = 25,
	CS_OP_NEXT_SB_ENTRY = 26,
	CS_OP_SET_STATE = 27,
	CS_OP_SET_STATE_IMM32 = 28,
	CS_OP_SHARED_SB_INC = 30,
	CS_OP_SHARED_SB_DEC = 31,
	CS_OP_CALL = 32,
	CS_OP_JUMP = 33,
	CS_OP_REQ_RESOURCE = 34,
	CS_OP_FLUSH_CACHE2 = 36,
	CS_OP_SYNC_ADD32 = 37,
	CS_OP_SYNC_SET32 = 38,
	CS_OP_SYNC_WAIT32 = 39,
	CS_OP_STORE_STATE = 40,
	CS_OP_PROT_REGION = 41,
	CS_OP_PROGRESS_STORE = 42,
	CS_OP_PROGRESS_LOAD = 43,
	CS_OP_RUN_COMPUTE_INDIRECT = 44,
	CS_OP_ERROR_BARRIER = 47,
	CS_OP_HEAP_SET = 48,
	CS_OP_HEAP_OPERATION = 49,
	CS_OP_TRACE_POINT = 50,
	CS_OP_SYNC_ADD64 = 51,
	CS_OP_SYNC_SET64 = 52,
	CS_OP_SYNC_WAIT64 = 53,
	CS_OP_ARITH64 = 57,
};

/* Operations of cs11_imm32() and cs11_imm64(). */
enum cs11_imm {
	CS11_IMM_ADD = 0,
	CS11_IMM_SHIFT_LEFT = 1,
	CS11_IMM_SHIFT_RIGHT = 2,
	CS11_IMM_SHIFT_RIGHT_SIGNED = 3,
	CS11_IMM_EXTRACT = 4,
	CS11_IMM_EXTRACT_SIGNED = 5,
	CS11_IMM_INSERT = 6,
	CS11_IMM_MIN = 7,
};

/* Operations of cs11_arith32() and cs11_arith64(). */
enum cs11_arith {
	CS11_ARITH_MIN = 0,
	CS11_ARITH_ADD = 1,
	CS11_ARITH_SUBTRACT = 2,
	CS11_ARITH_SHIFT_LEFT = 3,
	CS11_ARITH_SHIFT_RIGHT = 4,
	CS11_ARITH_SHIFT_RIGHT_SIGNED = 5,
	CS11_ARITH_INSERT = 6,
};

/* Bits of cs11_logic32()'s truth table. */
enum cs11_logic {
	CS11_BOTH = 1 << 0,
	CS11_A_NOT_B = 1 << 1,
	CS11_B_NOT_A = 1 << 2,
	CS11_NEITHER = 1 << 3,
};

/* What the state of a stream has, for cs11_set_state(). */
enum cs11_state {
	CS11_SB_ENDPOINT = 0,
	CS11_SB_OTHER = 1,
	CS11_SB_DEFERRED = 2,
	CS11_SB_MASK = 8,
	CS11_WAIT_MASK = 9,
};

/* Types of scoreboard entries, for cs11_next_sb_entry(). */
enum cs11_sb_type {
	CS11_TYPE_ENDPOINT = 1,
	CS11_TYPE_OTHER = 2,
	CS11_TYPE_DEFERRED = 3,
};

/*
 * In an instruction with a wait mask and a signal slot: both are of the stream's
 * state, its wait mask and its entry of deferred operations.
 */
#define CS11_DEFER_INDIRECT (1ull << 52)

/* In RUN_*, FINISH_TILING and WAIT: its end counts as progress of the queue. */
#define CS_WITH_PROGRESS (1ull << 32)

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

/* The lower 8 entries, of which arch 10 has no more. */
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

/* From arch 11 on it is cs11_arith32(), of the same encoding. */
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

/* Arch 10 only: cs_emit_sb_entries() is for both. */
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

/* Arch 10 only: cs_emit_run_idvs() is for both. */
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

static inline uint64_t cs_run_compute_indirect(unsigned int workgroups_per_task)
{
	return cs_op(CS_OP_RUN_COMPUTE_INDIRECT) | cs_field(workgroups_per_task, 0, 16);
}

/* @dcd: a register pair, the address of what is to be drawn over all of the frame. */
static inline uint64_t cs_run_fullscreen(uint32_t flags, unsigned int dcd)
{
	return cs_op(CS_OP_RUN_FULLSCREEN) | cs_field(dcd, 40, 8) | cs_field(flags, 0, 32);
}

static inline uint64_t cs_progress_wait(unsigned int queue, unsigned int ref)
{
	return cs_op(CS_OP_PROGRESS_WAIT) | cs_field(ref, 40, 8) | cs_field(queue, 0, 5);
}

static inline uint64_t cs_progress_store(unsigned int src)
{
	return cs_op(CS_OP_PROGRESS_STORE) | cs_field(src, 40, 8);
}

static inline uint64_t cs_progress_load(unsigned int dst)
{
	return cs_op(CS_OP_PROGRESS_LOAD) | cs_field(dst, 48, 8);
}

/* For when the tiler is out of memory, the one exception that has a handler. */
static inline uint64_t cs_set_exception_handler(unsigned int addr, unsigned int len)
{
	return cs_op(CS_OP_SET_EXCEPTION_HANDLER) | cs_field(addr, 40, 8) |
	       cs_field(len, 32, 8) | cs_field(2, 0, 8);
}

/* @size: bytes of the stream that run in protected mode. */
static inline uint64_t cs_prot_region(unsigned int size)
{
	return cs_op(CS_OP_PROT_REGION) | cs_field(size / 8, 0, 16);
}

static inline uint64_t cs_error_barrier(void)
{
	return cs_op(CS_OP_ERROR_BARRIER);
}

static inline uint64_t cs_trace_point(unsigned int first, unsigned int count, unsigned int wait,
				      unsigned int signal)
{
	return cs_op(CS_OP_TRACE_POINT) | cs_field(signal, 48, 4) | cs_field(count, 40, 8) |
	       cs_field(first, 32, 8) | cs_field(wait, 16, 16);
}

/* The set of arch 11 and later. */

static inline uint64_t cs11_wait(unsigned int slots)
{
	return cs_op(CS_OP_WAIT) | cs_field(slots, 16, 16);
}

/* Waits for the wait mask of the stream's state. */
static inline uint64_t cs11_wait_state(void)
{
	return cs_op(CS_OP_WAIT) | cs_field(1, 33, 1);
}

static inline uint64_t cs11_run_idvs2(uint32_t flags, bool malloc_enable)
{
	return cs_op(CS_OP_RUN_IDVS2) | cs_field(malloc_enable, 33, 1) | cs_field(flags, 0, 32);
}

/* @imm of bit-fields: cs11_bits(). */
static inline uint64_t cs11_imm32(enum cs11_imm op, unsigned int dst, unsigned int src,
				  uint32_t imm)
{
	return cs_op(CS_OP_ADD32) | cs_field(dst, 48, 8) | cs_field(src, 40, 8) |
	       cs_field(op, 32, 8) | cs_field(imm, 0, 32);
}

static inline uint64_t cs11_imm64(enum cs11_imm op, unsigned int dst, unsigned int src,
				  uint32_t imm)
{
	return cs_op(CS_OP_ADD64) | cs_field(dst, 48, 8) | cs_field(src, 40, 8) |
	       cs_field(op, 32, 8) | cs_field(imm, 0, 32);
}

/* A bit-field as an immediate. */
static inline uint32_t cs11_bits(unsigned int first, unsigned int width)
{
	return cs_field(first, 0, 8) | cs_field(width, 8, 8);
}

/* @a is what is shifted, what is subtracted from, what is inserted. @bits: cs11_bits(). */
static inline uint64_t cs11_arith32(enum cs11_arith op, unsigned int dst, unsigned int a,
				    unsigned int b, uint32_t bits)
{
	return cs_op(CS_OP_ARITH32) | cs_field(dst, 48, 8) | cs_field(a, 40, 8) |
	       cs_field(b, 32, 8) | cs_field(op, 24, 8) | cs_field(bits, 0, 16);
}

static inline uint64_t cs11_arith64(enum cs11_arith op, unsigned int dst, unsigned int a,
				    unsigned int b, uint32_t bits)
{
	return cs_op(CS_OP_ARITH64) | cs_field(dst, 48, 8) | cs_field(a, 40, 8) |
	       cs_field(b, 32, 8) | cs_field(op, 24, 8) | cs_field(bits, 0, 16);
}

/* @table: enum cs11_logic. With @b_is_bit the second operand is the bit that b numbers. */
static inline uint64_t cs11_logic32(unsigned int table, bool b_is_bit, unsigned int dst,
				    unsigned int a, unsigned int b)
{
	return cs_op(CS_OP_LOGIC_OP32) | cs_field(dst, 48, 8) | cs_field(a, 40, 8) |
	       cs_field(b, 32, 8) | cs_field(b_is_bit, 4, 1) | cs_field(table, 0, 4);
}

static inline uint64_t cs11_next_sb_entry(enum cs11_sb_type type, bool as_mask, unsigned int dst)
{
	return cs_op(CS_OP_NEXT_SB_ENTRY) | cs_field(dst, 48, 8) | cs_field(as_mask, 36, 1) |
	       cs_field(type, 32, 4);
}

static inline uint64_t cs11_set_state(enum cs11_state state, unsigned int src)
{
	return cs_op(CS_OP_SET_STATE) | cs_field(src, 40, 8) | cs_field(state, 32, 8);
}

static inline uint64_t cs11_set_state_imm(enum cs11_state state, uint32_t value)
{
	return cs_op(CS_OP_SET_STATE_IMM32) | cs_field(state, 32, 8) | cs_field(value, 0, 32);
}

/* Counts the group's shared entry up, and holds the stream's @sbs until it is 0 again. */
static inline uint64_t cs11_shared_sb_inc(unsigned int entry, unsigned int sbs)
{
	return cs_op(CS_OP_SHARED_SB_INC) | cs_field(entry, 40, 8) | cs_field(sbs, 16, 16);
}

static inline uint64_t cs11_shared_sb_dec(unsigned int entry)
{
	return cs_op(CS_OP_SHARED_SB_DEC) | cs_field(entry, 40, 8);
}

/**
 * struct cs_buf - a stream being written
 * @arch: the GPU's architecture (bits 31:28 of its id), which says what instructions it has
 * @insn: where it goes, memory that the GPU sees at @va
 * @va: the GPU's address of @insn[0]
 * @count: instructions written
 * @room: instructions that fit
 */
struct cs_buf {
	uint32_t arch;
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

/* The scoreboard entries that jobs and other operations hold from here on. */
static inline void cs_emit_sb_entries(struct cs_buf *b, unsigned int endpoint, unsigned int other)
{
	if (b->arch < 11) {
		cs_emit(b, cs_set_sb_entry(endpoint, other));
		return;
	}
	cs_emit(b, cs11_set_state_imm(CS11_SB_ENDPOINT, endpoint));
	cs_emit(b, cs11_set_state_imm(CS11_SB_OTHER, other));
}

static inline void cs_emit_run_idvs(struct cs_buf *b, uint32_t flags, bool malloc_enable)
{
	cs_emit(b, b->arch < 11 ? cs_run_idvs(flags, malloc_enable) :
				  cs11_run_idvs2(flags, malloc_enable));
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
