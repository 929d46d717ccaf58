// SPDX-License-Identifier: MIT
/* A libEGL and a libGLX that count what they are called for: 'd' with DAMAGE, 's' without, 'x' for GLX. */
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
