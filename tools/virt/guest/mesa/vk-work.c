// SPDX-License-Identifier: MIT
/*
 * vk-work - work for the GPU by way of Vulkan, without a display
 *
 * Each scene is one thing that drivers do in their own way: it is recorded and
 * submitted FRAMES times, and what the API has to say of it is checked: results,
 * queries, synchronisation. Images are not looked at: the virtual Mali runs no
 * shader. The first line names the device; a scene is a line "ok - NAME" or
 * "not ok - NAME" with what was seen; the last line is 0 or the error that the
 * device has been lost with.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <unistd.h>

#include "swaps.h"
#include "vk-device.h"

#define PRODUCTS	32
#define PRODUCT_TILES	8		/* both ways */

/* Commands of a scene */

static VkCommandBuffer begin_flags(VkCommandBufferUsageFlags flags)
{
	const VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = flags,
	};

	st.products = 0;
	GOOD(vkBeginCommandBuffer(st.commands, &info));
	return st.commands;
}

static VkCommandBuffer begin(void)
{
	return begin_flags(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
}

/* Submits what has been ended, and waits for its end. */
static void submit_again(const VkSemaphore *wait, const VkSemaphore *signal)
{
	static const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.waitSemaphoreCount = wait ? 1 : 0,
		.pWaitSemaphores = wait,
		.pWaitDstStageMask = &all,
		.commandBufferCount = 1,
		.pCommandBuffers = &st.commands,
		.signalSemaphoreCount = signal ? 1 : 0,
		.pSignalSemaphores = signal,
	};

	if (GOOD(vkQueueSubmit(st.queue, 1, &info, st.fence)) &&
	    GOOD(vkWaitForFences(st.device, 1, &st.fence, VK_TRUE, WAIT_NS)))
		GOOD(vkResetFences(st.device, 1, &st.fence));
}

static void submit(const VkSemaphore *wait, const VkSemaphore *signal)
{
	if (GOOD(vkEndCommandBuffer(st.commands)))
		submit_again(wait, signal);
}

static void scene_clear(void)
{
	VkCommandBuffer c = begin();

	begin_pass(c, 0);
	vkCmdEndRenderPass(c);
	submit(NULL, NULL);
}

static void scene_draw(void)
{
	VkCommandBuffer c = begin();

	begin_pass(c, 0);
	vkCmdDraw(c, VERTICES, 1, 0, 0);
	vkCmdDraw(c, 300, 1, 0, 0);
	vkCmdDrawIndexed(c, 300, 1, 0, 0, 0);
	vkCmdEndRenderPass(c);
	submit(NULL, NULL);
}

static void scene_instances(void)
{
	VkCommandBuffer c = begin();

	begin_pass(c, 0);
	vkCmdDrawIndexed(c, 300, 20, 0, 0, 0);
	vkCmdEndRenderPass(c);
	submit(NULL, NULL);
}

/* Two passes, and a copy from the first one's target between them. */
static void scene_passes(void)
{
	static const VkImageCopy region = {
		.srcSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
		.dstSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
		.extent = { SIZE, SIZE, 1 },
	};
	VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
		.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
		.newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = st.target[1].image,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};
	VkCommandBuffer c = begin();

	begin_pass(c, 0);
	vkCmdDraw(c, 300, 1, 0, 0);
	vkCmdEndRenderPass(c);
	vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
			     0, 0, NULL, 0, NULL, 1, &barrier);
	vkCmdCopyImage(c, st.target[0].image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
		       st.target[1].image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
	begin_pass(c, 1);
	vkCmdDraw(c, 300, 1, 0, 0);
	vkCmdEndRenderPass(c);
	submit(NULL, NULL);
}

static void scene_compute(void)
{
	VkCommandBuffer c = begin();

	bind_compute(c, st.add);
	vkCmdDispatch(c, 16, 16, 1);
	submit(NULL, NULL);
}

