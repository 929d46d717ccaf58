// SPDX-License-Identifier: MIT
/*
 * Does the model allow what arm64 allows, and nothing else? The usual litmus tests,
 * by their usual names, with the answers that the architecture's own model gives for
 * them. Prints TAP.
 */

#include <stdio.h>

#include "model.h"

static uint64_t x, y, z;

static void setup(void)
{
	model_track(&x, sizeof(x), "x", 0);
	model_track(&y, sizeof(y), "y", 0);
	model_track(&z, sizeof(z), "z", 0);
}

/* Plain, acquire and release accesses; what is read becomes a result of the thread. */
#define R(n, v)		model_result(n, model_read(&(v), RELAXED))
#define RA(n, v)	model_result(n, model_read(&(v), ACQUIRE))
#define RP(n, v)	model_result(n, model_read(&(v), ACQUIRE_PC))
#define W(v, value)	model_write(&(v), value, RELAXED)
#define WL(v, value)	model_write(&(v), value, RELEASE)
#define DMB		model_barrier(BARRIER_FULL, "dmb", __func__)
#define DMB_LD		model_barrier(BARRIER_READ, "dmb_ld", __func__)
#define DMB_ST		model_barrier(BARRIER_WRITE, "dmb_st", __func__)
#define UNLOCK		model_unlock("unlock", __func__)
#define BRANCH		model_branch()

#define THREAD(name, ...) static void name(void) { __VA_ARGS__; }

/* Message passing: a writer, a reader. */
THREAD(mp_w, W(x, 1); W(y, 1))
THREAD(mp_w_dmb, W(x, 1); DMB; W(y, 1))
THREAD(mp_w_st, W(x, 1); DMB_ST; W(y, 1))
THREAD(mp_w_ld, W(x, 1); DMB_LD; W(y, 1))
THREAD(mp_w_rel, W(x, 1); WL(y, 1))
THREAD(mp_w_unlock, W(x, 1); UNLOCK; W(y, 1))
THREAD(mp_w_relock, W(x, 1); UNLOCK; model_lock(); W(y, 1))
THREAD(mp_r, R(0, y); R(1, x))
THREAD(mp_r_dmb, R(0, y); DMB; R(1, x))
THREAD(mp_r_st, R(0, y); DMB_ST; R(1, x))
THREAD(mp_r_ld, R(0, y); DMB_LD; R(1, x))
THREAD(mp_r_acq, RA(0, y); R(1, x))
THREAD(mp_r_acq_pc, RP(0, y); R(1, x))
THREAD(mp_r_branch, R(0, y); BRANCH; R(1, x))
THREAD(mp_r_unlock, R(0, y); UNLOCK; R(1, x))
THREAD(mp_r_relock, R(0, y); UNLOCK; model_lock(); R(1, x))

static const char *mp_wrong(const struct execution *e)
{
	return result(e, 1, 0) == 1 && result(e, 1, 1) == 0 ? "y is new, x is old" : NULL;
}

/* Store buffering. */
THREAD(sb_0, W(x, 1); R(0, y))
THREAD(sb_1, W(y, 1); R(0, x))
THREAD(sb_0_dmb, W(x, 1); DMB; R(0, y))
THREAD(sb_1_dmb, W(y, 1); DMB; R(0, x))
THREAD(sb_0_st, W(x, 1); DMB_ST; R(0, y))
THREAD(sb_1_st, W(y, 1); DMB_ST; R(0, x))
THREAD(sb_0_ra, WL(x, 1); RA(0, y))
THREAD(sb_0_rp, WL(x, 1); RP(0, y))
THREAD(sb_1_rp, WL(y, 1); RP(0, x))
THREAD(sb_1_ra, WL(y, 1); RA(0, x))

static const char *sb_wrong(const struct execution *e)
{
	return !result(e, 0, 0) && !result(e, 1, 0) ? "both are old" : NULL;
}

/* Load buffering: a write is seen before an earlier read is done. */
THREAD(lb_0, R(0, x); W(y, 1))
THREAD(lb_1, R(0, y); W(x, 1))
THREAD(lb_0_branch, R(0, x); BRANCH; W(y, 1))
THREAD(lb_1_branch, R(0, y); BRANCH; W(x, 1))
THREAD(lb_0_ld, R(0, x); DMB_LD; W(y, 1))
THREAD(lb_1_ld, R(0, y); DMB_LD; W(x, 1))
THREAD(lb_0_st, R(0, x); DMB_ST; W(y, 1))
THREAD(lb_1_st, R(0, y); DMB_ST; W(x, 1))
THREAD(lb_0_rel, R(0, x); WL(y, 1))
THREAD(lb_1_rel, R(0, y); WL(x, 1))

