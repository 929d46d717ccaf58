// SPDX-License-Identifier: MIT
/*
 * cs-check TABLE - compares cs.h with the table of the instruction set
 *
 * Runs on the host. TABLE has a row for each field of each instruction:
 * instruction,opcode,field,start_bit,bits,type,modifier. Every function of cs.h
 * is called with values that differ from field to field; then each field of the
 * table must hold what was given, or 0, and no bit may be set outside. Prints
 * TAP.
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

int main(int argc, char **argv)
{
	/* Some values are too wide for their field: what spills shows in a neighbour. */
	const struct sample samples[] = {
		{ "NOP", cs_nop(), {} },
		{ "MOVE", cs_move(0x5a, 0xfff123456789abcd),
		  { { "Destination", 0x5a }, { "Immediate", 0x123456789abcd } } },
		{ "MOVE32", cs_move32(0x5b, 0x89abcdef),
		  { { "Destination", 0x5b }, { "Immediate", 0x89abcdef } } },
		{ "WAIT", cs_wait(0x1a5), { { "Wait mask", 0xa5 } } },
		{ "ADD_IMMEDIATE32", cs_add32(0x11, 0x22, -2),
		  { { "Destination", 0x11 }, { "Source", 0x22 }, { "Immediate", 0xfffffffe } } },
		{ "ADD_IMMEDIATE64", cs_add64(0x33, 0x44, -3),
		  { { "Destination", 0x33 }, { "Source", 0x44 }, { "Immediate", 0xfffffffd } } },
		{ "UMIN32", cs_umin32(0x12, 0x34, 0x56),
		  { { "Destination", 0x12 }, { "Source 1", 0x34 }, { "Source 2", 0x56 } } },
		{ "LOAD_MULTIPLE", cs_load(0x13, 0x35, 0xbeef, -8),
		  { { "Base register", 0x13 }, { "Address", 0x35 }, { "Mask", 0xbeef },
		    { "Offset", 0xfff8 } } },
		{ "STORE_MULTIPLE", cs_store(0x14, 0x36, 0xcafe, -16),
		  { { "Base register", 0x14 }, { "Address", 0x36 }, { "Mask", 0xcafe },
		    { "Offset", 0xfff0 } } },
		{ "BRANCH", cs_branch(CS_COND_GEQUAL, 0x37, -5),
		  { { "Condition", 5 }, { "Value", 0x37 }, { "Offset", 0xfffb } } },
		{ "SET_SB_ENTRY", cs_set_sb_entry(0x19, 6),
		  { { "Endpoint entry", 9 }, { "Other entry", 6 } } },
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
		{ "RUN_IDVS", cs_run_idvs(0x9abcdef0, true),
		  { { "Flags override", 0x9abcdef0 }, { "Malloc enable", 1 } } },
		{ "RUN_FRAGMENT", cs_run_fragment(true, 0x16),
		  { { "Enable TEM", 1 }, { "Tile order", 6 } } },
		{ "FINISH_TILING", cs_finish_tiling(), {} },
		{ "FINISH_FRAGMENT", cs_finish_fragment(true, 0x42, 0x43, 0x18, 2),
		  { { "Increment Fragment Completed", 1 }, { "First Heap Chunk", 0x42 },
		    { "Last Heap Chunk", 0x43 }, { "Wait mask", 0x18 }, { "Signal slot", 2 } } },
		{ "HEAP_SET", cs_heap_set(0x44), { { "Address", 0x44 } } },
		{ "HEAP_OPERATION", cs_heap_operation(CS_HEAP_FRAG_END, 0x2c, 4),
		  { { "Operation", 3 }, { "Wait mask", 0x2c }, { "Signal slot", 4 } } },
	};
	const unsigned int n = sizeof(samples) / sizeof(samples[0]);
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: cs-check TABLE\n");
		return 2;
	}
	if (read_table(argv[1]))
		return 2;

	printf("1..%u\n", n);
	for (unsigned int i = 0; i < n; i++) {
		int bad = check(&samples[i]);

		failed += !!bad;
		printf("%sok %u - %s is encoded as the table says\n", bad ? "not " : "", i + 1,
		       samples[i].insn);
	}
	return failed ? 1 : 0;
}