/* Products of matrices, each made of the one before, in so many dispatches; recorded once, and then done again. */
static void products(unsigned int dispatches)
{
	static const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
	};
	VkCommandBuffer c;

	if (st.products == dispatches) {
		submit_again(NULL, NULL);
		return;
	}
	c = begin_flags(0);
	bind_compute(c, st.product);
	for (unsigned int i = 0; i < PRODUCTS; i++) {
		for (unsigned int d = 0; d < dispatches; d++)
			if (dispatches == 1)
				vkCmdDispatch(c, PRODUCT_TILES, PRODUCT_TILES, 1);
			else
				vkCmdDispatchBase(c, d % PRODUCT_TILES, d / PRODUCT_TILES, 0, 1, 1, 1);
		vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
				     0, 1, &barrier, 0, NULL, 0, NULL);
	}
	submit(NULL, NULL);
	st.products = dispatches;
}

static void scene_product(void)
{
	products(1);
}

static void scene_product_tiles(void)
{
	products(PRODUCT_TILES * PRODUCT_TILES);
}

static void scene_copy(void)
{
	static const VkBufferCopy region = { 0, 0, 65536 };
	VkCommandBuffer c = begin();

	vkCmdFillBuffer(c, st.copy.buffer, 0, VK_WHOLE_SIZE, 0x12345678);
	vkCmdCopyBuffer(c, st.data.buffer, st.copy.buffer, 1, &region);
	submit(NULL, NULL);
}

static void scene_indirect(void)
{
	static const VkDrawIndirectCommand draw = { 300, 7, 0, 0 };
	static const VkDrawIndexedIndirectCommand indexed = { 300, 7, 0, 0, 0 };
	static const VkDispatchIndirectCommand dispatch = { 4, 5, 6 };
	VkCommandBuffer c;

	memcpy(st.copy.map, &draw, sizeof(draw));
	memcpy((char *)st.copy.map + 64, &indexed, sizeof(indexed));
	memcpy((char *)st.copy.map + 128, &dispatch, sizeof(dispatch));
	c = begin();
	begin_pass(c, 0);
	vkCmdDrawIndirect(c, st.copy.buffer, 0, 1, sizeof(draw));
	vkCmdDrawIndexedIndirect(c, st.copy.buffer, 64, 1, sizeof(indexed));
	vkCmdEndRenderPass(c);
	bind_compute(c, st.add);
	vkCmdDispatchIndirect(c, st.copy.buffer, 128);
	submit(NULL, NULL);
}

static VkQueryPool query_pool(VkQueryType type)
{
	const VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = type,
		.queryCount = 2,
	};
	VkQueryPool pool = VK_NULL_HANDLE;

	GOOD(vkCreateQueryPool(st.device, &info, NULL, &pool));
	return pool;
}

/* Answers come; what the first is depends on a shader that does not run. */
static void scene_query(void)
{
	VkQueryPool pool = query_pool(VK_QUERY_TYPE_OCCLUSION);
	uint64_t passed[2];
	VkCommandBuffer c;

	if (!pool)
		return;
	c = begin();
	vkCmdResetQueryPool(c, pool, 0, 2);
	begin_pass(c, 0);
	vkCmdBeginQuery(c, pool, 0, 0);
	vkCmdDraw(c, 3, 1, 0, 0);
	vkCmdEndQuery(c, pool, 0);
	vkCmdBeginQuery(c, pool, 1, 0);
	vkCmdEndQuery(c, pool, 1);
	vkCmdEndRenderPass(c);
	submit(NULL, NULL);
	if (GOOD(vkGetQueryPoolResults(st.device, pool, 0, 2, sizeof(passed), passed, 8,
				       VK_QUERY_RESULT_64_BIT)) && passed[1])
		problem("without a draw %llu samples pass", (unsigned long long)passed[1]);
	vkDestroyQueryPool(st.device, pool, NULL);
}

