// SPDX-License-Identifier: MIT
/*
 * gl-work - work for the GPU by way of OpenGL ES 3.1, without a display
 *
 * Each scene is one thing that drivers do in their own way: it is drawn FRAMES
 * times, and what the API has to say of it is checked: errors, queries,
 * synchronisation. Pixels are not looked at: the virtual Mali runs no shader.
 * The first line names the renderer, the last the reset status, if the driver
 * tells it; a scene is a line "ok - NAME" or "not ok - NAME" with what was seen.
 */
#define _GNU_SOURCE
#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <GLES2/gl2ext.h>
#include <fcntl.h>
#include <gbm.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "monitor.h"
#include "scenes.h"
#include "swaps.h"

/**
 * struct state - what the scenes share
 * @gbm: what the display is made of; NULL without a platform
 * @display: EGL's
 * @context: the context that is current
 * @target: a framebuffer with colour and depth
 * @texture: its colour
 * @other: a framebuffer without depth
 * @window: of gbm, with nothing to show it; NULL without that platform
 * @surface: what frames are swapped to, that window or a pbuffer; NULL if they are not
 * @damage: they are swapped with a rectangle of damage
 * @plain: draws triangles of one colour
 * @textured: draws them from a texture
 * @compute: a compute program, 64 invocations a workgroup
 */
struct state {
	struct gbm_device *gbm;
	EGLDisplay display;
	EGLContext context;
	struct gbm_surface *window;
	EGLSurface surface;
	bool damage;
	GLuint target, texture, other;
	GLuint plain, textured, compute;
};

static struct state st;

static PFNEGLCREATESYNCKHRPROC create_sync;
static PFNEGLDESTROYSYNCKHRPROC destroy_sync;
static PFNEGLWAITSYNCKHRPROC wait_sync;
static PFNEGLDUPNATIVEFENCEFDANDROIDPROC dup_fence_fd;
static PFNEGLSWAPBUFFERSWITHDAMAGEKHRPROC swap_with_damage;
static PFNGLPUSHDEBUGGROUPKHRPROC push_group;
static PFNGLPOPDEBUGGROUPKHRPROC pop_group;
static PFNGLGETGRAPHICSRESETSTATUSEXTPROC reset_status;
static PFNGLQUERYCOUNTEREXTPROC query_counter;
static PFNGLGETQUERYOBJECTUI64VEXTPROC query_ui64;

static bool has_extension(const char *list, const char *name)
{
	size_t length = strlen(name);

	while (list && (list = strstr(list, name))) {
		if (list[length] == ' ' || !list[length])
			return true;
		list += length;
	}
	return false;
}

