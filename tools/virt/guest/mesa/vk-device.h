/* SPDX-License-Identifier: MIT */
/* What programs that use Vulkan share: a device, and pipelines, buffers and images to give it work. */
#ifndef VK_DEVICE_H
#define VK_DEVICE_H

#include <stdint.h>
#include <vulkan/vulkan.h>

#include "add_comp.h"
#include "draw_frag.h"
#include "draw_vert.h"
#include "product_comp.h"
#include "scenes.h"

#define VERTICES	3000

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
 * @labels: the queue's work is to have labels
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
 * @set_layout: of @set
 * @set_pool: where @set is from
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
	bool timestamps, fence_fds, labels, presents;
	double tick_ns;
	VkPhysicalDeviceMemoryProperties memory;
	VkCommandPool pool;
	VkCommandBuffer commands;
	VkFence fence;
	VkRenderPass pass;
	VkPipelineLayout layout;
	VkPipeline draw, add, product;
	VkDescriptorSetLayout set_layout;
	VkDescriptorPool set_pool;
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

/* Finds the first GPU, for a program with a name. */
static void open_gpu(const char *name)
{
	const VkApplicationInfo app = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = name,
		.apiVersion = VK_API_VERSION_1_1,
	};
	static const char *const surfaces[] = {
		VK_KHR_SURFACE_EXTENSION_NAME, VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME,
	};
	const char *extensions[3];
	VkInstanceCreateInfo instance = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &app,
		.ppEnabledExtensionNames = extensions,
	};
	VkPhysicalDeviceProperties properties;
	VkQueueFamilyProperties family;
	VkResult result;
	uint32_t n;

	st.presents = has_extension(surfaces[0]) && has_extension(surfaces[1]);
	for (n = 0; st.presents && n < 2; n++)
		extensions[instance.enabledExtensionCount++] = surfaces[n];
	if (st.labels)
		extensions[instance.enabledExtensionCount++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
	MUST(vkCreateInstance(&instance, NULL, &st.instance));
	n = 1;
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
	st.presents &= has_extension(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
}

/* Opens a device of the GPU, with what is chained to it, and extensions that have to be there. */
static void open_device(const void *next, const char *const *wanted, uint32_t n_wanted)
{
	static const float priority = 1.0f;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const char *extensions[8];
	VkDeviceCreateInfo device = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.pNext = next,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
		.ppEnabledExtensionNames = extensions,
	};

	if (st.fence_fds)
		extensions[device.enabledExtensionCount++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
	if (st.presents)
		extensions[device.enabledExtensionCount++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
	for (uint32_t i = 0; i < n_wanted; i++) {
		if (!has_extension(wanted[i]))
			die("there is no %s", wanted[i]);
		extensions[device.enabledExtensionCount++] = wanted[i];
	}
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
	VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &st.set_layout,
	};
	VkDescriptorSetAllocateInfo sets = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorSetCount = 1,
		.pSetLayouts = &st.set_layout,
	};
	const VkDescriptorBufferInfo data = { st.data.buffer, 0, VK_WHOLE_SIZE };
	VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.descriptorCount = 1,
		.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		.pBufferInfo = &data,
	};

	MUST(vkCreateDescriptorSetLayout(st.device, &set_info, NULL, &st.set_layout));
	MUST(vkCreatePipelineLayout(st.device, &layout, NULL, &st.layout));
	MUST(vkCreateDescriptorPool(st.device, &pool_info, NULL, &st.set_pool));
	sets.descriptorPool = st.set_pool;
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
	vkDestroyShaderModule(st.device, stages[0].module, NULL);
	vkDestroyShaderModule(st.device, stages[1].module, NULL);
	vkDestroyShaderModule(st.device, add.stage.module, NULL);
	vkDestroyShaderModule(st.device, product.stage.module, NULL);
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

static void destroy_buffer(const struct buffer *b)
{
	vkDestroyBuffer(st.device, b->buffer, NULL);
	vkFreeMemory(st.device, b->memory, NULL);
}

/* Undoes set_up(). */
static void tear_down(void)
{
	vkDestroyFence(st.device, st.fence, NULL);
	vkDestroyCommandPool(st.device, st.pool, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		vkDestroyFramebuffer(st.device, st.target[i].framebuffer, NULL);
		vkDestroyImageView(st.device, st.target[i].view, NULL);
		vkDestroyImage(st.device, st.target[i].image, NULL);
		vkFreeMemory(st.device, st.target[i].memory, NULL);
	}
	vkDestroyPipeline(st.device, st.draw, NULL);
	vkDestroyPipeline(st.device, st.add, NULL);
	vkDestroyPipeline(st.device, st.product, NULL);
	vkDestroyDescriptorPool(st.device, st.set_pool, NULL);
	vkDestroyPipelineLayout(st.device, st.layout, NULL);
	vkDestroyDescriptorSetLayout(st.device, st.set_layout, NULL);
	destroy_buffer(&st.vertices);
	destroy_buffer(&st.indices);
	destroy_buffer(&st.data);
	destroy_buffer(&st.copy);
	vkDestroyRenderPass(st.device, st.pass, NULL);
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

static void bind_compute(VkCommandBuffer c, VkPipeline pipeline)
{
	vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, st.layout, 0, 1, &st.set, 0, NULL);
}

#endif
