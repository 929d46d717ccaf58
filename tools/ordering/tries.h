/* SPDX-License-Identifier: MIT */
/* Scenarios are tried with all that orders them, and without; results are TAP. */
#ifndef ORDERING_TRIES_H
#define ORDERING_TRIES_H

#include <stdio.h>

#include "model.h"

static unsigned int tests;
static int status;

static void report(bool ok, const struct findings *f, const char *what)
{
	printf("# %lu executions, %lu of them wrong\n%s", f->executions, f->wrong, f->text);
	printf("%sok %u - %s\n", ok ? "" : "not ", ++tests, what);
	status |= !ok;
}

static void holds(const struct scenario *scenario, enum branches branches)
{
	static struct findings f;
	char what[128];

	explore(scenario, NULL, branches, &f);
	snprintf(what, sizeof(what), "%s: with all barriers%s nothing is wrong", scenario->name,
		 branches == BRANCHES_NONE ? ", and no branch that orders," : "");
	report(f.executions && !f.wrong, &f, what);
}

/* Something goes wrong if @function has @instead of its barrier @name. */
static void fails(const struct scenario *scenario, const char *function, const char *name,
		  enum barrier instead, enum branches branches)
{
	static const char * const names[] = { "nothing", "a full barrier", "a read barrier",
					      "a write barrier" };
	static struct findings f;
	struct mutation mutation = { function, name, instead };
	char what[192];

	explore(scenario, &mutation, branches, &f);
	snprintf(what, sizeof(what), "%s: %s in place of %s() of %s() is found out%s",
		 scenario->name, names[instead], name, function,
		 branches == BRANCHES_ALL ? ", whatever branches order" : "");
	report(f.wrong, &f, what);
}

/* Something goes wrong if branches order nothing. */
static void needs_branch(const struct scenario *scenario)
{
	static struct findings f;
	char what[128];

	explore(scenario, NULL, BRANCHES_NONE, &f);
	snprintf(what, sizeof(what), "%s: a branch that does not order is found out", scenario->name);
	report(f.wrong, &f, what);
}

#endif