static EGLDisplay open_display(const char *platform)
{
	PFNEGLGETPLATFORMDISPLAYEXTPROC get =
		(PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
	int fd;

	if (!get)
		die("this EGL has no platforms");
	if (!strcmp(platform, "surfaceless"))
		return get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	if (strcmp(platform, "gbm"))
		die("there is no platform '%s': surfaceless, gbm", platform);
	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	st.gbm = fd < 0 ? NULL : gbm_create_device(fd);
	if (!st.gbm)
		die("gbm takes no /dev/dri/renderD128");
	return get(EGL_PLATFORM_GBM_KHR, st.gbm, NULL);
}

static void open_context(const char *platform)
{
	EGLint attributes[] = {
		EGL_CONTEXT_MAJOR_VERSION, 3,
		EGL_CONTEXT_MINOR_VERSION, 1,
		EGL_NONE, EGL_LOSE_CONTEXT_ON_RESET_EXT,
		EGL_NONE,
	};

	st.display = open_display(platform);
	if (st.display == EGL_NO_DISPLAY || !eglInitialize(st.display, NULL, NULL))
		die("EGL does not start on the platform %s: 0x%x", platform, eglGetError());
	if (!eglBindAPI(EGL_OPENGL_ES_API))
		die("EGL has no OpenGL ES");
	if (has_extension(eglQueryString(st.display, EGL_EXTENSIONS), "EGL_EXT_create_context_robustness"))
		attributes[4] = EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT;
	st.context = eglCreateContext(st.display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
	if (st.context == EGL_NO_CONTEXT ||
	    !eglMakeCurrent(st.display, EGL_NO_SURFACE, EGL_NO_SURFACE, st.context))
		die("no context of OpenGL ES 3.1: 0x%x", eglGetError());
	create_sync = (PFNEGLCREATESYNCKHRPROC)eglGetProcAddress("eglCreateSyncKHR");
	destroy_sync = (PFNEGLDESTROYSYNCKHRPROC)eglGetProcAddress("eglDestroySyncKHR");
	wait_sync = (PFNEGLWAITSYNCKHRPROC)eglGetProcAddress("eglWaitSyncKHR");
	dup_fence_fd = (PFNEGLDUPNATIVEFENCEFDANDROIDPROC)
		eglGetProcAddress("eglDupNativeFenceFDANDROID");
	swap_with_damage = (PFNEGLSWAPBUFFERSWITHDAMAGEKHRPROC)
		eglGetProcAddress("eglSwapBuffersWithDamageKHR");
	reset_status = (PFNGLGETGRAPHICSRESETSTATUSEXTPROC)
		eglGetProcAddress("glGetGraphicsResetStatusEXT");
	query_counter = (PFNGLQUERYCOUNTEREXTPROC)eglGetProcAddress("glQueryCounterEXT");
	query_ui64 = (PFNGLGETQUERYOBJECTUI64VEXTPROC)eglGetProcAddress("glGetQueryObjectui64vEXT");
	/* Not every driver can tell: then it is unknown, and work goes on. */
	if (!has_extension((const char *)glGetString(GL_EXTENSIONS), "GL_EXT_robustness") &&
	    !has_extension((const char *)glGetString(GL_EXTENSIONS), "GL_KHR_robustness"))
		reset_status = NULL;
}

static GLuint shader(GLenum type, const char *source)
{
	GLuint s = glCreateShader(type);
	char log[512] = "";
	GLint good;

	glShaderSource(s, 1, &source, NULL);
	glCompileShader(s);
	glGetShaderiv(s, GL_COMPILE_STATUS, &good);
	if (!good) {
		glGetShaderInfoLog(s, sizeof(log), NULL, log);
		die("a shader does not compile: %s", log);
	}
	return s;
}

static GLuint program(const char *vertex, const char *fragment, const char *compute,
		      const char *captured)
{
	GLuint p = glCreateProgram();
	GLint good;

	if (compute) {
		glAttachShader(p, shader(GL_COMPUTE_SHADER, compute));
	} else {
		glAttachShader(p, shader(GL_VERTEX_SHADER, vertex));
		glAttachShader(p, shader(GL_FRAGMENT_SHADER, fragment));
	}
	if (captured)
		glTransformFeedbackVaryings(p, 1, &captured, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(p);
	glGetProgramiv(p, GL_LINK_STATUS, &good);
	if (!good)
		die("a program does not link");
	return p;
}

static const char vertex_source[] =
	"#version 310 es\n"
	"layout(location = 0) in vec2 position;\n"
	"out vec2 where;\n"
	"void main() { where = position; gl_Position = vec4(position, 0.5, 1.0); }\n";

static GLuint framebuffer(GLuint *texture, bool depth)
{
	GLuint f, t, d;

	glGenTextures(1, &t);
	glBindTexture(GL_TEXTURE_2D, t);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIZE, SIZE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glGenFramebuffers(1, &f);
	glBindFramebuffer(GL_FRAMEBUFFER, f);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t, 0);
	if (depth) {
		glGenRenderbuffers(1, &d);
		glBindRenderbuffer(GL_RENDERBUFFER, d);
		glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, SIZE, SIZE);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, d);
	}
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		die("a framebuffer is not complete");
	if (texture)
		*texture = t;
	return f;
}

