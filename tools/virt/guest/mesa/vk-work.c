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
#include <stdint.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#include "add_comp.h"
#include "draw_frag.h"
#include "draw_vert.h"
#include "product_comp.h"
#include "scenes.h"

#define VERTICES	3000
#define PRODUCTS	32
#define PRODUCT_TILES	8		/* both ways */

/**
 * struct buffer - a buffer and its memory, mapped
 * @buffer: the buffer
 * @memory: its memory
 * @map: where it is mapped
 */
struct buffer {
	VkBuffer buffer;
	VkDeviceMemory memory;
	void *map;
};

/**
 * struct image - an image that can be drawn to
 * @image: the image
 * @memory: its memory
 * @view: all of it
 * @framebuffer: with this image alone
 */
struct image {
	VkImage image;
	VkDeviceMemory memory;
	VkImageView view;
	VkFramebuffer framebuffer;
};

/**
 * struct state - what the scenes share
 * @instance: the instance
 * @physical: the device that work is for
 * @device: the same, opened
 * @queue: its only queue
 * @timestamps: the queue can write the time
 * @fence_fds: semaphores can become files
 * @presents: the device has swapchains, and there are surfaces that nobody sees
 * @tick_ns: a timestamp's unit
 * @memory: what memory there is
 * @pool: command buffers
 * @commands: the one that scenes record
 * @fence: signalled when it has been executed
 * @pass: a render pass that clears its one target
 * @layout: of the pipelines: a buffer
 * @draw: the pipeline of triangles
 * @add: the compute pipeline, 64 invocations a workgroup
 * @product: the compute pipeline of a product of matrices, a workgroup for each tile
 * @set: the buffer of @add and @product
 * @target: images to draw to; one is read from
 * @vertices: vertices of the triangles
 * @indices: as many indices
 * @data: a buffer to compute in, to copy, and to read parameters from
 * @copy: as large
 * @products: how the products are dispatched that are recorded, or 0
 * @surface: what frames are presented to, if any are
 * @swapchain: its images
 * @lost: the device has been lost
 */
struct state {
	VkInstance instance;
	VkPhysicalDevice physical;
	VkDevice device;
	VkQueue queue;
	bool timestamps, fence_fds, presents;
	double tick_ns;
	VkPhysicalDeviceMemoryProperties memory;
	VkCommandPool pool;
	VkCommandBuffer commands;
	VkFence fence;
	VkRenderPass pass;
	VkPipelineLayout layout;
	VkPipeline draw, add, product;
	VkDescriptorSet set;
	struct image target[2];
	struct buffer vertices, indices, data, copy;
	unsigned int products;
	VkSurfaceKHR surface;
	VkSwapchainKHR swapchain;
	VkResult lost;
};

static struct state st;

/* Set-up has to succeed. */
static void must(VkResult result, const char *what)
{
	if (result != VK_SUCCESS)
		die("%s: %d", what, result);
}

#define MUST(call) must(call, #call)

/* What a scene calls may fail; the loss of the device is remembered. */
static bool good(VkResult result, const char *what)
{
	if (result == VK_ERROR_DEVICE_LOST)
		st.lost = result;
	if (result != VK_SUCCESS)
		problem("%s: %d", what, result);
	return result == VK_SUCCESS;
}

#define GOOD(call) good(call, #call)

/* Of the device, or, before there is one, of the instance. */
static bool has_extension(const char *name)
{
	uint32_t n = 0;
	VkExtensionProperties *list;
	bool found = false;

	MUST(st.physical ? vkEnumerateDeviceExtensionProperties(st.physical, NULL, &n, NULL) :
	     vkEnumerateInstanceExtensionProperties(NULL, &n, NULL));
	list = calloc(n, sizeof(*list));
	MUST(st.physical ? vkEnumerateDeviceExtensionProperties(st.physical, NULL, &n, list) :
	     vkEnumerateInstanceExtensionProperties(NULL, &n, list));
	for (uint32_t i = 0; i < n; i++)
		found |= !strcmp(list[i].extensionName, name);
	free(list);
	return found;
}

