/* SPDX-License-Identifier: MIT */
/*
 * A memory that may return any value which the memory model of arm64 allows.
 *
 * A scenario is a few threads, which are C functions. They access what
 * model_track() names by model_read() and model_write(), and everything else as
 * usual. explore() runs each thread with every value that its reads could return,
 * puts the runs together in all ways, and keeps those that the model allows. See
 * README for the model.
 */
#ifndef ORDERING_MODEL_H
#define ORDERING_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_THREADS	4
#define MAX_RESULTS	8

/* What an access is ordered with by itself. */
enum order {
	RELAXED,
	ACQUIRE,	/* LDAR: before all later accesses, and after earlier STLR */
	ACQUIRE_PC,	/* LDAPR: before all later accesses */
	RELEASE,	/* STLR: after all earlier accesses */
};

enum barrier {
	BARRIER_NONE,
	BARRIER_FULL,	/* DMB: all earlier accesses before all later ones */
	BARRIER_READ,	/* DMB LD: earlier reads before all later accesses */
	BARRIER_WRITE,	/* DMB ST: earlier writes before later writes */
};

/* Which reads are followed by a branch that orders them before all later writes. */
enum branches {
	BRANCHES_TOLD,	/* those that model_branch() names */
	BRANCHES_NONE,	/* none of them, not even those */
	BRANCHES_ALL,	/* every one */
};

/* One barrier (or spin_unlock()) of the code under test that is another one, or missing; or an access
 * that orders nothing. */
struct mutation {
	const char *function;	/* NULL: all barriers are as they are */
	const char *name;
	enum barrier instead;
};

struct execution;

struct scenario {
	const char *name;

	/* Sets all memory of the scenario to its first state, and calls model_track(). */
	void (*setup)(void);

	struct {
		const char *name;
		void (*run)(void);
		bool strong;	/* each of its accesses is ordered before the next */
	} threads[MAX_THREADS];

	/* What is wrong with an execution, or NULL. */
	const char *(*wrong)(const struct execution *execution);
};

struct findings {
	unsigned long executions;	/* that the model allows */
	unsigned long wrong;		/* of these */
	char text[8192];		/* the first wrong one, in lines that begin with "# " */
};

void explore(const struct scenario *scenario, const struct mutation *mutation,
	     enum branches branches, struct findings *findings);

/* For setup(): names 4 or 8 bytes at @p that are shared between threads. */
void model_track(void *p, size_t size, const char *name, uint64_t value);

/* For threads. */
bool model_tracked(const volatile void *p);
uint64_t model_read(const volatile void *p, enum order order);
void model_write(volatile void *p, uint64_t value, enum order order);
void model_copy(void *dst, const void *src, size_t size);
void model_barrier(enum barrier barrier, const char *name, const char *function);
/* @order, or RELAXED if this is what is missing: of an access by @function, of which that is the name. */
enum order model_order(enum order order, const char *name, const char *function);
/* Locks of one thread alone: they exclude nobody, but order as a spinlock does. */
void model_lock(void);
void model_unlock(const char *name, const char *function);
/* What follows is done because of what was read last. */
void model_branch(void);
/* The run is of no interest unless @condition holds. */
void model_assume(bool condition);
void model_result(unsigned int n, uint64_t value);

/* For wrong(). */
uint64_t result(const struct execution *execution, unsigned int thread, unsigned int n);
uint64_t final_value(const struct execution *execution, const char *name);

#endif