static GLuint buffer(GLenum target, GLsizeiptr size, const void *data)
{
	GLuint b;

	glGenBuffers(1, &b);
	glBindBuffer(target, b);
	glBufferData(target, size, data, GL_DYNAMIC_COPY);
	return b;
}

static void set_up(void)
{
	static float positions[3000][2];
	static uint16_t indices[3000];
	GLuint array;

	for (unsigned int i = 0; i < 3000; i++) {
		positions[i][0] = i % 3 == 1 ? 1.0f : -1.0f;
		positions[i][1] = i % 3 == 2 ? 1.0f : -1.0f;
		indices[i] = i;
	}
	st.plain = program(vertex_source,
			   "#version 310 es\n"
			   "precision mediump float;\n"
			   "in vec2 where;\n"
			   "out vec4 colour;\n"
			   "void main() { colour = vec4(where, 0.5, 1.0); }\n", NULL, "where");
	st.textured = program(vertex_source,
			      "#version 310 es\n"
			      "precision mediump float;\n"
			      "uniform sampler2D image;\n"
			      "in vec2 where;\n"
			      "out vec4 colour;\n"
			      "void main() { colour = texture(image, where); }\n", NULL, NULL);
	st.compute = program(NULL, NULL,
			     "#version 310 es\n"
			     "layout(local_size_x = 8, local_size_y = 8) in;\n"
			     "layout(std430, binding = 0) buffer Data { uint value[]; };\n"
			     "void main() { atomicAdd(value[0], gl_LocalInvocationIndex); }\n", NULL);
	/* Indirect draws want an array of vertices that is not the default one. */
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	buffer(GL_ARRAY_BUFFER, sizeof(positions), positions);
	buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer(GL_SHADER_STORAGE_BUFFER, 4096, NULL));
	st.target = framebuffer(&st.texture, true);
	st.other = framebuffer(NULL, false);
	glViewport(0, 0, SIZE, SIZE);
	glUseProgram(st.plain);
}

/* Begins a frame in a target: what was in it does not matter. */
static void begin(GLuint target)
{
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	glClearColor(0.2f, 0.4f, 0.6f, 1.0f);
	glClear(GL_COLOR_BUFFER_BIT | (target == st.target ? GL_DEPTH_BUFFER_BIT : 0));
}

static void scene_clear(void)
{
	begin(st.target);
}

static void scene_draw(void)
{
	begin(st.target);
	glDrawArrays(GL_TRIANGLES, 0, 3000);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 1000);
	glDrawArrays(GL_LINES, 0, 1000);
	glDrawElements(GL_TRIANGLES, 300, GL_UNSIGNED_SHORT, NULL);
}

static void scene_instances(void)
{
	begin(st.target);
	glDrawElementsInstanced(GL_TRIANGLES, 300, GL_UNSIGNED_SHORT, NULL, 20);
}

/* One target is drawn from the other's texture. */
static void scene_fbo(void)
{
	begin(st.target);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	begin(st.other);
	glUseProgram(st.textured);
	glBindTexture(GL_TEXTURE_2D, st.texture);
	glDrawArrays(GL_TRIANGLES, 0, 6);
	glUseProgram(st.plain);
}

static void scene_compute(void)
{
	glUseProgram(st.compute);
	glDispatchCompute(16, 16, 1);
	glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
	glUseProgram(st.plain);
}

static void scene_indirect(void)
{
	static const uint32_t draw[5] = { 300, 7, 0, 0, 0 };
	static const uint32_t dispatch[3] = { 4, 5, 6 };
	GLuint d = buffer(GL_DRAW_INDIRECT_BUFFER, sizeof(draw), draw);
	GLuint c = buffer(GL_DISPATCH_INDIRECT_BUFFER, sizeof(dispatch), dispatch);

	begin(st.target);
	glDrawArraysIndirect(GL_TRIANGLES, NULL);
	glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, NULL);
	glUseProgram(st.compute);
	glDispatchComputeIndirect(0);
	glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
	glUseProgram(st.plain);
	glBindBuffer(GL_DRAW_INDIRECT_BUFFER, 0);
	glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, 0);
	glDeleteBuffers(1, &d);
	glDeleteBuffers(1, &c);
}