static void open_device(void)
{
	static const VkApplicationInfo app = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "vk-work",
		.apiVersion = VK_API_VERSION_1_1,
	};
	static const char *const surfaces[] = {
		VK_KHR_SURFACE_EXTENSION_NAME, VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME,
	};
	VkInstanceCreateInfo instance = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &app,
		.ppEnabledExtensionNames = surfaces,
	};
	static const float priority = 1.0f;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const char *extensions[2];
	VkDeviceCreateInfo device = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
		.ppEnabledExtensionNames = extensions,
	};
	VkPhysicalDeviceProperties properties;
	VkQueueFamilyProperties family;
	uint32_t n = 1;
	VkResult result;

	st.presents = has_extension(surfaces[0]) && has_extension(surfaces[1]);
	instance.enabledExtensionCount = st.presents ? 2 : 0;
	MUST(vkCreateInstance(&instance, NULL, &st.instance));
	result = vkEnumeratePhysicalDevices(st.instance, &n, &st.physical);
	if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || !n)
		die("there is no Vulkan device");
	vkGetPhysicalDeviceProperties(st.physical, &properties);
	printf("renderer %s\n", properties.deviceName);
	fflush(stdout);
	if (strncmp(properties.deviceName, "Mali-", 5))
		die("the first Vulkan device is not a Mali");
	n = 1;
	vkGetPhysicalDeviceQueueFamilyProperties(st.physical, &n, &family);
	st.timestamps = family.timestampValidBits;
	st.tick_ns = properties.limits.timestampPeriod;
	vkGetPhysicalDeviceMemoryProperties(st.physical, &st.memory);
	st.fence_fds = has_extension(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
	if (st.fence_fds)
		extensions[device.enabledExtensionCount++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
	st.presents &= has_extension(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
	if (st.presents)
		extensions[device.enabledExtensionCount++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
	MUST(vkCreateDevice(st.physical, &device, NULL, &st.device));
	vkGetDeviceQueue(st.device, 0, 0, &st.queue);
}

static VkDeviceMemory allocate(const VkMemoryRequirements *wanted, VkMemoryPropertyFlags flags)
{
	VkMemoryAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = wanted->size,
	};
	VkDeviceMemory memory;

	for (uint32_t i = 0; i < st.memory.memoryTypeCount; i++) {
		if (!(wanted->memoryTypeBits >> i & 1) ||
		    (st.memory.memoryTypes[i].propertyFlags & flags) != flags)
			continue;
		info.memoryTypeIndex = i;
		MUST(vkAllocateMemory(st.device, &info, NULL, &memory));
		return memory;
	}
	die("there is no memory with flags 0x%x", flags);
}

static struct buffer make_buffer(VkDeviceSize size)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
			 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
			 VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT,
	};
	VkMemoryRequirements wanted;
	struct buffer b;

	MUST(vkCreateBuffer(st.device, &info, NULL, &b.buffer));
	vkGetBufferMemoryRequirements(st.device, b.buffer, &wanted);
	b.memory = allocate(&wanted, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
			    VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
	MUST(vkBindBufferMemory(st.device, b.buffer, b.memory, 0));
	MUST(vkMapMemory(st.device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.map));
	return b;
}

static struct image make_image(void)
{
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = VK_FORMAT_R8G8B8A8_UNORM,
		.extent = { SIZE, SIZE, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
			 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	VkImageViewCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = info.format,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};
	VkFramebufferCreateInfo framebuffer = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
		.renderPass = st.pass,
		.attachmentCount = 1,
		.width = SIZE,
		.height = SIZE,
		.layers = 1,
	};
	VkMemoryRequirements wanted;
	struct image i;

	MUST(vkCreateImage(st.device, &info, NULL, &i.image));
	vkGetImageMemoryRequirements(st.device, i.image, &wanted);
	i.memory = allocate(&wanted, 0);
	MUST(vkBindImageMemory(st.device, i.image, i.memory, 0));
	view.image = i.image;
	MUST(vkCreateImageView(st.device, &view, NULL, &i.view));
	framebuffer.pAttachments = &i.view;
	MUST(vkCreateFramebuffer(st.device, &framebuffer, NULL, &i.framebuffer));
	return i;
}

static VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits which, const uint32_t *code,
					     size_t size)
{
	const VkShaderModuleCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = size,
		.pCode = code,
	};
	VkPipelineShaderStageCreateInfo s = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage = which,
		.pName = "main",
	};

	MUST(vkCreateShaderModule(st.device, &info, NULL, &s.module));
	return s;
}