static void scene_time(void)
{
	VkQueryPool pool;
	uint64_t t[2];
	VkCommandBuffer c;

	if (!st.timestamps) {
		problem("the queue writes no timestamps");
		return;
	}
	pool = query_pool(VK_QUERY_TYPE_TIMESTAMP);
	if (!pool)
		return;
	c = begin();
	vkCmdResetQueryPool(c, pool, 0, 2);
	vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
	begin_pass(c, 0);
	vkCmdDraw(c, VERTICES, 1, 0, 0);
	vkCmdEndRenderPass(c);
	vkCmdWriteTimestamp(c, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
	submit(NULL, NULL);
	if (GOOD(vkGetQueryPoolResults(st.device, pool, 0, 2, sizeof(t), t, 8, VK_QUERY_RESULT_64_BIT)) &&
	    (!t[0] || t[1] <= t[0]))
		problem("timestamps %llu, then %llu", (unsigned long long)t[0],
			(unsigned long long)t[1]);
	vkDestroyQueryPool(st.device, pool, NULL);
}

/* Two submissions, the second of which waits for the first. */
static void scene_sync(void)
{
	static const VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
	};
	VkSemaphore semaphore;
	VkCommandBuffer c;

	if (!GOOD(vkCreateSemaphore(st.device, &info, NULL, &semaphore)))
		return;
	c = begin();
	begin_pass(c, 0);
	vkCmdDraw(c, VERTICES, 1, 0, 0);
	vkCmdEndRenderPass(c);
	submit(NULL, &semaphore);
	c = begin();
	bind_compute(c, st.add);
	vkCmdDispatch(c, 1, 1, 1);
	submit(&semaphore, NULL);
	vkDestroySemaphore(st.device, semaphore, NULL);
}

/* A semaphore becomes a file, which is signalled, and which other work waits for. */
static void scene_fence_fd(void)
{
	static const VkExportSemaphoreCreateInfo exported = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
		.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
	};
	const VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
		.pNext = &exported,
	};
	VkSemaphoreGetFdInfoKHR get = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
	};
	VkImportSemaphoreFdInfoKHR import = {
		.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
		.flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
		.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
	};
	PFN_vkGetSemaphoreFdKHR get_fd;
	PFN_vkImportSemaphoreFdKHR import_fd;
	struct pollfd p = { .fd = -1, .events = POLLIN };
	VkSemaphore first = VK_NULL_HANDLE, second = VK_NULL_HANDLE;
	VkCommandBuffer c;
	int ret;

	get_fd = (PFN_vkGetSemaphoreFdKHR)vkGetDeviceProcAddr(st.device, "vkGetSemaphoreFdKHR");
	import_fd = (PFN_vkImportSemaphoreFdKHR)vkGetDeviceProcAddr(st.device,
								    "vkImportSemaphoreFdKHR");
	if (!st.fence_fds || !get_fd || !import_fd) {
		problem("semaphores cannot become files");
		return;
	}
	if (!GOOD(vkCreateSemaphore(st.device, &info, NULL, &first)) ||
	    !GOOD(vkCreateSemaphore(st.device, &info, NULL, &second)))
		return;
	c = begin();
	begin_pass(c, 0);
	vkCmdDraw(c, VERTICES, 1, 0, 0);
	vkCmdEndRenderPass(c);
	submit(NULL, &first);
	get.semaphore = first;
	if (GOOD(get_fd(st.device, &get, &p.fd))) {
		ret = p.fd < 0 ? 1 : poll(&p, 1, WAIT_MS);
		if (ret != 1 || (p.fd >= 0 && !(p.revents & POLLIN)))
			problem("a fence's file answers %d, 0x%x", ret, p.revents);
		import.semaphore = second;
		import.fd = p.fd;
		if (GOOD(import_fd(st.device, &import))) {
			c = begin();
			bind_compute(c, st.add);
			vkCmdDispatch(c, 1, 1, 1);
			submit(&second, NULL);
		}
	}
	vkDestroySemaphore(st.device, first, NULL);
	vkDestroySemaphore(st.device, second, NULL);
}