static const char *lb_wrong(const struct execution *e)
{
	return result(e, 0, 0) && result(e, 1, 0) ? "both are new" : NULL;
}

/* Two threads write two locations in opposite order. */
THREAD(ww_0, W(x, 1); W(y, 2))
THREAD(ww_1, W(y, 1); W(x, 2))
THREAD(ww_0_st, W(x, 1); DMB_ST; W(y, 2))
THREAD(ww_1_st, W(y, 1); DMB_ST; W(x, 2))

static const char *ww_wrong(const struct execution *e)
{
	return final_value(e, "x") == 1 && final_value(e, "y") == 1 ?
	       "the first write of each thread is the last" : NULL;
}

/* S: a write is overtaken by one that was made for its successor. */
THREAD(s_0, W(x, 2); W(y, 1))
THREAD(s_0_st, W(x, 2); DMB_ST; W(y, 1))
THREAD(s_1, R(0, y); W(x, 1))
THREAD(s_1_branch, R(0, y); BRANCH; W(x, 1))

static const char *s_wrong(const struct execution *e)
{
	return result(e, 1, 0) == 1 && final_value(e, "x") == 2 ? "the first write is the last" : NULL;
}

/* Coherence of one location. */
THREAD(co_w, W(x, 1); W(x, 2))
THREAD(co_r, R(0, x); R(1, x))

static const char *co_wrong(const struct execution *e)
{
	return result(e, 1, 0) > result(e, 1, 1) || final_value(e, "x") != 2 ? "x goes back" : NULL;
}

/* A write that two others see: they see it in no different order (multi-copy atomicity). */
THREAD(one_x, W(x, 1))
THREAD(one_y, W(y, 1))
THREAD(xy, R(0, x); R(1, y))
THREAD(yx, R(0, y); R(1, x))
THREAD(xy_ld, R(0, x); DMB_LD; R(1, y))
THREAD(yx_ld, R(0, y); DMB_LD; R(1, x))

static const char *iriw_wrong(const struct execution *e)
{
	return result(e, 2, 0) == 1 && result(e, 2, 1) == 0 && result(e, 3, 0) == 1 &&
	       result(e, 3, 1) == 0 ? "x and y are new in different orders" : NULL;
}

THREAD(wrc_1, R(0, x); W(y, 1))
THREAD(wrc_1_dmb, R(0, x); DMB; W(y, 1))
THREAD(wrc_1_branch, R(0, x); BRANCH; W(y, 1))

static const char *wrc_wrong(const struct execution *e)
{
	return result(e, 1, 0) == 1 && result(e, 2, 0) == 1 && result(e, 2, 1) == 0 ?
	       "x is old for who knows of y" : NULL;
}

#define T2(a, b) .threads = { { #a, a }, { #b, b } }
#define T3(a, b, c) .threads = { { #a, a }, { #b, b }, { #c, c } }
#define T4(a, b, c, d) .threads = { { #a, a }, { #b, b }, { #c, c }, { #d, d } }