static void make_pass(void)
{
	static const VkAttachmentDescription attachment = {
		.format = VK_FORMAT_R8G8B8A8_UNORM,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
		.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
		.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
		.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
	};
	static const VkAttachmentReference reference = {
		0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
	};
	const VkSubpassDescription subpass = {
		.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
		.colorAttachmentCount = 1,
		.pColorAttachments = &reference,
	};
	const VkRenderPassCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
		.attachmentCount = 1,
		.pAttachments = &attachment,
		.subpassCount = 1,
		.pSubpasses = &subpass,
	};

	MUST(vkCreateRenderPass(st.device, &info, NULL, &st.pass));
}

static void make_layout(void)
{
	static const VkDescriptorSetLayoutBinding binding = {
		.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		.descriptorCount = 1,
		.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
	};
	const VkDescriptorSetLayoutCreateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = 1,
		.pBindings = &binding,
	};
	static const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1 };
	const VkDescriptorPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 1,
		.pPoolSizes = &size,
	};
	VkDescriptorSetLayout set;
	VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &set,
	};
	VkDescriptorSetAllocateInfo sets = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorSetCount = 1,
		.pSetLayouts = &set,
	};
	const VkDescriptorBufferInfo data = { st.data.buffer, 0, VK_WHOLE_SIZE };
	VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.descriptorCount = 1,
		.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		.pBufferInfo = &data,
	};

	MUST(vkCreateDescriptorSetLayout(st.device, &set_info, NULL, &set));
	MUST(vkCreatePipelineLayout(st.device, &layout, NULL, &st.layout));
	MUST(vkCreateDescriptorPool(st.device, &pool_info, NULL, &sets.descriptorPool));
	MUST(vkAllocateDescriptorSets(st.device, &sets, &st.set));
	write.dstSet = st.set;
	vkUpdateDescriptorSets(st.device, 1, &write, 0, NULL);
}

static void make_pipelines(void)
{
	const VkPipelineShaderStageCreateInfo stages[] = {
		stage(VK_SHADER_STAGE_VERTEX_BIT, draw_vert, sizeof(draw_vert)),
		stage(VK_SHADER_STAGE_FRAGMENT_BIT, draw_frag, sizeof(draw_frag)),
	};
	static const VkVertexInputBindingDescription binding = {
		0, 2 * sizeof(float), VK_VERTEX_INPUT_RATE_VERTEX,
	};
	static const VkVertexInputAttributeDescription attribute = {
		0, 0, VK_FORMAT_R32G32_SFLOAT, 0,
	};
	const VkPipelineVertexInputStateCreateInfo vertices = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
		.vertexBindingDescriptionCount = 1,
		.pVertexBindingDescriptions = &binding,
		.vertexAttributeDescriptionCount = 1,
		.pVertexAttributeDescriptions = &attribute,
	};
	static const VkPipelineInputAssemblyStateCreateInfo assembly = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
		.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
	};
	static const VkViewport viewport = { 0, 0, SIZE, SIZE, 0, 1 };
	static const VkRect2D scissor = { { 0, 0 }, { SIZE, SIZE } };
	const VkPipelineViewportStateCreateInfo views = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
		.viewportCount = 1,
		.pViewports = &viewport,
		.scissorCount = 1,
		.pScissors = &scissor,
	};
	static const VkPipelineRasterizationStateCreateInfo raster = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
		.polygonMode = VK_POLYGON_MODE_FILL,
		.lineWidth = 1,
	};
	static const VkPipelineMultisampleStateCreateInfo samples = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
		.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
	};
	static const VkPipelineColorBlendAttachmentState blend = { .colorWriteMask = 0xf };
	const VkPipelineColorBlendStateCreateInfo blends = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
		.attachmentCount = 1,
		.pAttachments = &blend,
	};
	const VkGraphicsPipelineCreateInfo draw = {
		.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
		.stageCount = 2,
		.pStages = stages,
		.pVertexInputState = &vertices,
		.pInputAssemblyState = &assembly,
		.pViewportState = &views,
		.pRasterizationState = &raster,
		.pMultisampleState = &samples,
		.pColorBlendState = &blends,
		.layout = st.layout,
		.renderPass = st.pass,
	};
	const VkComputePipelineCreateInfo add = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = stage(VK_SHADER_STAGE_COMPUTE_BIT, add_comp, sizeof(add_comp)),
		.layout = st.layout,
	};
	const VkComputePipelineCreateInfo product = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT,
		.stage = stage(VK_SHADER_STAGE_COMPUTE_BIT, product_comp, sizeof(product_comp)),
		.layout = st.layout,
	};

	MUST(vkCreateGraphicsPipelines(st.device, VK_NULL_HANDLE, 1, &draw, NULL, &st.draw));
	MUST(vkCreateComputePipelines(st.device, VK_NULL_HANDLE, 1, &add, NULL, &st.add));
	MUST(vkCreateComputePipelines(st.device, VK_NULL_HANDLE, 1, &product, NULL, &st.product));
}

