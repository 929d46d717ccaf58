// SPDX-License-Identifier: MIT
/*
 * vk-perf - performance queries of Vulkan, VK_KHR_performance_query
 *
 * Each scene is one way to use them. Beside the lines of scenes.h it prints, with
 * words separated by spaces and no spaces in them,
 *
 *	counter INDEX NAME UNIT STORAGE UUID GROUP
 *	query SCENE SESSION BEGIN END FIRST_VALUE...
 *	result SCENE WHAT VALUE
 *
 * A query has all counters in one pass. SESSION counts the times that the first
 * profiling lock was taken, each of which starts a session in the kernel. BEGIN and
 * END are the samples of that session that the query is between: they count up from 1,
 * two for each query. GROUP has _ in place of spaces.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vk-device.h"

#define QUERIES		4
#define COMMANDS	6
#define SECOND_NS	1000000000ull

/**
 * struct profile - what queries of a device need
 * @gpu: the device
 * @locked: it has the profiling lock
 * @queries: a pool of QUERIES queries of all counters
 * @commands: command buffers
 * @secondary: a secondary one
 */
struct profile {
	struct state gpu;
	bool locked;
	VkQueryPool queries;
	VkCommandBuffer commands[COMMANDS], secondary;
};

static const char *const extensions[] = {
	VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME, VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME,
	VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME,
};

static struct profile p;
static const char *command;
static bool layers;
static unsigned int session, locks, boundary, n_counters;
static VkPerformanceCounterKHR *counters;

static PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR enumerate_counters;
static PFN_vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR get_passes;
static PFN_vkAcquireProfilingLockKHR acquire_lock;
static PFN_vkReleaseProfilingLockKHR release_lock;
static PFN_vkResetQueryPoolEXT reset_queries;
static PFN_vkSignalSemaphoreKHR signal_semaphore;

static void say(const char *what, long long value)
{
	printf("result %s %s %lld\n", scene_name, what, value);
	fflush(stdout);
}

/* Says what a call has returned, which is wrong unless it is @wanted. */
static void expect(const char *what, VkResult result, VkResult wanted)
{
	say(what, result);
	if (result == VK_ERROR_DEVICE_LOST)
		st.lost = result;
	if (result != wanted)
		problem("%s: %d, not %d", what, result, wanted);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND_NS + t.tv_nsec;
}

#define LOAD(pointer, name) \
	((pointer) = (__typeof__(pointer))vkGetInstanceProcAddr(st.instance, name))

static void load_functions(void)
{
	LOAD(enumerate_counters, "vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR");
	LOAD(get_passes, "vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR");
	LOAD(acquire_lock, "vkAcquireProfilingLockKHR");
	LOAD(release_lock, "vkReleaseProfilingLockKHR");
	LOAD(reset_queries, "vkResetQueryPoolEXT");
	LOAD(signal_semaphore, "vkSignalSemaphoreKHR");
}

static void list_counters(void)
{
	VkPerformanceCounterDescriptionKHR *text;

	MUST(enumerate_counters(st.physical, 0, &n_counters, NULL, NULL));
	counters = calloc(n_counters, sizeof(*counters));
	text = calloc(n_counters, sizeof(*text));
	for (unsigned int i = 0; i < n_counters; i++) {
		counters[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_KHR;
		text[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_DESCRIPTION_KHR;
	}
	MUST(enumerate_counters(st.physical, 0, &n_counters, counters, text));
	for (unsigned int i = 0; i < n_counters; i++) {
		printf("counter %u %s %d %d ", i, text[i].name, counters[i].unit, counters[i].storage);
		for (unsigned int j = 0; j < VK_UUID_SIZE; j++)
			printf("%02x", counters[i].uuid[j]);
		for (char *c = text[i].category; *c; c++)
			if (*c == ' ')
				*c = '_';
		printf(" %s\n", text[i].category);
		if (counters[i].scope != VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_BUFFER_KHR)
			die("the scope of %s is %d", text[i].name, counters[i].scope);
	}
	free(text);
}

static void make_queries(void)
{
	uint32_t *all = calloc(n_counters, sizeof(*all)), passes = 0;
	const VkQueryPoolPerformanceCreateInfoKHR performance = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR,
		.counterIndexCount = n_counters,
		.pCounterIndices = all,
	};
	const VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.pNext = &performance,
		.queryType = VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR,
		.queryCount = QUERIES,
	};

	for (uint32_t i = 0; i < n_counters; i++)
		all[i] = i;
	get_passes(st.physical, &performance, &passes);
	if (passes != 1)
		die("all counters need %u passes", passes);
	MUST(vkCreateQueryPool(st.device, &info, NULL, &p.queries));
	reset_queries(st.device, p.queries, 0, QUERIES);
	free(all);
}

