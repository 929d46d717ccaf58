// SPDX-License-Identifier: MIT
/*
 * cs-check 10|11 TABLE - compares cs.h with the table of an instruction set
 *
 * Runs on the host. The number is the first architecture that has the set. TABLE
 * has a row for each field of each instruction:
 * instruction,opcode,field,start_bit,bits,type,modifier. Every function of cs.h
 * that the set has is called with values that differ from field to field; then
 * each field of the table must hold what was given, or 0, and no bit may be set
 * outside. Every instruction of the table must have been asked for. Prints TAP.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../guest/cs.h"

#define MAX_FIELDS 10
#define MAX_ROWS 512

struct field {
	const char *name;
	uint64_t value;
};

struct sample {
	const char *insn;
	uint64_t word;
	struct field fields[MAX_FIELDS];
};

struct row {
	char insn[32], field[40];
	unsigned int opcode, start, bits;
};

static struct row rows[MAX_ROWS];
static unsigned int n_rows;

static int read_table(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];

	if (!f) {
		fprintf(stderr, "cs-check: %s: %s\n", path, strerror(errno));
		return -1;
	}
	while (fgets(line, sizeof(line), f)) {
		struct row *r = &rows[n_rows];

		if (line[0] == '#' || !strncmp(line, "instruction,", 12))
			continue;
		if (n_rows == MAX_ROWS ||
		    sscanf(line, "%31[^,],%u,%39[^,],%u,%u,", r->insn, &r->opcode, r->field,
			   &r->start, &r->bits) != 5) {
			fprintf(stderr, "cs-check: %s: cannot use the row '%s'\n", path, line);
			fclose(f);
			return -1;
		}
		n_rows++;
	}
	fclose(f);
	return 0;
}

/* Prints what is wrong with @s as TAP diagnostics. Returns the number of wrong things. */
static int check(const struct sample *s)
{
	unsigned int found = 0, given = 0;
	uint64_t covered = 0;
	int bad = 0;

	while (given < MAX_FIELDS && s->fields[given].name)
		given++;

	for (unsigned int i = 0; i < n_rows; i++) {
		const struct row *r = &rows[i];
		uint64_t mask, want = 0, have;

		if (strcmp(r->insn, s->insn))
			continue;
		mask = ~0ull >> (64 - r->bits);
		have = s->word >> r->start & mask;
		covered |= mask << r->start;
		if (!strcmp(r->field, "Opcode"))
			want = r->opcode;
		for (unsigned int f = 0; f < given; f++) {
			if (!strcmp(r->field, s->fields[f].name)) {
				want = s->fields[f].value & mask;
				found++;
			}
		}
		if (have != want) {
			printf("# %s: %s (bits %u to %u) is 0x%" PRIx64 ", not 0x%" PRIx64
			       " in 0x%016" PRIx64 "\n",
			       s->insn, r->field, r->start, r->start + r->bits - 1, have, want,
			       s->word);
			bad++;
		}
	}
	if (!covered) {
		printf("# %s is not in the table\n", s->insn);
		bad++;
	}
	if (found != given) {
		printf("# %s: only %u of %u fields are in the table\n", s->insn, found, given);
		bad++;
	}
	if (s->word & ~covered) {
		printf("# %s: bits 0x%" PRIx64 " are set outside of all fields\n", s->insn,
		       s->word & ~covered);
		bad++;
	}
	return bad;
}

