/* SPDX-License-Identifier: MIT */
/* Scenes of gl-work and vk-work: which are drawn, how often, and what is said of each. */
#ifndef SCENES_H
#define SCENES_H

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../die.h"

#define SIZE		256		/* pixels of a target, both ways */
#define WAIT_NS		(60 * 1000000000ull)
#define WAIT_MS		60000
/* More vertices than the drivers' tiler heaps have room for, in one draw. */
#define OOM_INSTANCES	4000

/**
 * struct scene - one thing that is drawn
 * @name: its name
 * @draw: draws it once, and tells of what is wrong by problem()
 * @on_demand: drawn only if it is named
 */
struct scene {
	const char *name;
	void (*draw)(void);
	bool on_demand;
};

/**
 * struct scene_choice - what the command line asks for
 * @scenes: all there are; the last one has no name
 * @frames: how often each is drawn
 * @names: those that are named
 * @n_names: how many, 0 for all that are not @on_demand
 */
struct scene_choice {
	const struct scene *scenes;
	unsigned long frames;
	char **names;
	int n_names;
};

static const char *scene_name;
/* What the scene under way has seen, or an empty string. */
static char scene_problem[256];

/* The first thing that is wrong is what counts. */
static void __attribute__((format(printf, 1, 2))) problem(const char *fmt, ...)
{
	va_list args;

	if (scene_problem[0])
		return;
	va_start(args, fmt);
	vsnprintf(scene_problem, sizeof(scene_problem), fmt, args);
	va_end(args);
}

/* Behind the usage of a program. */
static void list_scenes(FILE *f, const struct scene *scene)
{
	fprintf(f, " FRAMES times (1) each; without SCENE all that are not in brackets:\n ");
	for (; scene->name; scene++)
		fprintf(f, scene->on_demand ? " [%s]" : " %s", scene->name);
	fprintf(f, "\n");
}

static bool is_named(const struct scene_choice *choice, const char *name)
{
	for (int i = 0; i < choice->n_names; i++)
		if (!strcmp(choice->names[i], name))
			return true;
	return false;
}

static unsigned long number_of_frames(const char *text)
{
	char *end;
	unsigned long frames = strtoul(text, &end, 10);

	if (!frames || *end || *text == '-')
		die("-n takes a number of frames, not '%s'", text);
	return frames;
}

/* Takes the names that are left of a command line; each has to be that of a scene. */
static void choose_scenes(struct scene_choice *choice, int argc, char **argv)
{
	choice->names = argv + optind;
	choice->n_names = argc - optind;
	for (int i = 0; i < choice->n_names; i++) {
		const struct scene *scene = choice->scenes;

		while (scene->name && strcmp(scene->name, choice->names[i]))
			scene++;
		if (!scene->name)
			die("there is no scene '%s'; -h lists them", choice->names[i]);
	}
}

/* Draws what was chosen; @before and @after are called around each frame, unless they are NULL. */
static bool run_scenes(const struct scene_choice *choice, void (*before)(void),
		       void (*after)(const char *scene, unsigned long frame))
{
	bool all_good = true;

	for (const struct scene *scene = choice->scenes; scene->name; scene++) {
		if (choice->n_names ? !is_named(choice, scene->name) : scene->on_demand)
			continue;
		scene_name = scene->name;
		scene_problem[0] = '\0';
		for (unsigned long i = 0; i < choice->frames && !scene_problem[0]; i++) {
			if (before)
				before();
			scene->draw();
			if (after)
				after(scene->name, i);
		}
		printf("%s - %s\n", scene_problem[0] ? "not ok" : "ok", scene->name);
		if (scene_problem[0])
			printf("# %s\n", scene_problem);
		fflush(stdout);
		all_good &= !scene_problem[0];
	}
	return all_good;
}

#endif
