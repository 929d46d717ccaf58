// SPDX-License-Identifier: MIT
/*
 * Does all that orders the accesses to the totals of perf's events do what it is for? The
 * driver's own functions pin and write the two copies in the memory of model.c: one thread
 * adds two samples, another reads an event. Prints TAP.
 */
#include "tries.h"

/* Those members that the functions use; of the values, the first and the last that are read. */
struct panthor_perf_pmu_totals {
	atomic_t pins;
	u32 first, last;
};

struct panthor_perf_pmu_run {
	struct panthor_perf_pmu_totals totals[2];
	u32 current_totals;
};

/* Linux's acquire is not ordered after a release before it: LDAPR has that, and LDAR more. */
#define ACQUIRE_OF(name) model_order(ACQUIRE_PC, name, __func__)
#define RELEASE_OF(name) model_order(RELEASE, name, __func__)

#define smp_mb__after_atomic() model_barrier(BARRIER_FULL, "smp_mb__after_atomic", __func__)
#define smp_load_acquire(p) ((u32)model_read(p, ACQUIRE_OF("smp_load_acquire")))
/* The thread that writes reads what it has written by plain accesses, too. */
#define smp_store_release(p, v)								\
	({										\
		u32 v_ = (v);								\
											\
		model_write(p, v_, RELEASE_OF("smp_store_release"));			\
		*(p) = v_;								\
	})

/* Only one thread pins: nobody comes between its reading and its writing. */
static void add(atomic_t *v, int n, enum order order)
{
	model_write(&v->counter, (u32)model_read(&v->counter, RELAXED) + n, order);
}

/* Twice will do: the first copy that is tried may have gone, and not be read. */
static unsigned int tries;

#define atomic_inc(v) (model_assume(tries++ < 2), add(v, 1, RELAXED))
#define atomic_dec(v) add(v, -1, RELAXED)
#define atomic_fetch_dec_release(v) add(v, -1, RELEASE_OF("atomic_fetch_dec_release"))
#define atomic_cond_read_acquire(v, condition)						\
	({										\
		u32 VAL = model_read(&(v)->counter, ACQUIRE_OF("atomic_cond_read_acquire")); \
											\
		model_branch();								\
		model_assume(condition);						\
		VAL;									\
	})

#include "totals-functions.h"

static struct panthor_perf_pmu_run run;

/* The copy that is current has one sample. */
static void totals_setup(void)
{
	tries = 0;
	model_track(&run.current_totals, 4, "current_totals", 0);
	model_track(&run.totals[0].pins.counter, 4, "pins of copy 0", 0);
	model_track(&run.totals[0].first, 4, "first total of copy 0", 1);
	model_track(&run.totals[0].last, 4, "last total of copy 0", 1);
	model_track(&run.totals[1].pins.counter, 4, "pins of copy 1", 0);
	model_track(&run.totals[1].first, 4, "first total of copy 1", 0);
	model_track(&run.totals[1].last, 4, "last total of copy 1", 0);
}

static void totals_writer(void)
{
	for (u32 samples = 2; samples <= 3; samples++) {
		struct panthor_perf_pmu_totals *totals = totals_begin(&run);

		model_write(&totals->first, samples, RELAXED);
		model_write(&totals->last, samples, RELAXED);
		totals_end(&run);
	}
}

static void totals_reader(void)
{
	struct panthor_perf_pmu_totals *totals = panthor_perf_pmu_pin(&run);

	model_result(0, model_read(&totals->first, RELAXED));
	model_result(1, model_read(&totals->last, RELAXED));
	panthor_perf_pmu_unpin(totals);
}

static const char *totals_wrong(const struct execution *x)
{
	if (result(x, 1, 0) != result(x, 1, 1))
		return "an event of a group is read before a sample is added, and another one after it";
	return result(x, 1, 0) ? NULL : "totals are read that are not current";
}

static const struct scenario totals = {
	"totals", totals_setup, { { "writer", totals_writer }, { "reader", totals_reader } }, totals_wrong,
};

int main(void)
{
	holds(&totals, BRANCHES_NONE);
	fails(&totals, "panthor_perf_pmu_pin", "smp_mb__after_atomic", BARRIER_NONE, BRANCHES_ALL);
	fails(&totals, "panthor_perf_pmu_pin", "smp_mb__after_atomic", BARRIER_READ, BRANCHES_ALL);
	fails(&totals, "panthor_perf_pmu_pin", "smp_mb__after_atomic", BARRIER_WRITE, BRANCHES_ALL);
	fails(&totals, "panthor_perf_pmu_pin", "smp_load_acquire", BARRIER_NONE, BRANCHES_ALL);
	fails(&totals, "totals_begin", "smp_mb", BARRIER_NONE, BRANCHES_ALL);
	fails(&totals, "totals_begin", "smp_mb", BARRIER_READ, BRANCHES_ALL);
	fails(&totals, "totals_begin", "smp_mb", BARRIER_WRITE, BRANCHES_ALL);
	/* A branch would order these: the one has none, the other has one, which a compiler might not keep. */
	fails(&totals, "panthor_perf_pmu_unpin", "atomic_fetch_dec_release", BARRIER_NONE, BRANCHES_TOLD);
	fails(&totals, "totals_begin", "atomic_cond_read_acquire", BARRIER_NONE, BRANCHES_NONE);
	fails(&totals, "totals_end", "smp_store_release", BARRIER_NONE, BRANCHES_ALL);
	printf("1..%u\n", tests);
	return status;
}