/* One draw that the tiler has not the memory for: the driver renders in pieces. */
static void scene_oom(void)
{
	VkCommandBuffer c = begin();

	begin_pass(c, 0);
	vkCmdDraw(c, VERTICES, OOM_INSTANCES, 0, 0);
	vkCmdEndRenderPass(c);
	submit(NULL, NULL);
}

#define MAX_IMAGES	8

/* Of the swapchain: an image can be drawn to, and it has been. */
static VkSemaphore acquired, drawn;

/* A swapchain that nobody sees; false if it cannot be had. */
static bool make_swapchain(VkImage images[MAX_IMAGES])
{
	static const VkHeadlessSurfaceCreateInfoEXT headless = {
		.sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT,
	};
	VkSwapchainCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
		.imageExtent = { SIZE, SIZE },
		.imageArrayLayers = 1,
		.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
		.preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
		.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
		.presentMode = VK_PRESENT_MODE_FIFO_KHR,
	};
	PFN_vkCreateHeadlessSurfaceEXT create_surface;
	VkSurfaceCapabilitiesKHR can;
	VkSurfaceFormatKHR format;
	uint32_t n = 1;
	VkResult result;

	create_surface = (PFN_vkCreateHeadlessSurfaceEXT)vkGetInstanceProcAddr(st.instance, "vkCreateHeadlessSurfaceEXT");
	if (!st.presents || !create_surface) {
		problem("there are no swapchains without a display");
		return false;
	}
	if (!GOOD(create_surface(st.instance, &headless, NULL, &st.surface)) ||
	    !GOOD(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(st.physical, st.surface, &can)))
		return false;
	result = vkGetPhysicalDeviceSurfaceFormatsKHR(st.physical, st.surface, &n, &format);
	if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || !n) {
		problem("the surface has no format: %d", result);
		return false;
	}
	info.surface = st.surface;
	info.minImageCount = can.minImageCount;
	info.imageFormat = format.format;
	info.imageColorSpace = format.colorSpace;
	n = MAX_IMAGES;
	return GOOD(vkCreateSwapchainKHR(st.device, &info, NULL, &st.swapchain)) &&
	       GOOD(vkGetSwapchainImagesKHR(st.device, st.swapchain, &n, images));
}

static void image_barrier(VkCommandBuffer c, VkImage image, VkImageLayout from, VkImageLayout to)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
		.oldLayout = from,
		.newLayout = to,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = image,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};

	vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     0, 0, NULL, 0, NULL, 1, &barrier);
}