/* New ones for each lock: for the validation layers those from before are without one for good. */
static void make_commands(void)
{
	VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = st.pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = COMMANDS,
	};

	MUST(vkAllocateCommandBuffers(st.device, &info, p.commands));
	info.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY;
	info.commandBufferCount = 1;
	MUST(vkAllocateCommandBuffers(st.device, &info, &p.secondary));
}

/* Takes the lock that recording needs, and starts a session if nobody has one. */
static VkResult lock(uint64_t timeout_ns)
{
	const VkAcquireProfilingLockInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_ACQUIRE_PROFILING_LOCK_INFO_KHR,
		.timeout = timeout_ns,
	};
	VkResult result = acquire_lock(st.device, &info);

	if (result)
		return result;
	p.locked = true;
	make_commands();
	if (!locks++) {
		session++;
		boundary = 0;
	}
	return result;
}

static void unlock(void)
{
	release_lock(st.device);
	p.locked = false;
	locks--;
}

static void open_profile(void)
{
	VkPhysicalDeviceTimelineSemaphoreFeaturesKHR timeline = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES_KHR,
		.timelineSemaphore = VK_TRUE,
	};
	VkPhysicalDeviceHostQueryResetFeaturesEXT reset = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES_EXT,
		.pNext = &timeline,
		.hostQueryReset = VK_TRUE,
	};
	VkPhysicalDevicePerformanceQueryFeaturesKHR performance = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR,
		.pNext = &reset,
		.performanceCounterQueryPools = VK_TRUE,
	};

	open_device(&performance, extensions, 3);
	set_up();
	make_queries();
	MUST(lock(SECOND_NS));
}

static void close_profile(void)
{
	if (p.locked)
		unlock();
	vkDestroyQueryPool(st.device, p.queries, NULL);
	tear_down();
	vkDestroyDevice(st.device, NULL);
}

/* Exchanges the device that all of this works on with another. */
static void exchange(struct profile *other)
{
	struct profile mine = p;

	mine.gpu = st;
	p = *other;
	st = p.gpu;
	*other = mine;
}

static void start(VkCommandBuffer c)
{
	static const VkCommandBufferInheritanceInfo inheritance = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
	};
	const VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.pInheritanceInfo = &inheritance,
	};

	GOOD(vkBeginCommandBuffer(c, &info));
}

/* Work that is known by its counts: so many triangles. */
static void draw(VkCommandBuffer c, unsigned int triangles)
{
	begin_pass(c, 0);
	vkCmdDraw(c, 3 * triangles, 1, 0, 0);
	vkCmdEndRenderPass(c);
}

static void compute(VkCommandBuffer c)
{
	bind_compute(c, st.add);
	vkCmdDispatch(c, 16, 16, 1);
}

/* Records command buffer @i: triangles, in a query unless that is negative. */
static void record(unsigned int i, int query, unsigned int triangles)
{
	VkCommandBuffer c = p.commands[i];

	start(c);
	if (query >= 0)
		vkCmdBeginQuery(c, p.queries, query, 0);
	if (triangles)
		draw(c, triangles);
	else
		compute(c);
	if (query >= 0)
		vkCmdEndQuery(c, p.queries, query);
	GOOD(vkEndCommandBuffer(c));
}

static void record_reset(unsigned int i, uint32_t query, uint32_t n)
{
	start(p.commands[i]);
	vkCmdResetQueryPool(p.commands[i], p.queries, query, n);
	GOOD(vkEndCommandBuffer(p.commands[i]));
}

/* Submits @n command buffers from @first on, which have @queries queries; the timeline is waited for at 1. */
static VkResult submit(unsigned int first, unsigned int n, unsigned int queries, VkSemaphore timeline)
{
	static const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	static const uint64_t one = 1;
	VkPerformanceQuerySubmitInfoKHR pass = {
		.sType = VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR,
	};
	const VkTimelineSemaphoreSubmitInfoKHR values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO_KHR,
		.pNext = &pass,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &one,
	};
	const VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = timeline ? (const void *)&values : &pass,
		.waitSemaphoreCount = timeline ? 1 : 0,
		.pWaitSemaphores = &timeline,
		.pWaitDstStageMask = &all,
		.commandBufferCount = n,
		.pCommandBuffers = p.commands + first,
	};

	boundary += 2 * queries;
	return vkQueueSubmit(st.queue, 1, &info, st.fence);
}

