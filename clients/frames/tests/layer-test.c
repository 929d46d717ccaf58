// SPDX-License-Identifier: MIT
/*
 * layer-test LAYER present|submit|exit|fork|labels: a program with two devices of two instances, and the loader and the driver below it,
 * as far as the layer sees them. Presents and submits in turn; prints what the driver was called for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), exit(1))

/* What is dispatched has a pointer first: instances and their physical devices have one, and devices and their queues. */
struct object {
	void *dispatch;
	const char *name;
};

static int tables[4];
static struct object instances[2] = { { &tables[0], "i0" }, { &tables[1], "i1" } };
static struct object physicals[2] = { { &tables[0], "p0" }, { &tables[1], "p1" } };
static struct object devices[2] = { { &tables[2], "d0" }, { &tables[3], "d1" } };
static struct object queues[2] = { { &tables[2], "q0" }, { &tables[3], "q1" } };

static unsigned int made_instances, made_devices;
static bool has_submit2 = true;

static const char *name_of(const void *handle)
{
	return ((const struct object *)handle)->name;
}

static VkResult driver_create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *a, VkInstance *instance)
{
	const VkLayerInstanceCreateInfo *link = info->pNext;

	/* The last link was taken. */
	if (a || link->u.pLayerInfo)
		FAIL("vkCreateInstance: the chain was not advanced\n");
	*instance = (VkInstance)&instances[made_instances++];
	return VK_SUCCESS;
}

static VkResult driver_create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *a,
				     VkDevice *device)
{
	const VkLayerDeviceCreateInfo *link = info->pNext;

	if (a || link->u.pLayerInfo || physical != (VkPhysicalDevice)&physicals[made_devices])
		FAIL("vkCreateDevice: the chain was not advanced, or another device\n");
	*device = (VkDevice)&devices[made_devices++];
	return VK_SUCCESS;
}

static void driver_destroy_instance(VkInstance instance, const VkAllocationCallbacks *a)
{
	(void)a;
	printf("-%s ", name_of(instance));
}

static void driver_destroy_device(VkDevice device, const VkAllocationCallbacks *a)
{
	(void)a;
	printf("-%s ", name_of(device));
}

static VkResult driver_present(VkQueue queue, const VkPresentInfoKHR *info)
{
	printf("%s:%u ", name_of(queue), info->swapchainCount);
	return VK_SUBOPTIMAL_KHR;
}

static VkResult driver_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
	printf("%s+%u%s ", name_of(queue), count, infos || fence ? "!" : "");
	return VK_TIMEOUT;
}

static VkResult driver_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
	printf("%s*%u%s ", name_of(queue), count, infos || fence ? "!" : "");
	return VK_NOT_READY;
}

static void driver_begin_label(VkQueue queue, const VkDebugUtilsLabelEXT *label)
{
	printf("%s(%s ", name_of(queue), label->pLabelName);
}

static void driver_end_label(VkQueue queue)
{
	printf("%s) ", name_of(queue));
}

static void driver_other(void)
{
}

static PFN_vkVoidFunction driver_get(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{ "vkCreateInstance", driver_create_instance }, { "vkDestroyInstance", driver_destroy_instance },
		{ "vkCreateDevice", driver_create_device }, { "vkDestroyDevice", driver_destroy_device },
		{ "vkQueuePresentKHR", driver_present }, { "vkQueueSubmit", driver_submit }, { "vkQueueSubmit2", driver_submit2 },
		{ "vkQueueBeginDebugUtilsLabelEXT", driver_begin_label }, { "vkQueueEndDebugUtilsLabelEXT", driver_end_label },
		{ "vkQueueSubmit2KHR", driver_submit2 }, { "vkDeviceWaitIdle", driver_other }, { "vkGetDeviceProcAddr", driver_other },
	};
	size_t i;

	if (!strncmp(name, "vkQueueSubmit2", 14) && !has_submit2)
		return NULL;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return (PFN_vkVoidFunction)functions[i].function;
	return NULL;
}

static PFN_vkVoidFunction driver_get_instance(VkInstance instance, const char *name)
{
	(void)instance;
	return driver_get(name);
}

static PFN_vkVoidFunction driver_get_device(VkDevice device, const char *name)
{
	(void)device;
	return driver_get(name);
}

static VkNegotiateLayerInterface layer = {
	.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT, .loaderLayerInterfaceVersion = 2,
};

static VkDevice make_device(unsigned int n)
{
	VkLayerInstanceLink instance_next = { .pfnNextGetInstanceProcAddr = driver_get_instance };
	VkLayerInstanceCreateInfo instance_link = {
		.sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO, .function = VK_LAYER_LINK_INFO, .u.pLayerInfo = &instance_next,
	};
	VkInstanceCreateInfo instance_info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pNext = &instance_link };
	VkLayerDeviceLink device_next = {
		.pfnNextGetInstanceProcAddr = driver_get_instance, .pfnNextGetDeviceProcAddr = driver_get_device,
	};
	VkLayerDeviceCreateInfo device_link = {
		.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, .function = VK_LAYER_LINK_INFO, .u.pLayerInfo = &device_next,
	};
	VkDeviceCreateInfo device_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &device_link };
	PFN_vkCreateInstance create = (PFN_vkCreateInstance)layer.pfnGetInstanceProcAddr(NULL, "vkCreateInstance");
	PFN_vkCreateDevice create_device;
	VkInstance instance;
	VkDevice device;

	if (!create || create(&instance_info, NULL, &instance) || instance != (VkInstance)&instances[n])
		FAIL("no instance\n");
	create_device = (PFN_vkCreateDevice)layer.pfnGetInstanceProcAddr(instance, "vkCreateDevice");
	if (!create_device || create_device((VkPhysicalDevice)&physicals[n], &device_info, NULL, &device) ||
	    device != (VkDevice)&devices[n])
		FAIL("no device\n");
	return device;
}

