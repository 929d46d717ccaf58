// SPDX-License-Identifier: MIT
/*
 * glx linked|address N: swaps N frames in a window of the X server. It is linked with glXSwapBuffers(), or asks GLX for its
 * address. Prints the renderer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <GL/glx.h>
#include <X11/Xlib.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), exit(1))

int main(int argc, char **argv)
{
	int attributes[] = { GLX_RGBA, GLX_DOUBLEBUFFER, None }, i;
	Display *display = XOpenDisplay(NULL);
	void (*swap)(Display *display, GLXDrawable drawable) = glXSwapBuffers;
	XVisualInfo *visual;
	XSetWindowAttributes window_attributes = {};
	Window window;
	GLXContext context;

	if (argc != 3 || !display)
		FAIL("usage: glx linked|address N, with an X server\n");
	if (!strcmp(argv[1], "address"))
		swap = (void (*)(Display *, GLXDrawable))glXGetProcAddressARB((const GLubyte *)"glXSwapBuffers");
	visual = glXChooseVisual(display, DefaultScreen(display), attributes);
	if (!visual)
		FAIL("the X server has no GLX\n");
	window_attributes.colormap = XCreateColormap(display, DefaultRootWindow(display), visual->visual, AllocNone);
	window = XCreateWindow(display, DefaultRootWindow(display), 0, 0, 64, 64, 0, visual->depth, InputOutput,
			       visual->visual, CWColormap, &window_attributes);
	XMapWindow(display, window);
	context = glXCreateContext(display, visual, NULL, True);
	if (!context || !glXMakeCurrent(display, window, context))
		FAIL("no context of GLX\n");
	puts((const char *)glGetString(GL_RENDERER));
	for (i = 0; i < atoi(argv[2]); i++) {
		glClear(GL_COLOR_BUFFER_BIT);
		swap(display, window);
	}
	glXDestroyContext(display, context);
	XCloseDisplay(display);
	return 0;
}