static VkResult finish(uint64_t timeout_ns)
{
	VkResult result = vkWaitForFences(st.device, 1, &st.fence, VK_TRUE, timeout_ns);

	return result ? result : vkResetFences(st.device, 1, &st.fence);
}

static void run(unsigned int first, unsigned int n, unsigned int queries)
{
	if (GOOD(submit(first, n, queries, VK_NULL_HANDLE)))
		GOOD(finish(WAIT_NS));
}

static VkResult results(uint32_t query, VkPerformanceCounterResultKHR *values, VkQueryResultFlags flags)
{
	size_t size = n_counters * sizeof(*values);

	return vkGetQueryPoolResults(st.device, p.queries, query, 1, size, values, size, flags);
}

/* Prints a query that is there, which began at a boundary. */
static void show(uint32_t query, unsigned int begin, VkQueryResultFlags flags)
{
	VkPerformanceCounterResultKHR *values = calloc(n_counters, sizeof(*values));

	if (GOOD(results(query, values, flags))) {
		printf("query %s %u %u %u", scene_name, session, begin, begin + 1);
		for (unsigned int i = 0; i < n_counters; i++)
			if (counters[i].storage == VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR)
				printf(" %" PRIu64, values[i].uint64);
			else
				printf(" %.17g", values[i].float64);
		printf("\n");
		fflush(stdout);
	}
	free(values);
}

/* What the API says of a query, without a wait. */
static VkResult state(uint32_t query)
{
	VkPerformanceCounterResultKHR *values = calloc(n_counters, sizeof(*values));
	VkResult result = results(query, values, 0);

	free(values);
	return result;
}

/* A query that is not there: the validation layers take the question for a mistake. */
static void expect_none(const char *what, uint32_t query)
{
	if (!layers)
		expect(what, state(query), VK_NOT_READY);
}

static void scene_one(void)
{
	reset_queries(st.device, p.queries, 0, QUERIES);
	expect_none("before", 0);
	record(0, 0, 100);
	run(0, 1, 1);
	show(0, boundary - 1, 0);
	record(0, 1, 0);
	run(0, 1, 1);
	show(1, boundary - 1, VK_QUERY_RESULT_WAIT_BIT);
}

/* One command buffer executed again and again, and its query reset in between by another, or by the host. */
static void scene_again(void)
{
	reset_queries(st.device, p.queries, 0, QUERIES);
	record(0, 0, 200);
	record_reset(1, 0, QUERIES);
	run(0, 1, 1);
	show(0, boundary - 1, 0);
	run(1, 1, 0);
	expect_none("after-reset", 0);
	run(0, 1, 1);
	show(0, boundary - 1, 0);
	reset_queries(st.device, p.queries, 0, QUERIES);
	expect_none("after-host-reset", 0);
	run(0, 1, 1);
	show(0, boundary - 1, 0);
}

/* One submission: triangles that do not count before, between and behind two queries; and a reset. */
static void scene_several(void)
{
	reset_queries(st.device, p.queries, 0, QUERIES);
	record(0, 0, 100);
	run(0, 1, 1);
	record(0, -1, 1000);
	record(1, 1, 10);
	record(2, -1, 1000);
	record(3, 2, 20);
	record_reset(4, 0, 1);
	record(5, -1, 1000);
	run(0, 6, 2);
	expect_none("reset-in-it", 0);
	show(1, boundary - 3, 0);
	show(2, boundary - 1, 0);
}

/* A secondary command buffer may reset queries; a query in it cannot count. */
static void scene_secondary(void)
{
	reset_queries(st.device, p.queries, 0, QUERIES);
	record(0, 0, 100);
	run(0, 1, 1);
	show(0, boundary - 1, 0);

	start(p.secondary);
	vkCmdResetQueryPool(p.secondary, p.queries, 0, 1);
	GOOD(vkEndCommandBuffer(p.secondary));
	start(p.commands[1]);
	draw(p.commands[1], 100);
	vkCmdExecuteCommands(p.commands[1], 1, &p.secondary);
	GOOD(vkEndCommandBuffer(p.commands[1]));
	run(1, 1, 0);
	expect_none("reset", 0);

	start(p.secondary);
	vkCmdBeginQuery(p.secondary, p.queries, 1, 0);
	compute(p.secondary);
	vkCmdEndQuery(p.secondary, p.queries, 1);
	GOOD(vkEndCommandBuffer(p.secondary));
	start(p.commands[1]);
	draw(p.commands[1], 100);
	vkCmdExecuteCommands(p.commands[1], 1, &p.secondary);
	GOOD(vkEndCommandBuffer(p.commands[1]));
	run(1, 1, 0);
	expect("query", state(1), VK_ERROR_UNKNOWN);
}