/* Which instructions of the table are in none of @samples: as TAP diagnostics, and how many. */
static unsigned int missing(const struct sample *const *samples)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < n_rows; i++) {
		bool found = i && !strcmp(rows[i].insn, rows[i - 1].insn);

		for (unsigned int set = 0; set < 2; set++)
			for (const struct sample *s = samples[set]; s->insn; s++)
				found |= !strcmp(s->insn, rows[i].insn);
		if (!found) {
			printf("# no function is tested for %s\n", rows[i].insn);
			n++;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	/* Some values are too wide for their field: what spills shows in a neighbour. */
	const struct sample common[] = {
		{ "NOP", cs_nop(), {} },
		{ "MOVE", cs_move(0x5a, 0xfff123456789abcd),
		  { { "Destination", 0x5a }, { "Immediate", 0x123456789abcd } } },
		{ "MOVE32", cs_move32(0x5b, 0x89abcdef),
		  { { "Destination", 0x5b }, { "Immediate", 0x89abcdef } } },
		{ "ADD_IMMEDIATE32", cs_add32(0x11, 0x22, -2),
		  { { "Destination", 0x11 }, { "Source", 0x22 }, { "Immediate", 0xfffffffe } } },
		{ "ADD_IMMEDIATE64", cs_add64(0x33, 0x44, -3),
		  { { "Destination", 0x33 }, { "Source", 0x44 }, { "Immediate", 0xfffffffd } } },
		{ "LOAD_MULTIPLE", cs_load(0x13, 0x35, 0xbeef, -8),
		  { { "Base register", 0x13 }, { "Address", 0x35 }, { "Mask", 0xbeef },
		    { "Offset", 0xfff8 } } },
		{ "STORE_MULTIPLE", cs_store(0x14, 0x36, 0xcafe, -16),
		  { { "Base register", 0x14 }, { "Address", 0x36 }, { "Mask", 0xcafe },
		    { "Offset", 0xfff0 } } },
		{ "BRANCH", cs_branch(CS_COND_GEQUAL, 0x37, -5),
		  { { "Condition", 5 }, { "Value", 0x37 }, { "Offset", 0xfffb } } },
		{ "CALL", cs_call(0x38, 0x39), { { "Address", 0x38 }, { "Length", 0x39 } } },
		{ "JUMP", cs_jump(0x3a, 0x3b), { { "Address", 0x3a }, { "Length", 0x3b } } },
		{ "REQ_RESOURCE", cs_req_resource(CS_RES_COMPUTE), { { "Compute", 1 } } },
		{ "REQ_RESOURCE", cs_req_resource(CS_RES_FRAGMENT), { { "Fragment", 1 } } },
		{ "REQ_RESOURCE", cs_req_resource(CS_RES_TILER), { { "Tiler", 1 } } },
		{ "REQ_RESOURCE", cs_req_resource(CS_RES_IDVS), { { "IDVS", 1 } } },
		{ "FLUSH_CACHE2",
		  cs_flush_cache2(CS_FLUSH_CLEAN, CS_FLUSH_CLEAN_INVALIDATE, true, 0x3c, 0x81, 0x15),
		  { { "L2 flush mode", 1 }, { "LSC flush mode", 3 }, { "Other invalidate", 1 },
		    { "Latest Flush ID", 0x3c }, { "Wait mask", 0x81 }, { "Signal slot", 5 } } },
		{ "SYNC_ADD32", cs_sync(CS_OP_SYNC_ADD32, CS_SCOPE_CSG, 0x3d, 0x3e, 0x42, 7),
		  { { "Scope", 2 }, { "Data", 0x3d }, { "Address", 0x3e }, { "Wait mask", 0x42 },
		    { "Signal slot", 7 } } },
		{ "SYNC_SET32", cs_sync(CS_OP_SYNC_SET32, CS_SCOPE_CSG, 0x3d, 0x3e, 0x42, 7),
		  { { "Scope", 2 }, { "Data", 0x3d }, { "Address", 0x3e }, { "Wait mask", 0x42 },
		    { "Signal slot", 7 } } },
		{ "SYNC_ADD64", cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_CSG, 0x3d, 0x3e, 0x42, 7),
		  { { "Scope", 2 }, { "Data", 0x3d }, { "Address", 0x3e }, { "Wait mask", 0x42 },
		    { "Signal slot", 7 } } },
		{ "SYNC_SET64", cs_sync(CS_OP_SYNC_SET64, CS_SCOPE_CSG, 0x3d, 0x3e, 0x42, 7),
		  { { "Scope", 2 }, { "Data", 0x3d }, { "Address", 0x3e }, { "Wait mask", 0x42 },
		    { "Signal slot", 7 } } },
		{ "SYNC_WAIT32", cs_sync_wait(CS_OP_SYNC_WAIT32, CS_COND_GREATER, 0x3f, 0x40),
		  { { "Condition", 1 }, { "Data", 0x3f }, { "Address", 0x40 } } },
		{ "SYNC_WAIT64", cs_sync_wait(CS_OP_SYNC_WAIT64, CS_COND_GREATER, 0x3f, 0x40),
		  { { "Condition", 1 }, { "Data", 0x3f }, { "Address", 0x40 } } },
		{ "STORE_STATE", cs_store_state(CS_STATE_CYCLE_COUNT, 0x41, -32, 0x24, 3),
		  { { "State", 1 }, { "Address", 0x41 }, { "Offset", 0xffe0 },
		    { "Wait mask", 0x24 }, { "Signal slot", 3 } } },
		{ "RUN_COMPUTE", cs_run_compute(0x7001, 2),
		  { { "Task increment", 0x3001 }, { "Task axis", 2 } } },
		{ "RUN_TILING", cs_run_tiling(0x12345678), { { "Flags override", 0x12345678 } } },
		{ "RUN_FRAGMENT", cs_run_fragment(true, 0x16),
		  { { "Enable TEM", 1 }, { "Tile order", 6 } } },
		{ "FINISH_TILING", cs_finish_tiling(), {} },
		{ "FINISH_FRAGMENT", cs_finish_fragment(true, 0x42, 0x43, 0x18, 2),
		  { { "Increment Fragment Completed", 1 }, { "First Heap Chunk", 0x42 },
		    { "Last Heap Chunk", 0x43 }, { "Wait mask", 0x18 }, { "Signal slot", 2 } } },
		{ "HEAP_SET", cs_heap_set(0x44), { { "Address", 0x44 } } },
		{ "HEAP_OPERATION", cs_heap_operation(CS_HEAP_FRAG_END, 0x2c, 4),
		  { { "Operation", 3 }, { "Wait mask", 0x2c }, { "Signal slot", 4 } } },
		{ "RUN_COMPUTE_INDIRECT", cs_run_compute_indirect(0x18001),
		  { { "Workgroups per task", 0x8001 } } },
		{ "RUN_COMPUTE", cs_run_compute(0, 0) | CS_WITH_PROGRESS,
		  { { "Progress increment", 1 } } },
		{ "RUN_FULLSCREEN", cs_run_fullscreen(0x87654321, 0x45),
		  { { "Flags override", 0x87654321 }, { "DCD", 0x45 } } },
		{ "PROGRESS_WAIT", cs_progress_wait(0x25, 0x46),
		  { { "Queue", 5 }, { "Source", 0x46 } } },
		{ "PROGRESS_STORE", cs_progress_store(0x47), { { "Source", 0x47 } } },
		{ "PROGRESS_LOAD", cs_progress_load(0x48), { { "Destination", 0x48 } } },
		{ "SET_EXCEPTION_HANDLER", cs_set_exception_handler(0x49, 0x4a),
		  { { "Exception type", 2 }, { "Address", 0x49 }, { "Length", 0x4a } } },
		{ "PROT_REGION", cs_prot_region(0x1230), { { "Size", 0x1230 / 8 } } },
		{ "ERROR_BARRIER", cs_error_barrier(), {} },
		{ "TRACE_POINT", cs_trace_point(0x4b, 0x4c, 0x91, 0x16),
		  { { "Base Register", 0x4b }, { "Register Count", 0x4c }, { "Wait mask", 0x91 },
		    { "Signal slot", 6 } } },
		{}
	};
	const struct sample v10[] = {
		{ "WAIT", cs_wait(0x1a5), { { "Wait mask", 0xa5 } } },
		{ "UMIN32", cs_umin32(0x12, 0x34, 0x56),
		  { { "Destination", 0x12 }, { "Source 1", 0x34 }, { "Source 2", 0x56 } } },
		{ "SET_SB_ENTRY", cs_set_sb_entry(0x19, 6),
		  { { "Endpoint entry", 9 }, { "Other entry", 6 } } },
		{ "RUN_IDVS", cs_run_idvs(0x9abcdef0, true),
		  { { "Flags override", 0x9abcdef0 }, { "Malloc enable", 1 } } },
		{}
	};
	const struct sample v11[] = {
		{ "WAIT", cs_wait(0x1a5), { { "Wait mask", 0xa5 } } },
		{ "WAIT", cs11_wait(0x1a5a5), { { "Wait mask", 0xa5a5 } } },
		{ "WAIT", cs11_wait_state(), { { "Wait mask of the state", 1 } } },
		{ "RUN_IDVS2", cs11_run_idvs2(0x9abcdef0, true),
		  { { "Flags override", 0x9abcdef0 }, { "Malloc enable", 1 } } },
		{ "ADD_IMMEDIATE32", cs11_imm32(CS11_IMM_INSERT, 0x51, 0x52, cs11_bits(0x105, 0x209)),
		  { { "Operation", 6 }, { "Destination", 0x51 }, { "Source", 0x52 },
		    { "Immediate", 0x905 } } },
		{ "ADD_IMMEDIATE64", cs11_imm64(CS11_IMM_MIN, 0x53, 0x54, 0xfedcba98),
		  { { "Operation", 7 }, { "Destination", 0x53 }, { "Source", 0x54 },
		    { "Immediate", 0xfedcba98 } } },
		{ "ARITH32", cs_umin32(0x12, 0x34, 0x56),
		  { { "Destination", 0x12 }, { "Source 2", 0x34 }, { "Source 1", 0x56 } } },
		{ "ARITH32", cs11_arith32(CS11_ARITH_INSERT, 0x55, 0x56, 0x57, cs11_bits(9, 17)),
		  { { "Operation", 6 }, { "Destination", 0x55 }, { "Source 1", 0x56 },
		    { "Source 2", 0x57 }, { "Field position", 9 }, { "Field width", 17 } } },
		{ "ARITH64", cs11_arith64(CS11_ARITH_SUBTRACT, 0x58, 0x59, 0x5a, 0),
		  { { "Operation", 2 }, { "Destination", 0x58 }, { "Source 1", 0x59 },
		    { "Source 2", 0x5a } } },
		{ "LOGIC_OP32", cs11_logic32(0x16, true, 0x5b, 0x5c, 0x5d),
		  { { "Truth table", 6 }, { "Source 2 is a bit number", 1 },
		    { "Destination", 0x5b }, { "Source 1", 0x5c }, { "Source 2", 0x5d } } },
		{ "NEXT_SB_ENTRY", cs11_next_sb_entry(CS11_TYPE_DEFERRED, true, 0x5e),
		  { { "Type", 3 }, { "As mask", 1 }, { "Destination", 0x5e } } },
		{ "SET_STATE", cs11_set_state(CS11_SB_MASK, 0x5f),
		  { { "State", 8 }, { "Source", 0x5f } } },
		{ "SET_STATE_IMM32", cs11_set_state_imm(CS11_WAIT_MASK, 0x89abcdef),
		  { { "State", 9 }, { "Value", 0x89abcdef } } },
		{ "SHARED_SB_INC", cs11_shared_sb_inc(0x61, 0x1842a),
		  { { "Shared entry", 0x61 }, { "Mask", 0x842a } } },
		{ "SHARED_SB_DEC", cs11_shared_sb_dec(0x62), { { "Shared entry", 0x62 } } },
		{ "SYNC_ADD64",
		  cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_CSG, 0x3d, 0x3e, 0, 0) | CS11_DEFER_INDIRECT,
		  { { "Scope", 2 }, { "Data", 0x3d }, { "Address", 0x3e },
		    { "Defer indirect", 1 } } },
		{}
	};
	const struct sample *sets[2] = { common, NULL };
	unsigned int n = 0;
	int failed = 0;

	if (argc == 3 && !strcmp(argv[1], "10"))
		sets[1] = v10;
	else if (argc == 3 && !strcmp(argv[1], "11"))
		sets[1] = v11;
	if (!sets[1]) {
		fprintf(stderr, "usage: cs-check 10|11 TABLE\n");
		return 2;
	}
	if (read_table(argv[2]))
		return 2;

	for (unsigned int set = 0; set < 2; set++) {
		for (const struct sample *s = sets[set]; s->insn; s++) {
			int bad = check(s);

			failed += !!bad;
			printf("%sok %u - %s is encoded as the table says\n", bad ? "not " : "",
			       ++n, s->insn);
		}
	}
	if (missing(sets)) {
		failed++;
		printf("not ");
	}
	printf("ok %u - every instruction of the table is tested\n", ++n);
	printf("1..%u\n", n);
	return failed ? 1 : 0;
}
