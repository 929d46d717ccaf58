// SPDX-License-Identifier: MIT
/*
 * Frames of programs that use EGL or GLX, and their debug groups of GL, for LD_PRELOAD. A program finds these functions by
 * its linker, by dlsym(), or by what EGL and GLX have for it: whichever it is, it gets ours, which call those that it would
 * have got.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"

bool frames_wanted, frames_of_submits, labels_wanted;

static void __attribute__((constructor)) read_environment(void)
{
	const char *wanted = getenv("PANTHOR_PERF_FRAMES"), *of = getenv("PANTHOR_PERF_FRAMES_OF");
	const char *labels = getenv("PANTHOR_PERF_FRAMES_LABELS");

	frames_wanted = wanted && !strcmp(wanted, "1");
	frames_of_submits = of && !strcmp(of, "submit");
	labels_wanted = frames_wanted && labels && !strcmp(labels, "1");
}

EXPORT unsigned int eglSwapBuffers(void *display, void *surface);
EXPORT unsigned int eglSwapBuffersWithDamageKHR(void *display, void *surface, const int32_t *rects, int32_t count);
EXPORT unsigned int eglSwapBuffersWithDamageEXT(void *display, void *surface, const int32_t *rects, int32_t count);
EXPORT void *eglGetProcAddress(const char *name);
EXPORT void glXSwapBuffers(void *display, unsigned long drawable);
EXPORT void *glXGetProcAddress(const unsigned char *name);
EXPORT void *glXGetProcAddressARB(const unsigned char *name);
EXPORT void glPushDebugGroup(unsigned int source, unsigned int id, int length, const char *message);
EXPORT void glPushDebugGroupKHR(unsigned int source, unsigned int id, int length, const char *message);
EXPORT void glPopDebugGroup(void);
EXPORT void glPopDebugGroupKHR(void);
EXPORT void *dlsym(void *handle, const char *name);

enum {
	SWAP, SWAP_DAMAGE_KHR, SWAP_DAMAGE_EXT, EGL_ADDRESS, GLX_SWAP, GLX_ADDRESS, GLX_ADDRESS_ARB,
	PUSH_GROUP, PUSH_GROUP_KHR, POP_GROUP, POP_GROUP_KHR, NUM_FUNCTIONS
};

/* Ours, and those of the first library that the program has found them in. A second one's are left as they are. */
static struct {
	const char *name;
	void *ours;
	void *real;
} functions[NUM_FUNCTIONS] = {
	[SWAP] = { "eglSwapBuffers", eglSwapBuffers, NULL },
	[SWAP_DAMAGE_KHR] = { "eglSwapBuffersWithDamageKHR", eglSwapBuffersWithDamageKHR, NULL },
	[SWAP_DAMAGE_EXT] = { "eglSwapBuffersWithDamageEXT", eglSwapBuffersWithDamageEXT, NULL },
	[EGL_ADDRESS] = { "eglGetProcAddress", eglGetProcAddress, NULL },
	[GLX_SWAP] = { "glXSwapBuffers", glXSwapBuffers, NULL },
	[GLX_ADDRESS] = { "glXGetProcAddress", glXGetProcAddress, NULL },
	[GLX_ADDRESS_ARB] = { "glXGetProcAddressARB", glXGetProcAddressARB, NULL },
	[PUSH_GROUP] = { "glPushDebugGroup", glPushDebugGroup, NULL },
	[PUSH_GROUP_KHR] = { "glPushDebugGroupKHR", glPushDebugGroupKHR, NULL },
	[POP_GROUP] = { "glPopDebugGroup", glPopDebugGroup, NULL },
	[POP_GROUP_KHR] = { "glPopDebugGroupKHR", glPopDebugGroupKHR, NULL },
};

/* ---- The C library's own dlsym() ---- */

typedef void *dlsym_function(void *handle, const char *name);

static dlsym_function *real_dlsym(void)
{
	/* Of each architecture's first version of the C library, and since 2.34. */
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5", "GLIBC_2.27", "GLIBC_2.4", "GLIBC_2.0" };
	static void *found;
	void *real = __atomic_load_n(&found, __ATOMIC_RELAXED);
	size_t i;

	for (i = 0; !real && i < sizeof(versions) / sizeof(versions[0]); i++)
		real = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	__atomic_store_n(&found, real, __ATOMIC_RELAXED);
	return (dlsym_function *)real;
}

/* ---- Which function a program gets ---- */

static int number_of(const char *name)
{
	int i;

	/* Most are asked for others. */
	if (strncmp(name, "egl", 3) && strncmp(name, "glX", 3) && strncmp(name, "glP", 3))
		return -1;
	for (i = 0; i < NUM_FUNCTIONS; i++)
		if (!strcmp(functions[i].name, name))
			return i;
	return -1;
}