/* Not for the validation layers, as Mesa lacks inheritedQueries. */
static void scene_secondary_inside(void)
{
	VkCommandBuffer c = p.commands[0];

	reset_queries(st.device, p.queries, 0, QUERIES);
	start(p.secondary);
	draw(p.secondary, 300);
	GOOD(vkEndCommandBuffer(p.secondary));
	start(c);
	vkCmdBeginQuery(c, p.queries, 0, 0);
	draw(c, 100);
	vkCmdExecuteCommands(c, 1, &p.secondary);
	vkCmdEndQuery(c, p.queries, 0);
	GOOD(vkEndCommandBuffer(c));
	run(0, 1, 1);
	show(0, boundary - 1, 0);
}

/* A submission waits for the host, and does not keep it from going on. */
static void scene_wait(void)
{
	static const VkSemaphoreTypeCreateInfoKHR type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO_KHR,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE_KHR,
	};
	static const VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
		.pNext = &type,
	};
	VkSemaphoreSignalInfoKHR signal = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO_KHR,
		.value = 1,
	};

	reset_queries(st.device, p.queries, 0, QUERIES);
	MUST(vkCreateSemaphore(st.device, &info, NULL, &signal.semaphore));
	record(0, 0, 100);
	expect("submit", submit(0, 1, 1, signal.semaphore), VK_SUCCESS);
	expect_none("unavailable", 0);
	expect("fence", vkWaitForFences(st.device, 1, &st.fence, VK_TRUE, SECOND_NS / 10), VK_TIMEOUT);
	GOOD(signal_semaphore(st.device, &signal));
	if (!layers)
		show(0, boundary - 1, VK_QUERY_RESULT_WAIT_BIT);
	GOOD(finish(WAIT_NS));
	if (layers)
		show(0, boundary - 1, 0);
	vkDestroySemaphore(st.device, signal.semaphore, NULL);
}

/* Two devices of one process share a session: one after the other, and both at a time. */
static void scene_devices(void)
{
	struct profile second = { .gpu = st };
	unsigned int begin = session;

	exchange(&second);
	open_profile();
	say("same-session", session == begin);
	for (int i = 0; i < 2; i++, exchange(&second)) {
		reset_queries(st.device, p.queries, 0, QUERIES);
		record(0, 0, 100 + i);
		run(0, 1, 1);
		show(0, boundary - 1, 0);
	}
	for (int i = 0; i < 2; i++, exchange(&second)) {
		reset_queries(st.device, p.queries, 0, QUERIES);
		GOOD(submit(0, 1, 1, VK_NULL_HANDLE));
	}
	for (int i = 0; i < 2; i++, exchange(&second)) {
		GOOD(finish(WAIT_NS));
		expect("both", state(0), VK_SUCCESS);
	}
	close_profile();
	exchange(&second);
}

static void scene_queues(void)
{
	VkQueueFamilyProperties family[4];
	uint32_t n = 4;

	vkGetPhysicalDeviceQueueFamilyProperties(st.physical, &n, family);
	say("families", n);
	say("queues", family[0].queueCount);
	if (n != 1 || family[0].queueCount != 1)
		problem("there are more queues than this program uses");
}

/* A child cannot count, and does not wait for what its parent has; its parent does not notice. */
static void scene_fork(void)
{
	int status = -1;
	pid_t child;

	reset_queries(st.device, p.queries, 0, QUERIES);
	record(0, 0, 100);
	run(0, 1, 1);
	fflush(stdout);
	child = fork();
	if (!child) {
		/* A child that waits forever is ended. */
		alarm(WAIT_NS / SECOND_NS);
		expect("child-lock", lock(UINT64_MAX), VK_ERROR_UNKNOWN);
		reset_queries(st.device, p.queries, 0, QUERIES);
		say("child-submit", submit(0, 1, 0, VK_NULL_HANDLE));
		expect("child-fence", finish(UINT64_MAX), VK_ERROR_DEVICE_LOST);
		if (!layers)
			expect("child-results", state(0), VK_ERROR_DEVICE_LOST);
		release_lock(st.device);
		_exit(scene_problem[0] != '\0');
	}
	waitpid(child, &status, 0);
	expect("child", status, 0);
	show(0, boundary - 1, 0);
	record(0, 1, 100);
	run(0, 1, 1);
	show(1, boundary - 1, 0);
}