static void *address(VkDevice device, const char *name)
{
	return (void *)layer.pfnGetDeviceProcAddr(device, name);
}

static void use(VkDevice device, unsigned int n)
{
	const VkPresentInfoKHR info = { .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, .swapchainCount = n + 1 };
	VkQueue queue = (VkQueue)&queues[n];

	if (((PFN_vkQueueSubmit)address(device, "vkQueueSubmit"))(queue, 3, NULL, VK_NULL_HANDLE) != VK_TIMEOUT ||
	    ((PFN_vkQueueSubmit2)address(device, "vkQueueSubmit2"))(queue, 4, NULL, VK_NULL_HANDLE) != VK_NOT_READY ||
	    ((PFN_vkQueueSubmit2)address(device, "vkQueueSubmit2KHR"))(queue, 5, NULL, VK_NULL_HANDLE) != VK_NOT_READY ||
	    ((PFN_vkQueuePresentKHR)address(device, "vkQueuePresentKHR"))(queue, &info) != VK_SUBOPTIMAL_KHR)
		FAIL("what the driver says is lost\n");
}

/* Two queues have labels of their own, and one of them shows a frame in between. */
static void use_labels(const VkDevice device[2])
{
	const VkDebugUtilsLabelEXT label[] = {
		{ .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = "outer" },
		{ .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = "inner" },
	};
	const VkPresentInfoKHR info = { .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, .swapchainCount = 1 };
	VkQueue queue[] = { (VkQueue)&queues[0], (VkQueue)&queues[1] };
	PFN_vkQueueBeginDebugUtilsLabelEXT begin[2];
	PFN_vkQueueEndDebugUtilsLabelEXT end[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin[i] = (PFN_vkQueueBeginDebugUtilsLabelEXT)address(device[i], "vkQueueBeginDebugUtilsLabelEXT");
		end[i] = (PFN_vkQueueEndDebugUtilsLabelEXT)address(device[i], "vkQueueEndDebugUtilsLabelEXT");
		if (!begin[i] || !end[i])
			FAIL("no labels\n");
	}
	begin[0](queue[0], &label[0]);
	begin[0](queue[0], &label[1]);
	begin[1](queue[1], &label[1]);
	end[1](queue[1]);
	end[0](queue[0]);
	((PFN_vkQueuePresentKHR)address(device[0], "vkQueuePresentKHR"))(queue[0], &info);
	end[0](queue[0]);
	begin[1](queue[1], &label[0]);
}

int main(int argc, char **argv)
{
	PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate;
	VkDevice device[2];
	int status;
	pid_t child;
	void *library;

	if (argc != 3)
		return 2;
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	negotiate = library ? (PFN_vkNegotiateLoaderLayerInterfaceVersion)dlsym(library, "vkNegotiateLoaderLayerInterfaceVersion") : NULL;
	if (!negotiate || negotiate(&layer) || layer.loaderLayerInterfaceVersion != 2)
		FAIL("no layer: %s\n", library ? "it refuses" : dlerror());
	device[0] = make_device(0);
	device[1] = make_device(1);
	if (address(device[0], "vkDeviceWaitIdle") != (void *)driver_other || address(device[0], "vkNoSuchFunction"))
		FAIL("other functions are not the driver's\n");
	has_submit2 = false;
	if (address(device[0], "vkQueueSubmit2") || address(device[0], "vkQueueSubmit2KHR"))
		FAIL("the device has functions that the driver does not have\n");
	has_submit2 = true;
	if (!strcmp(argv[2], "labels")) {
		use_labels(device);
		return 0;
	}
	use(device[0], 0);
	use(device[1], 1);
	use(device[0], 0);
	fflush(stdout);
	if (!strcmp(argv[2], "exit"))
		return 0;
	if (!strcmp(argv[2], "fork")) {
		child = fork();
		if (!child) {
			use(device[1], 1);
			return 0;
		}
		if (waitpid(child, &status, 0) != child || status)
			FAIL("the child failed\n");
		use(device[0], 0);
		return 0;
	}
	((PFN_vkDestroyDevice)address(device[0], "vkDestroyDevice"))(device[0], NULL);
	use(device[1], 1);
	((PFN_vkDestroyDevice)address(device[1], "vkDestroyDevice"))(device[1], NULL);
	((PFN_vkDestroyInstance)layer.pfnGetInstanceProcAddr((VkInstance)&instances[0], "vkDestroyInstance"))((VkInstance)&instances[0], NULL);
	((PFN_vkDestroyInstance)layer.pfnGetInstanceProcAddr((VkInstance)&instances[1], "vkDestroyInstance"))((VkInstance)&instances[1], NULL);
	dlclose(library);
	return 0;
}