/* Shows frames where nobody sees them, for layers that draw over what is shown. */
static void scene_present(void)
{
	static const VkSemaphoreCreateInfo semaphore = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
	};
	static const VkClearColorValue color = { .float32 = { 0.2f, 0.4f, 0.6f, 1.0f } };
	static const VkImageSubresourceRange all = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 };
	static VkImage images[MAX_IMAGES];
	uint32_t index;
	const VkPresentInfoKHR present = {
		.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &drawn,
		.swapchainCount = 1,
		.pSwapchains = &st.swapchain,
		.pImageIndices = &index,
	};
	VkCommandBuffer c;

	if (!st.swapchain && (!make_swapchain(images) ||
			      !GOOD(vkCreateSemaphore(st.device, &semaphore, NULL, &acquired)) ||
			      !GOOD(vkCreateSemaphore(st.device, &semaphore, NULL, &drawn))))
		return;
	if (!GOOD(vkAcquireNextImageKHR(st.device, st.swapchain, WAIT_NS, acquired, VK_NULL_HANDLE, &index)))
		return;
	c = begin();
	image_barrier(c, images[index], VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
	vkCmdClearColorImage(c, images[index], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &color, 1, &all);
	image_barrier(c, images[index], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
	submit(&acquired, &drawn);
	note_swap(' ');
	GOOD(vkQueuePresentKHR(st.queue, &present));
	note_swap('\n');
}

static const struct scene scenes[] = {
	{ .name = "clear", .draw = scene_clear },
	{ .name = "draw", .draw = scene_draw },
	{ .name = "instances", .draw = scene_instances },
	{ .name = "passes", .draw = scene_passes },
	{ .name = "compute", .draw = scene_compute },
	{ .name = "copy", .draw = scene_copy },
	{ .name = "indirect", .draw = scene_indirect },
	{ .name = "query", .draw = scene_query },
	{ .name = "sync", .draw = scene_sync },
	{ .name = "fence-fd", .draw = scene_fence_fd },
	{ .name = "time", .draw = scene_time, .on_demand = true },
	{ .name = "oom", .draw = scene_oom, .on_demand = true },
	{ .name = "product", .draw = scene_product, .on_demand = true },
	{ .name = "product-tiles", .draw = scene_product_tiles, .on_demand = true },
	{ .name = "present", .draw = scene_present, .on_demand = true },
	{}
};

static PFN_vkQueueBeginDebugUtilsLabelEXT begin_label;
static PFN_vkQueueEndDebugUtilsLabelEXT end_label;

/* A frame has two labels, one within the other. */
static void begin_labels(void)
{
	const VkDebugUtilsLabelEXT outer = { .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = scene_name };
	const VkDebugUtilsLabelEXT inner = { .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = "inner" };

	begin_label(st.queue, &outer);
	begin_label(st.queue, &inner);
}

static void end_labels(const char *scene, unsigned long frame)
{
	(void)scene;
	(void)frame;
	end_label(st.queue);
	end_label(st.queue);
}

static void find_labels(void)
{
	begin_label = (PFN_vkQueueBeginDebugUtilsLabelEXT)vkGetInstanceProcAddr(st.instance, "vkQueueBeginDebugUtilsLabelEXT");
	end_label = (PFN_vkQueueEndDebugUtilsLabelEXT)vkGetInstanceProcAddr(st.instance, "vkQueueEndDebugUtilsLabelEXT");
	if (!begin_label || !end_label)
		die("there are no labels of queues");
}

static void usage(FILE *f)
{
	fprintf(f, "usage: vk-work [-n FRAMES] [-l] [-t FILE] [-x COMMAND] [SCENE]...\n"
		"-l puts labels around each frame. -t writes times of presents into FILE.\n"
		"When all is set up, runs COMMAND, and draws scenes by Vulkan 1.1,");
	list_scenes(f, scenes);
}

int main(int argc, char **argv)
{
	struct scene_choice choice = { .scenes = scenes, .frames = 1 };
	const char *command = NULL;
	bool all_good;
	int c;

	while ((c = getopt(argc, argv, "n:lt:x:h")) != -1) {
		switch (c) {
		case 'n':
			choice.frames = number_of_frames(optarg);
			break;
		case 'l':
			st.labels = true;
			break;
		case 't':
			open_swap_times(optarg);
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

	open_gpu("vk-work");
	open_device(NULL, NULL, 0);
	set_up();
	if (st.labels)
		find_labels();
	if (command && system(command))
		die("-x: %s failed", command);
	all_good = run_scenes(&choice, st.labels ? begin_labels : NULL, st.labels ? end_labels : NULL);
	all_good &= GOOD(vkDeviceWaitIdle(st.device));
	printf("reset status %d\n", st.lost);
	if (st.swapchain)
		vkDestroySwapchainKHR(st.device, st.swapchain, NULL);
	vkDestroySemaphore(st.device, acquired, NULL);
	vkDestroySemaphore(st.device, drawn, NULL);
	tear_down();
	vkDestroyDevice(st.device, NULL);
	if (st.surface)
		vkDestroySurfaceKHR(st.instance, st.surface, NULL);
	vkDestroyInstance(st.instance, NULL);
	return all_good ? 0 : 1;
}