static void scene_feedback(void)
{
	GLuint b = buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 3000 * 8, NULL), q, written = 0;

	glGenQueries(1, &q);
	glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, b);
	begin(st.target);
	glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, q);
	glBeginTransformFeedback(GL_TRIANGLES);
	glDrawArrays(GL_TRIANGLES, 0, 3000);
	glEndTransformFeedback();
	glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
	glGetQueryObjectuiv(q, GL_QUERY_RESULT, &written);
	if (written != 1000)
		problem("%u primitives written, want 1000", written);
	glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
	glDeleteQueries(1, &q);
	glDeleteBuffers(1, &b);
}

/* An answer comes; what it is depends on a shader that does not run. */
static void scene_query(void)
{
	GLuint q, passed = 77;

	glGenQueries(1, &q);
	begin(st.target);
	glBeginQuery(GL_ANY_SAMPLES_PASSED, q);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glEndQuery(GL_ANY_SAMPLES_PASSED);
	glGetQueryObjectuiv(q, GL_QUERY_RESULT, &passed);
	if (passed > 1)
		problem("an occlusion query answers %u", passed);
	glDeleteQueries(1, &q);
}

static void scene_time(void)
{
	GLuint q[2];
	GLuint64 t[2] = { 0, 0 };

	if (!has_extension((const char *)glGetString(GL_EXTENSIONS), "GL_EXT_disjoint_timer_query")) {
		problem("there is no GL_EXT_disjoint_timer_query");
		return;
	}
	glGenQueries(2, q);
	begin(st.target);
	query_counter(q[0], GL_TIMESTAMP_EXT);
	glDrawArrays(GL_TRIANGLES, 0, 3000);
	query_counter(q[1], GL_TIMESTAMP_EXT);
	query_ui64(q[0], GL_QUERY_RESULT, &t[0]);
	query_ui64(q[1], GL_QUERY_RESULT, &t[1]);
	if (!t[0] || t[1] < t[0])
		problem("timestamps %llu, then %llu", (unsigned long long)t[0],
			(unsigned long long)t[1]);
	glDeleteQueries(2, q);
}

static void scene_sync(void)
{
	GLsync sync;
	GLenum got;

	begin(st.target);
	glDrawArrays(GL_TRIANGLES, 0, 3000);
	sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	got = glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, WAIT_NS);
	if (got != GL_CONDITION_SATISFIED && got != GL_ALREADY_SIGNALED)
		problem("a wait for a fence answers 0x%x", got);
	glDeleteSync(sync);
}

/* A fence becomes a file, which is signalled, and which other work waits for. */
static void scene_fence_fd(void)
{
	EGLint attributes[] = { EGL_SYNC_NATIVE_FENCE_FD_ANDROID, -1, EGL_NONE };
	struct pollfd p = { .events = POLLIN };
	EGLSyncKHR sync, imported;
	int ret;

	if (!create_sync || !dup_fence_fd || !wait_sync ||
	    !has_extension(eglQueryString(st.display, EGL_EXTENSIONS), "EGL_ANDROID_native_fence_sync")) {
		problem("there is no EGL_ANDROID_native_fence_sync");
		return;
	}
	begin(st.target);
	glDrawArrays(GL_TRIANGLES, 0, 3000);
	sync = create_sync(st.display, EGL_SYNC_NATIVE_FENCE_ANDROID, NULL);
	glFlush();
	p.fd = sync == EGL_NO_SYNC_KHR ? -1 : dup_fence_fd(st.display, sync);
	if (p.fd < 0) {
		problem("a fence has no file: 0x%x", eglGetError());
		return;
	}
	attributes[1] = dup(p.fd);
	imported = create_sync(st.display, EGL_SYNC_NATIVE_FENCE_ANDROID, attributes);
	if (imported == EGL_NO_SYNC_KHR || wait_sync(st.display, imported, 0) != EGL_TRUE)
		problem("a fence's file cannot be waited for: 0x%x", eglGetError());
	begin(st.other);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glFinish();
	ret = poll(&p, 1, WAIT_MS);
	if (ret != 1 || !(p.revents & POLLIN))
		problem("a fence's file answers %d, 0x%x", ret, p.revents);
	close(p.fd);
	destroy_sync(st.display, sync);
	if (imported != EGL_NO_SYNC_KHR)
		destroy_sync(st.display, imported);
}

