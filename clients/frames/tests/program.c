// SPDX-License-Identifier: MIT
/*
 * Programs that end frames by EGL and GLX, in the ways in which programs find their functions:
 *
 * program linked|dlsym LIBRARY|address|next|none|fork|exec|threads|labels|owners|deep|long
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned int swap(void *display, void *surface);
typedef unsigned int swap_damage(void *display, void *surface, const int32_t *rects, int32_t count);
typedef void swap_glx(void *display, unsigned long drawable);
typedef void *address(const char *name);
typedef void push_group(unsigned int source, unsigned int id, int length, const char *message);
typedef void pop_group(void);

#ifdef LINKED
swap eglSwapBuffers;
swap_damage eglSwapBuffersWithDamageKHR, eglSwapBuffersWithDamageEXT;
swap_glx glXSwapBuffers;
address eglGetProcAddress, glXGetProcAddress, glXGetProcAddressARB;
push_group glPushDebugGroup;
pop_group glPopDebugGroup;
#endif

static const int32_t rects[4] = { 1 };

static int use(swap *plain, swap_damage *damage)
{
	return plain && damage && plain((void *)1, (void *)2) && damage((void *)1, (void *)2, rects, 1) ? 0 : 1;
}

#ifdef LINKED
static void *add_frames(void *nothing)
{
	int i;

	for (i = 0; i < 5; i++)
		eglSwapBuffers((void *)1, (void *)2);
	return nothing;
}

static void push(const char *name)
{
	glPushDebugGroup(1, 2, -1, name);
}

static void *label_thread(void *nothing)
{
	push("other");
	glPopDebugGroup();
	return nothing;
}

/* Groups within groups; those that are left open end with the frame, and the last of all with the program. */
static int run_labels(void)
{
	push_group *push_khr = (push_group *)eglGetProcAddress("glPushDebugGroupKHR");
	pop_group *pop_khr = (pop_group *)eglGetProcAddress("glPopDebugGroupKHR");

	push("a");
	push_khr(1, 2, 1, "bc");
	pop_khr();
	push("with\ttab");
	eglSwapBuffers((void *)1, (void *)2);
	glPopDebugGroup();
	push("last");
	return 0;
}

/* A thread's groups are not within those of another. */
static int run_owners(void)
{
	pthread_t thread;

	push("mine");
	if (pthread_create(&thread, NULL, label_thread, NULL) || pthread_join(thread, NULL))
		return 1;
	push("inner");
	glPopDebugGroup();
	glPopDebugGroup();
	return 0;
}

/* More groups than are regions; those without a name are none. */
static int run_deep(void)
{
	int i;

	for (i = 0; i < 14; i++)
		push("");
	push("15");
	push("16");
	push("17");
	for (i = 0; i < 17; i++)
		glPopDebugGroup();
	push("again");
	glPopDebugGroup();
	return 0;
}

/* Names that are longer than a region's, and characters of more than one byte at its end. */
static int run_long(void)
{
	char name[200];
	int i;

	memset(name, 'n', 94);
	strcpy(name + 94, "\xe2\x82\xac");
	push(name);
	push("inner");
	for (i = 0; i < 2; i++)
		glPopDebugGroup();
	return 0;
}

static int run_linked(const char *how, char **argv)
{
	pthread_t thread[2];
	pid_t child;
	int status;

	if (!strcmp(how, "linked")) {
		glXSwapBuffers((void *)3, 4);
		return use(eglSwapBuffers, eglSwapBuffersWithDamageKHR) || use(eglSwapBuffers, eglSwapBuffersWithDamageEXT);
	}
	if (!strcmp(how, "address")) {
		((swap_glx *)glXGetProcAddress("glXSwapBuffers"))((void *)3, 4);
		((swap_glx *)glXGetProcAddressARB("glXSwapBuffers"))((void *)3, 4);
		return eglGetProcAddress("eglNoSuchFunction") ||
		       use((swap *)eglGetProcAddress("eglSwapBuffers"), (swap_damage *)eglGetProcAddress("eglSwapBuffersWithDamageKHR"));
	}
	if (!strcmp(how, "fork")) {
		use(eglSwapBuffers, eglSwapBuffersWithDamageKHR);
		child = fork();
		if (!child)
			return use(eglSwapBuffers, eglSwapBuffersWithDamageKHR);
		return waitpid(child, &status, 0) != child || status || use(eglSwapBuffers, eglSwapBuffersWithDamageKHR);
	}
	if (!strcmp(how, "exec")) {
		use(eglSwapBuffers, eglSwapBuffersWithDamageKHR);
		execl(argv[0], argv[0], "linked", (char *)NULL);
		return 1;
	}
	if (!strcmp(how, "threads")) {
		if (pthread_create(&thread[0], NULL, add_frames, NULL) || pthread_create(&thread[1], NULL, add_frames, NULL))
			return 1;
		return pthread_join(thread[0], NULL) || pthread_join(thread[1], NULL);
	}
	if (!strcmp(how, "labels"))
		return run_labels();
	if (!strcmp(how, "owners"))
		return run_owners();
	if (!strcmp(how, "deep"))
		return run_deep();
	if (!strcmp(how, "long"))
		return run_long();
	return 2;
}
#endif

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "dlsym")) {
		void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
		address *get = library ? (address *)dlsym(library, "eglGetProcAddress") : NULL;

		if (!get || dlsym(library, "eglNoSuchFunction"))
			return 1;
		((swap_glx *)dlsym(library, "glXSwapBuffers"))((void *)3, 4);
		return use((swap *)dlsym(library, "eglSwapBuffers"), (swap_damage *)get("eglSwapBuffersWithDamageKHR"));
	}
	/* A program without EGL finds none. */
	if (!strcmp(how, "none"))
		return dlsym(RTLD_DEFAULT, "eglSwapBuffers") || dlsym(RTLD_DEFAULT, "glXSwapBuffers") ||
		       !dlsym(RTLD_DEFAULT, "printf");
	/* The next one behind the program is that of what is preloaded, and not the next one behind that. */
	if (!strcmp(how, "next"))
		return !dlsym(RTLD_NEXT, "vkNegotiateLoaderLayerInterfaceVersion");
#ifdef LINKED
	return run_linked(how, argv);
#else
	return 2;
#endif
}
