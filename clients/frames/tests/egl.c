// SPDX-License-Identifier: MIT
/*
 * A libEGL, a libGLX and a libGL that say what they are called for: 'k' and 'e' with damage, 's' without, 'x' for GLX, '(' and ')'
 * for groups.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

unsigned int eglSwapBuffers(void *display, void *surface);
unsigned int eglSwapBuffersWithDamageKHR(void *display, void *surface, const int32_t *rects, int32_t count);
unsigned int eglSwapBuffersWithDamageEXT(void *display, void *surface, const int32_t *rects, int32_t count);
void *eglGetProcAddress(const char *name);
void glXSwapBuffers(void *display, unsigned long drawable);
void *glXGetProcAddress(const unsigned char *name);
void *glXGetProcAddressARB(const unsigned char *name);

static unsigned int said(char what, long a, long b)
{
	printf("%c%ld", what, 10 * a + b);
	fflush(stdout);
	return 1;
}

void glPushDebugGroup(unsigned int source, unsigned int id, int length, const char *message);
void glPushDebugGroupKHR(unsigned int source, unsigned int id, int length, const char *message);
void glPopDebugGroup(void);
void glPopDebugGroupKHR(void);

unsigned int eglSwapBuffers(void *display, void *surface)
{
	return said('s', (intptr_t)display, (intptr_t)surface);
}

unsigned int eglSwapBuffersWithDamageKHR(void *display, void *surface, const int32_t *rects, int32_t count)
{
	return said('k', (intptr_t)display, (intptr_t)surface + rects[0] + count);
}

unsigned int eglSwapBuffersWithDamageEXT(void *display, void *surface, const int32_t *rects, int32_t count)
{
	return said('e', (intptr_t)display, (intptr_t)surface + rects[0] + count);
}

void *eglGetProcAddress(const char *name)
{
	if (!strcmp(name, "eglSwapBuffers"))
		return eglSwapBuffers;
	if (!strcmp(name, "glPushDebugGroupKHR"))
		return glPushDebugGroupKHR;
	if (!strcmp(name, "glPopDebugGroupKHR"))
		return glPopDebugGroupKHR;
	return strcmp(name, "eglSwapBuffersWithDamageKHR") ? NULL : eglSwapBuffersWithDamageKHR;
}

void glXSwapBuffers(void *display, unsigned long drawable)
{
	said('x', (intptr_t)display, drawable);
}

void *glXGetProcAddress(const unsigned char *name)
{
	return strcmp((const char *)name, "glXSwapBuffers") ? NULL : glXSwapBuffers;
}

void *glXGetProcAddressARB(const unsigned char *name)
{
	return glXGetProcAddress(name);
}

void glPushDebugGroup(unsigned int source, unsigned int id, int length, const char *message)
{
	said('(', source, id + length + !message);
}

void glPushDebugGroupKHR(unsigned int source, unsigned int id, int length, const char *message)
{
	said('(', source, id + length + !message);
}

void glPopDebugGroup(void)
{
	said(')', 0, 0);
}

void glPopDebugGroupKHR(void)
{
	said(')', 0, 0);
}
