// SPDX-License-Identifier: MIT
/*
 * A library to preload, with which one allocation of the program itself fails: that whose number is NO_MEMORY_AT.
 * Writes how many there were to the file NO_MEMORY_COUNT. Libraries, of which json-c does not survive it, have all
 * that they ask for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);

static unsigned long count, at;
static uintptr_t begin, end;

static int find_program(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size, (void)context;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			begin = info->dlpi_addr + p->p_vaddr;
			end = begin + p->p_memsz;
		}
	}
	/* The first one is the program. */
	return 1;
}

__attribute__((constructor)) static void init(void)
{
	const char *number = getenv("NO_MEMORY_AT");

	at = number ? strtoul(number, NULL, 10) : 0;
	dl_iterate_phdr(find_program, NULL);
}

__attribute__((destructor)) static void fini(void)
{
	const char *name = getenv("NO_MEMORY_COUNT");
	FILE *out = name ? fopen(name, "w") : NULL;

	if (out) {
		fprintf(out, "%lu\n", count);
		fclose(out);
	}
}

static int fails(void *caller)
{
	if ((uintptr_t)caller < begin || (uintptr_t)caller >= end || __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != at)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, n * size);
}

char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}
