// SPDX-License-Identifier: MIT
/*
 * Reader of the virtual Mali's ledgers
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger.h"

#define HEAD_BYTES 32

struct ledger {
	char *path;
	uint8_t *data;
	size_t len, pos;
	uint64_t sequence;	/* of the next record */
};

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

struct ledger *ledger_open(const char *path)
{
	struct ledger *l = NULL;
	struct stat st;
	void *data = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		goto fail;
	if (st.st_size) {
		data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			goto fail;
	}
	l = calloc(1, sizeof(*l));
	if (!l || !(l->path = strdup(path)))
		goto fail;
	close(fd);
	l->data = data;
	l->len = st.st_size;
	return l;

fail:
	fprintf(stderr, "ledger: %s: %s\n", path, strerror(errno));
	free(l);
	if (fd >= 0)
		close(fd);
	return NULL;
}

int ledger_next(struct ledger *l, struct ledger_record *r)
{
	const uint8_t *p = l->data + l->pos;
	size_t left = l->len - l->pos;

	if (!left)
		return 0;
	if (left < HEAD_BYTES || get32(p + 28) > left - HEAD_BYTES) {
		fprintf(stderr, "ledger: %s: the record at byte %zu is cut short\n",
			l->path, l->pos);
		return -1;
	}
	r->sequence = get64(p);
	r->epoch = get32(p + 8);
	r->insert = get32(p + 12);
	r->timestamp = get64(p + 16);
	r->reason = get32(p + 24);
	r->size = get32(p + 28);
	r->blocks = p + HEAD_BYTES;
	if (r->sequence != l->sequence) {
		fprintf(stderr, "ledger: %s: at byte %zu is record %" PRIu64 ", not %" PRIu64 "\n",
			l->path, l->pos, r->sequence, l->sequence);
		return -1;
	}
	if (ledger_no_room(r) != !r->size) {
		fprintf(stderr, "ledger: %s: the record at byte %zu has %u bytes, and reason %#x\n",
			l->path, l->pos, r->size, r->reason);
		return -1;
	}
	l->sequence += !ledger_no_room(r);
	l->pos += HEAD_BYTES + r->size;
	return 1;
}

void ledger_close(struct ledger *l)
{
	if (!l)
		return;
	if (l->len)
		munmap(l->data, l->len);
	free(l->path);
	free(l);
}

size_t ledger_sample_size(const struct ledger_layout *layout)
{
	size_t blocks = 0;

	for (int i = 0; i < LEDGER_TYPES; i++)
		blocks += layout->count[i];
	return blocks * layout->words * 4;
}

size_t ledger_offset(const struct ledger_layout *layout, enum ledger_type type,
		     unsigned int index)
{
	size_t blocks = index;

	for (int i = 0; i < (int)type; i++)
		blocks += layout->count[i];
	return blocks * layout->words * 4;
}

uint32_t ledger_word(const struct ledger_layout *layout,
		     const struct ledger_record *r, enum ledger_type type,
		     unsigned int index, unsigned int word)
{
	return get32(r->blocks + ledger_offset(layout, type, index) + 4 * word);
}