static void set_up(void)
{
	const VkCommandPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
	};
	VkCommandBufferAllocateInfo commands = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	float (*position)[2];
	uint16_t *index;

	make_pass();
	st.vertices = make_buffer(VERTICES * sizeof(*position));
	st.indices = make_buffer(VERTICES * sizeof(*index));
	st.data = make_buffer(65536);
	st.copy = make_buffer(65536);
	position = st.vertices.map;
	index = st.indices.map;
	for (unsigned int i = 0; i < VERTICES; i++) {
		position[i][0] = i % 3 == 1 ? 1.0f : -1.0f;
		position[i][1] = i % 3 == 2 ? 1.0f : -1.0f;
		index[i] = i;
	}
	make_layout();
	make_pipelines();
	st.target[0] = make_image();
	st.target[1] = make_image();
	MUST(vkCreateCommandPool(st.device, &pool, NULL, &st.pool));
	commands.commandPool = st.pool;
	MUST(vkAllocateCommandBuffers(st.device, &commands, &st.commands));
	MUST(vkCreateFence(st.device, &fence, NULL, &st.fence));
}

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

static void begin_pass(VkCommandBuffer c, unsigned int target)
{
	static const VkDeviceSize zero;
	static const VkClearValue clear = { .color = { .float32 = { 0.2f, 0.4f, 0.6f, 1.0f } } };
	const VkRenderPassBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.renderPass = st.pass,
		.framebuffer = st.target[target].framebuffer,
		.renderArea = { { 0, 0 }, { SIZE, SIZE } },
		.clearValueCount = 1,
		.pClearValues = &clear,
	};

	vkCmdBeginRenderPass(c, &info, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, st.draw);
	vkCmdBindVertexBuffers(c, 0, 1, &st.vertices.buffer, &zero);
	vkCmdBindIndexBuffer(c, st.indices.buffer, 0, VK_INDEX_TYPE_UINT16);
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

static void bind_compute(VkCommandBuffer c, VkPipeline pipeline)
{
	vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, st.layout, 0, 1, &st.set, 0, NULL);
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
	static VkSemaphore acquired, drawn;
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
	GOOD(vkQueuePresentKHR(st.queue, &present));
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

static void usage(FILE *f)
{
	fprintf(f, "usage: vk-work [-n FRAMES] [-x COMMAND] [SCENE]...\n"
		"When all is set up, runs COMMAND, and draws scenes by Vulkan 1.1,");
	list_scenes(f, scenes);
}

int main(int argc, char **argv)
{
	struct scene_choice choice = { .scenes = scenes, .frames = 1 };
	const char *command = NULL;
	bool all_good;
	int c;

	while ((c = getopt(argc, argv, "n:x:h")) != -1) {
		switch (c) {
		case 'n':
			choice.frames = number_of_frames(optarg);
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

	open_device();
	set_up();
	if (command && system(command))
		die("-x: %s failed", command);
	all_good = run_scenes(&choice, NULL, NULL);
	all_good &= GOOD(vkDeviceWaitIdle(st.device));
	printf("reset status %d\n", st.lost);
	if (st.swapchain)
		vkDestroySwapchainKHR(st.device, st.swapchain, NULL);
	vkDestroyDevice(st.device, NULL);
	if (st.surface)
		vkDestroySurfaceKHR(st.instance, st.surface, NULL);
	vkDestroyInstance(st.instance, NULL);
	return all_good ? 0 : 1;
}