/* Without the lock there is no session; a new lock makes a new one. */
static void scene_lock(void)
{
	reset_queries(st.device, p.queries, 0, QUERIES);
	unlock();
	expect("lock", lock(0), VK_SUCCESS);
	record(0, 0, 100);
	run(0, 1, 1);
	unlock();
	show(0, boundary - 1, 0);
	expect("lock", lock(UINT64_MAX), VK_SUCCESS);
}

/* Not valid, and not for the validation layers: the lock is gone when the query is submitted. */
static void scene_unlocked(void)
{
	reset_queries(st.device, p.queries, 0, QUERIES);
	record(0, 0, 100);
	unlock();
	run(0, 1, 0);
	expect("query", state(0), VK_ERROR_UNKNOWN);
	expect("lock", lock(SECOND_NS), VK_SUCCESS);
}

static void run_command(void)
{
	if (command && system(command))
		die("%s failed", command);
}

/* COMMAND prevents that anybody else counts. */
static void scene_refused(void)
{
	unlock();
	run_command();
	expect("lock", lock(0), VK_TIMEOUT);
	expect("lock", lock(SECOND_NS / 10), VK_TIMEOUT);
}

/* The same for a while: a lock without a timeout waits as long. */
static void scene_patient(void)
{
	unlock();
	run_command();
	expect("lock", lock(UINT64_MAX), VK_SUCCESS);
}

/* What comes of a command in the background that brings queries to an end: says what the API returns from then on. */
static void scene_until(void)
{
	VkResult fence, query = VK_SUCCESS;
	uint64_t begin = now_ns();
	unsigned int runs = 0;
	char *background;

	if (asprintf(&background, "(sleep 0.3; %s) &", command ? command : "true") < 0 || system(background))
		die("cannot run %s", command);
	free(background);
	for (unsigned int i = 0; i < QUERIES; i++)
		record(i, i, VERTICES / 3);
	do {
		reset_queries(st.device, p.queries, 0, QUERIES);
		fence = submit(0, QUERIES, QUERIES, VK_NULL_HANDLE);
		if (!fence)
			fence = finish(UINT64_MAX);
		for (unsigned int i = 0; i < QUERIES && !query; i++)
			query = state(i);
		runs++;
	} while (!fence && !query && now_ns() - begin < WAIT_NS);
	say("runs", runs);
	say("fence", fence);
	say("query", query);
	say("submit", vkQueueSubmit(st.queue, 0, NULL, VK_NULL_HANDLE));
	say("idle", st.lost = vkDeviceWaitIdle(st.device));
	if (!fence && !query)
		problem("%u runs have not ended", runs);
}

static const struct scene scenes[] = {
	{ .name = "one", .draw = scene_one },
	{ .name = "again", .draw = scene_again },
	{ .name = "several", .draw = scene_several },
	{ .name = "secondary", .draw = scene_secondary },
	{ .name = "wait", .draw = scene_wait },
	{ .name = "devices", .draw = scene_devices },
	{ .name = "queues", .draw = scene_queues },
	{ .name = "lock", .draw = scene_lock },
	{ .name = "fork", .draw = scene_fork },
	{ .name = "secondary-inside", .draw = scene_secondary_inside, .on_demand = true },
	{ .name = "unlocked", .draw = scene_unlocked, .on_demand = true },
	{ .name = "refused", .draw = scene_refused, .on_demand = true },
	{ .name = "patient", .draw = scene_patient, .on_demand = true },
	{ .name = "until", .draw = scene_until, .on_demand = true },
	{}
};

static void usage(FILE *f)
{
	fprintf(f, "usage: vk-perf [-n FRAMES] [-v] [-x COMMAND] [SCENE]...\n"
		"Makes performance queries by Vulkan 1.1, and says what they have. With -v, does nothing that\n"
		"the validation layers complain of. The scenes refused, patient and until run COMMAND;");
	list_scenes(f, scenes);
}

int main(int argc, char **argv)
{
	struct scene_choice choice = { .scenes = scenes, .frames = 1 };
	bool all_good;
	int c;

	while ((c = getopt(argc, argv, "n:vx:h")) != -1) {
		switch (c) {
		case 'n':
			choice.frames = number_of_frames(optarg);
			break;
		case 'v':
			layers = true;
			break;
		case 'x':
			command = optarg;
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

	open_gpu("vk-perf");
	if (!has_extension(extensions[0])) {
		printf("no %s\n", extensions[0]);
		return 3;
	}
	load_functions();
	list_counters();
	open_profile();
	all_good = run_scenes(&choice, NULL, NULL);
	printf("reset status %d\n", st.lost);
	close_profile();
	vkDestroyInstance(st.instance, NULL);
	return all_good ? 0 : 1;
}