/* Ours instead of what was found under a name. */
static void *replace(int number, void *found)
{
	void *real = NULL;

	if (!found || found == functions[number].ours)
		return found;
	if (__atomic_compare_exchange_n(&functions[number].real, &real, found, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
	    real == found)
		return functions[number].ours;
	return found;
}

/* What ours have to call, NULL if there is none: for a program that is linked with it, the next library's. */
static void *real_function(int number)
{
	void *real = __atomic_load_n(&functions[number].real, __ATOMIC_ACQUIRE);
	dlsym_function *find = real ? NULL : real_dlsym();

	if (!find)
		return real;
	real = find(RTLD_NEXT, functions[number].name);
	if (real)
		replace(number, real);
	return real;
}

static void *find_ours(void *handle, int number)
{
	void *found = real_dlsym() ? real_dlsym()(handle, functions[number].name) : NULL;

	/* We are in the way of what is searched for, which may not be there at all. */
	if (found == functions[number].ours && !real_function(number))
		return NULL;
	return replace(number, found);
}

/*
 * The C library looks at who has called it. So the call has to be one that does not come back here: a jump.
 */
__attribute__((optimize("O2,no-stack-protector"))) void *dlsym(void *handle, const char *name)
{
	int number = number_of(name);

	return number < 0 ? real_dlsym()(handle, name) : find_ours(handle, number);
}

/* ---- Ours ---- */

void end_frame(void)
{
	if (!frames_wanted || frames_of_submits)
		return;
	labels_end_frame();
	pperf_frame();
}

unsigned int eglSwapBuffers(void *display, void *surface)
{
	unsigned int (*real)(void *display, void *surface) = real_function(SWAP);

	end_frame();
	return real ? real(display, surface) : 0;
}

unsigned int eglSwapBuffersWithDamageKHR(void *display, void *surface, const int32_t *rects, int32_t count)
{
	unsigned int (*real)(void *display, void *surface, const int32_t *rects, int32_t count) = real_function(SWAP_DAMAGE_KHR);

	end_frame();
	return real ? real(display, surface, rects, count) : 0;
}

unsigned int eglSwapBuffersWithDamageEXT(void *display, void *surface, const int32_t *rects, int32_t count)
{
	unsigned int (*real)(void *display, void *surface, const int32_t *rects, int32_t count) = real_function(SWAP_DAMAGE_EXT);

	end_frame();
	return real ? real(display, surface, rects, count) : 0;
}

void glXSwapBuffers(void *display, unsigned long drawable)
{
	void (*real)(void *display, unsigned long drawable) = real_function(GLX_SWAP);

	end_frame();
	if (real)
		real(display, drawable);
}

/* A context of GL has the groups, and a thread has the context. */
static void push_group(int number, unsigned int source, unsigned int id, int length, const char *message)
{
	void (*real)(unsigned int source, unsigned int id, int length, const char *message) = real_function(number);

	labels_begin((void *)pthread_self(), message, length < 0 ? SIZE_MAX : (size_t)length);
	if (real)
		real(source, id, length, message);
}

static void pop_group(int number)
{
	void (*real)(void) = real_function(number);

	if (real)
		real();
	labels_end((void *)pthread_self());
}

void glPushDebugGroup(unsigned int source, unsigned int id, int length, const char *message)
{
	push_group(PUSH_GROUP, source, id, length, message);
}

void glPushDebugGroupKHR(unsigned int source, unsigned int id, int length, const char *message)
{
	push_group(PUSH_GROUP_KHR, source, id, length, message);
}

void glPopDebugGroup(void)
{
	pop_group(POP_GROUP);
}

void glPopDebugGroupKHR(void)
{
	pop_group(POP_GROUP_KHR);
}

/* A library may know its own function by our name: what it has under that name itself. */
static void *own_of(void *address, int number)
{
	Dl_info info;
	void *library = dladdr(address, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *own = library && real_dlsym() ? real_dlsym()(library, functions[number].name) : NULL;

	if (library)
		dlclose(library);
	return own;
}

/* What is got from a library, by a function of its own at that address. */
static void *replace_by_name(const char *name, void *found, void *address)
{
	int number = name ? number_of(name) : -1;

	if (number < 0)
		return found;
	if (found == functions[number].ours && !real_function(number))
		found = own_of(address, number);
	return replace(number, found);
}

void *eglGetProcAddress(const char *name)
{
	void *(*real)(const char *name) = real_function(EGL_ADDRESS);

	return real ? replace_by_name(name, real(name), real) : NULL;
}

void *glXGetProcAddress(const unsigned char *name)
{
	void *(*real)(const unsigned char *name) = real_function(GLX_ADDRESS);

	return real ? replace_by_name((const char *)name, real(name), real) : NULL;
}

void *glXGetProcAddressARB(const unsigned char *name)
{
	void *(*real)(const unsigned char *name) = real_function(GLX_ADDRESS_ARB);

	return real ? replace_by_name((const char *)name, real(name), real) : NULL;
}
