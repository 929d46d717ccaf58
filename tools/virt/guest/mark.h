/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Marks for tools/virt/profile
 *
 * A program that is profiled says by these which of its instructions are to be
 * counted: those from mark_run_begins() to mark_run_ends(), each time. A mark
 * is an instruction that does nothing, on any processor; it can be in a kernel
 * module as well.
 */
#ifndef PANTHOR_GUEST_MARK_H
#define PANTHOR_GUEST_MARK_H

/* Numbers of HINT that the architecture has not given a meaning. */
#define MARK_RUN_BEGINS		0x60
#define MARK_RUN_ENDS		0x61
/* By mark-command, around the command. */
#define MARK_COMMAND_BEGINS	0x62
#define MARK_COMMAND_ENDS	0x63

#ifdef __aarch64__
#define MARK(n)		asm volatile("hint #%0" : : "i" (n) : "memory")

static inline void mark_run_begins(void)
{
	MARK(MARK_RUN_BEGINS);
}

static inline void mark_run_ends(void)
{
	MARK(MARK_RUN_ENDS);
}
#endif

#endif