static const struct litmus {
	struct scenario scenario;
	bool allowed;
} tests[] = {
	{ { "MP", setup, T2(mp_w, mp_r), mp_wrong }, true },
	{ { "MP+dmb+po", setup, T2(mp_w_dmb, mp_r), mp_wrong }, true },
	{ { "MP+po+dmb", setup, T2(mp_w, mp_r_dmb), mp_wrong }, true },
	{ { "MP+dmbs", setup, T2(mp_w_dmb, mp_r_dmb), mp_wrong }, false },
	{ { "MP+dmb.st+dmb.ld", setup, T2(mp_w_st, mp_r_ld), mp_wrong }, false },
	{ { "MP+dmb.ld+dmb.ld", setup, T2(mp_w_ld, mp_r_ld), mp_wrong }, true },
	{ { "MP+dmb.st+dmb.st", setup, T2(mp_w_st, mp_r_st), mp_wrong }, true },
	{ { "MP+dmb+ctrl", setup, T2(mp_w_dmb, mp_r_branch), mp_wrong }, true },
	{ { "MP+popl+poap", setup, T2(mp_w_rel, mp_r_acq), mp_wrong }, false },
	{ { "MP+popl+poqp", setup, T2(mp_w_rel, mp_r_acq_pc), mp_wrong }, false },
	{ { "MP+popl+po", setup, T2(mp_w_rel, mp_r), mp_wrong }, true },
	{ { "MP, writer unlocks in between", setup, T2(mp_w_unlock, mp_r_dmb), mp_wrong }, true },
	{ { "MP, writer unlocks and locks", setup, T2(mp_w_relock, mp_r_dmb), mp_wrong }, false },
	{ { "MP, reader unlocks in between", setup, T2(mp_w_dmb, mp_r_unlock), mp_wrong }, true },
	{ { "MP, reader unlocks and locks", setup, T2(mp_w_dmb, mp_r_relock), mp_wrong }, false },
	{ { "SB", setup, T2(sb_0, sb_1), sb_wrong }, true },
	{ { "SB+dmb+po", setup, T2(sb_0_dmb, sb_1), sb_wrong }, true },
	{ { "SB+dmb.sts", setup, T2(sb_0_st, sb_1_st), sb_wrong }, true },
	{ { "SB+dmbs", setup, T2(sb_0_dmb, sb_1_dmb), sb_wrong }, false },
	{ { "SB+rel-acqs", setup, T2(sb_0_ra, sb_1_ra), sb_wrong }, false },
	{ { "SB+rel-acqpcs", setup, T2(sb_0_rp, sb_1_rp), sb_wrong }, true },
	{ { "LB", setup, T2(lb_0, lb_1), lb_wrong }, true },
	{ { "LB+ctrl+po", setup, T2(lb_0_branch, lb_1), lb_wrong }, true },
	{ { "LB+ctrls", setup, T2(lb_0_branch, lb_1_branch), lb_wrong }, false },
	{ { "LB+dmb.lds", setup, T2(lb_0_ld, lb_1_ld), lb_wrong }, false },
	{ { "LB+dmb.sts", setup, T2(lb_0_st, lb_1_st), lb_wrong }, true },
	{ { "LB+popls", setup, T2(lb_0_rel, lb_1_rel), lb_wrong }, false },
	{ { "2+2W", setup, T2(ww_0, ww_1), ww_wrong }, true },
	{ { "2+2W+dmb.sts", setup, T2(ww_0_st, ww_1_st), ww_wrong }, false },
	{ { "S", setup, T2(s_0, s_1), s_wrong }, true },
	{ { "S+dmb.st+po", setup, T2(s_0_st, s_1), s_wrong }, true },
	{ { "S+dmb.st+ctrl", setup, T2(s_0_st, s_1_branch), s_wrong }, false },
	{ { "CoRR, CoWW", setup, T2(co_w, co_r), co_wrong }, false },
	{ { "WRC", setup, T3(one_x, wrc_1, yx), wrc_wrong }, true },
	{ { "WRC+dmb+po", setup, T3(one_x, wrc_1_dmb, yx), wrc_wrong }, true },
	{ { "WRC+ctrl+dmb.ld", setup, T3(one_x, wrc_1_branch, yx_ld), wrc_wrong }, false },
	{ { "IRIW", setup, T4(one_x, one_y, xy, yx), iriw_wrong }, true },
	{ { "IRIW+dmb.lds", setup, T4(one_x, one_y, xy_ld, yx_ld), iriw_wrong }, false },
};

#define COUNT (sizeof(tests) / sizeof(tests[0]))

int main(void)
{
	static struct findings findings;
	unsigned int i, status = 0;
	bool ok;

	printf("1..%zu\n", COUNT);
	for (i = 0; i < COUNT; i++) {
		const struct litmus *test = &tests[i];

		explore(&test->scenario, NULL, BRANCHES_TOLD, &findings);
		ok = findings.executions && !findings.wrong == !test->allowed;
		if (!ok) {
			printf("# %lu executions, of which %lu\n%s", findings.executions,
			       findings.wrong, findings.text);
			status = 1;
		}
		printf("%sok %u - the model %s %s\n", ok ? "" : "not ", i + 1,
		       test->allowed ? "allows" : "forbids", test->scenario.name);
	}
	return status;
}
