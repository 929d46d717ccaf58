// SPDX-License-Identifier: MIT
#include "uses.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static void add_user(struct recording_use *use, uint32_t user)
{
	/* Without room for all, some are not known. */
	if (use->count == RECORDING_USERS)
		use->users[RECORDING_USERS - 1] = RECORDING_USER_UNKNOWN;
	else
		use->users[use->count++] = user;
}

/* Of a client that is new, all of its time is since the last look. */
static void add_client(struct recording_use *use, const struct client *c, bool is_new)
{
	bool known = c->has_time || c->has_cycles, used = c->busy_seconds > 0 || c->cycles > 0;
	unsigned int i, n;

	for (i = 0; is_new && i < c->info.num_engines; i++) {
		for (n = FDINFO_TIME_NS; n <= FDINFO_CYCLES; n++) {
			known |= fdinfo_knows(&c->info.engines[i], n);
			used |= fdinfo_knows(&c->info.engines[i], n) && c->info.engines[i].value[n];
		}
	}
	if (!known || used)
		add_user(use, c->pid | (known ? 0 : RECORDING_USER_UNKNOWN));
}

static const struct client *find(const struct client *list, size_t count, uint64_t id)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (list[i].info.id == id)
			return &list[i];
	return NULL;
}

bool uses_look(struct uses *u, struct recording_use *use)
{
	size_t count = u->clients.count, i;
	struct client *before = malloc((count + 1) * sizeof(*before));
	uint64_t last_ns = u->looked_ns;
	const struct client *c;
	bool all;

	u->looked_ns = now_ns(CLOCK_MONOTONIC_RAW);
	if (before && count)
		memcpy(before, u->clients.list, count * sizeof(*before));
	all = clients_scan(&u->clients, "/proc", client_is_of, (void *)u->gpu) && before;
	*use = (struct recording_use){ .start_ns = last_ns, .end_ns = now_ns(CLOCK_MONOTONIC_RAW) };
	if (!all || u->clients.hidden)
		add_user(use, RECORDING_USER_UNKNOWN);
	for (i = 0; all && i < u->clients.count; i++) {
		c = &u->clients.list[i];
		if (c->pid != getpid())
			add_client(use, c, !find(before, count, c->info.id));
	}
	/* What has gone may have used it before. */
	for (i = 0; all && i < count; i++)
		if (before[i].pid != getpid() && !find(u->clients.list, u->clients.count, before[i].info.id))
			add_user(use, before[i].pid | RECORDING_USER_UNKNOWN);
	free(before);
	return last_ns;
}

void uses_free(struct uses *u)
{
	clients_free(&u->clients);
}