/* One draw that the tiler has not the memory for: the driver renders in pieces. */
static void scene_oom(void)
{
	begin(st.target);
	glDrawArraysInstanced(GL_TRIANGLES, 0, 3000, OOM_INSTANCES);
}

static const struct scene scenes[] = {
	{ .name = "clear", .draw = scene_clear },
	{ .name = "draw", .draw = scene_draw },
	{ .name = "instances", .draw = scene_instances },
	{ .name = "fbo", .draw = scene_fbo },
	{ .name = "compute", .draw = scene_compute },
	{ .name = "indirect", .draw = scene_indirect },
	{ .name = "feedback", .draw = scene_feedback },
	{ .name = "query", .draw = scene_query },
	{ .name = "sync", .draw = scene_sync },
	{ .name = "fence-fd", .draw = scene_fence_fd },
	{ .name = "time", .draw = scene_time, .on_demand = true },
	{ .name = "oom", .draw = scene_oom, .on_demand = true },
	{}
};

/* A surface that frames are swapped to. EGL's config for a window has to have gbm's format. */
static void open_surface(void)
{
	const EGLint wanted[] = {
		EGL_SURFACE_TYPE, st.gbm ? EGL_WINDOW_BIT : EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE,
	};
	static const EGLint size[] = { EGL_WIDTH, SIZE, EGL_HEIGHT, SIZE, EGL_NONE };
	EGLConfig configs[128];
	EGLint n = 0, format;

	if (st.gbm)
		st.window = gbm_surface_create(st.gbm, SIZE, SIZE, GBM_FORMAT_XRGB8888, GBM_BO_USE_RENDERING);
	eglChooseConfig(st.display, wanted, configs, 128, &n);
	if (n && !st.gbm)
		st.surface = eglCreatePbufferSurface(st.display, configs[0], size);
	for (EGLint i = 0; st.window && i < n; i++) {
		eglGetConfigAttrib(st.display, configs[i], EGL_NATIVE_VISUAL_ID, &format);
		if (format == GBM_FORMAT_XRGB8888) {
			st.surface = eglCreateWindowSurface(st.display, configs[i], (EGLNativeWindowType)st.window, NULL);
			break;
		}
	}
	if (!st.surface || !eglMakeCurrent(st.display, st.surface, st.surface, st.context))
		die("there is no %s to swap frames to: 0x%x", st.gbm ? "window of gbm" : "pbuffer", eglGetError());
	if (st.damage && !swap_with_damage)
		die("there is no eglSwapBuffersWithDamageKHR");
}

static void swap(void)
{
	EGLint rectangle[] = { 0, 0, SIZE, SIZE };
	struct gbm_bo *bo;

	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	note_swap(' ');
	if (!(st.damage ? swap_with_damage(st.display, st.surface, rectangle, 1) : eglSwapBuffers(st.display, st.surface)))
		problem("frames cannot be swapped: 0x%x", eglGetError());
	note_swap('\n');
	bo = st.window ? gbm_surface_lock_front_buffer(st.window) : NULL;
	if (bo)
		gbm_surface_release_buffer(st.window, bo);
}

/* A frame has two groups, one within the other; the outer one is left open when it ends. */
static void begin_groups(void)
{
	push_group(GL_DEBUG_SOURCE_APPLICATION_KHR, 0, -1, scene_name);
	push_group(GL_DEBUG_SOURCE_APPLICATION_KHR, 0, -1, "inner");
}

static void begin_frame(void)
{
	if (monitor.out)
		begin_monitor();
	if (push_group)
		begin_groups();
}

static void end_frame(const char *scene, unsigned long frame)
{
	GLenum error;

	if (push_group)
		pop_group();
	if (st.surface)
		swap();
	if (push_group)
		pop_group();
	if (monitor.out)
		end_monitor(scene);
	glFinish();
	error = glGetError();
	if (error)
		problem("GL error 0x%x in frame %lu", error, frame);
	error = reset_status ? reset_status() : GL_NO_ERROR;
	if (error)
		problem("reset status 0x%x in frame %lu", error, frame);
}

static void find_groups(void)
{
	push_group = (PFNGLPUSHDEBUGGROUPKHRPROC)eglGetProcAddress("glPushDebugGroupKHR");
	pop_group = (PFNGLPOPDEBUGGROUPKHRPROC)eglGetProcAddress("glPopDebugGroupKHR");
	if (!has_extension((const char *)glGetString(GL_EXTENSIONS), "GL_KHR_debug") || !push_group || !pop_group)
		die("there is no GL_KHR_debug");
}

static void usage(FILE *f)
{
	fprintf(f, "usage: gl-work [-n FRAMES] [-p surfaceless|gbm] [-w|-d] [-g] [-m FILE] [-t FILE] [SCENE]...\n"
		"-w swaps each frame to a window of gbm, or to a pbuffer; -d does so with damage. -g puts its commands\n"
		"into debug groups. -m counts each by GL_AMD_performance_monitor, into FILE. -t writes times of swaps into FILE.\n"
		"Draws scenes by OpenGL ES 3.1,");
	list_scenes(f, scenes);
}

int main(int argc, char **argv)
{
	struct scene_choice choice = { .scenes = scenes, .frames = 1 };
	const char *platform = "surfaceless", *counts = NULL;
	bool all_good, swaps = false, groups = false;
	int c;

	while ((c = getopt(argc, argv, "n:p:wdgm:t:h")) != -1) {
		switch (c) {
		case 'n':
			choice.frames = number_of_frames(optarg);
			break;
		case 'p':
			platform = optarg;
			break;
		case 'd':
			st.damage = true;
			swaps = true;
			break;
		case 'w':
			swaps = true;
			break;
		case 'g':
			groups = true;
			break;
		case 'm':
			counts = optarg;
			break;
		case 't':
			open_swap_times(optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	choose_scenes(&choice, argc, argv);

	open_context(platform);
	printf("renderer %s\n", glGetString(GL_RENDERER));
	fflush(stdout);
	/* A renderer in software would finish it all as well. */
	if (strncmp((const char *)glGetString(GL_RENDERER), "Mali-", 5))
		die("this Mesa does not know the GPU, and draws without it");
	set_up();
	if (swaps)
		open_surface();
	if (counts && !has_extension((const char *)glGetString(GL_EXTENSIONS), "GL_AMD_performance_monitor"))
		die("there is no GL_AMD_performance_monitor");
	if (counts)
		open_monitor(counts);
	if (groups)
		find_groups();
	all_good = run_scenes(&choice, begin_frame, end_frame);
	if (counts)
		monitor.DeletePerfMonitors(1, &monitor.name);
	if (reset_status)
		printf("reset status %u\n", reset_status());
	else
		printf("reset status unknown\n");
	eglMakeCurrent(st.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(st.display, st.context);
	eglTerminate(st.display);
	return all_good ? 0 : 1;
}
