// SPDX-License-Identifier: MIT
/*
 * VK_LAYER_PANTHOR_PERF_frames: frames of programs that use Vulkan. A frame ends with vkQueuePresentKHR() or, if that is
 * asked for, with each submission. Labels of queues are regions, if that is asked for.
 *
 * What belongs to an instance or a device is found by its dispatch pointer, which its physical devices or queues share.
 * Who presents only reads: there is no lock.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "frames.h"

/* ---- Instances and devices ---- */

struct entry {
	struct entry *next;

	/* The dispatch pointer; NULL when it was destroyed: the entry is free, and stays in the list. */
	void *key;

	/* Of an instance. */
	VkInstance instance;
	PFN_vkGetInstanceProcAddr get_instance_address;
	PFN_vkDestroyInstance destroy_instance;

	/* Of a device. */
	PFN_vkGetDeviceProcAddr get_device_address;
	PFN_vkDestroyDevice destroy_device;
	PFN_vkQueuePresentKHR present;
	PFN_vkQueueSubmit submit;
	PFN_vkQueueSubmit2 submit2, submit2_khr;
	PFN_vkQueueBeginDebugUtilsLabelEXT begin_label;
	PFN_vkQueueEndDebugUtilsLabelEXT end_label;
};

static struct entry *instances, *devices;

static void *key_of(const void *handle)
{
	return *(void *const *)handle;
}

static struct entry *find(struct entry *const *list, const void *handle)
{
	struct entry *e = __atomic_load_n(list, __ATOMIC_ACQUIRE);

	while (e && __atomic_load_n(&e->key, __ATOMIC_ACQUIRE) != key_of(handle))
		e = e->next;
	return e;
}

static void add(struct entry **list, struct entry *e)
{
	e->next = __atomic_load_n(list, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(list, &e->next, e, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

/* The entry of what is destroyed. Somebody who presents elsewhere may be reading it: it is not freed. */
static struct entry take(struct entry *const *list, const void *handle)
{
	struct entry *e = find(list, handle), copy = {};

	if (e) {
		copy = *e;
		__atomic_store_n(&e->key, NULL, __ATOMIC_RELEASE);
	}
	return copy;
}

/* ---- What ends a frame ---- */

static VKAPI_ATTR VkResult VKAPI_CALL queue_present(VkQueue queue, const VkPresentInfoKHR *info)
{
	end_frame();
	return find(&devices, queue)->present(queue, info);
}

static void end_submission(void)
{
	if (frames_wanted && frames_of_submits)
		pperf_frame();
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
	end_submission();
	return find(&devices, queue)->submit(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
	end_submission();
	return find(&devices, queue)->submit2(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2_khr(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
	end_submission();
	return find(&devices, queue)->submit2_khr(queue, count, infos, fence);
}

/* ---- Labels ---- */

static VKAPI_ATTR void VKAPI_CALL queue_begin_label(VkQueue queue, const VkDebugUtilsLabelEXT *label)
{
	labels_begin(queue, label->pLabelName, SIZE_MAX);
	find(&devices, queue)->begin_label(queue, label);
}

static VKAPI_ATTR void VKAPI_CALL queue_end_label(VkQueue queue)
{
	find(&devices, queue)->end_label(queue);
	labels_end(queue);
}

/* ---- Making and destroying ---- */

/* The layer's link in the chain of what is created: the next one's is what remains. */
static VkLayerInstanceCreateInfo *instance_link(const VkInstanceCreateInfo *info)
{
	VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;

	while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO))
		link = (VkLayerInstanceCreateInfo *)link->pNext;
	return link;
}

static VkLayerDeviceCreateInfo *device_link(const VkDeviceCreateInfo *info)
{
	VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;

	while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO))
		link = (VkLayerDeviceCreateInfo *)link->pNext;
	return link;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
						      VkInstance *instance)
{
	VkLayerInstanceCreateInfo *link = instance_link(info);
	PFN_vkGetInstanceProcAddr next;
	PFN_vkCreateInstance create;
	struct entry *e;
	VkResult result;

	if (!link || !link->u.pLayerInfo)
		return VK_ERROR_INITIALIZATION_FAILED;
	next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	link->u.pLayerInfo = link->u.pLayerInfo->pNext;
	create = (PFN_vkCreateInstance)next(NULL, "vkCreateInstance");
	e = calloc(1, sizeof(*e));
	if (!create || !e) {
		free(e);
		return create ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INITIALIZATION_FAILED;
	}
	result = create(info, allocator, instance);
	if (result != VK_SUCCESS) {
		free(e);
		return result;
	}
	e->key = key_of(*instance);
	e->instance = *instance;
	e->get_instance_address = next;
	e->destroy_instance = (PFN_vkDestroyInstance)next(*instance, "vkDestroyInstance");
	add(&instances, e);
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance, const VkAllocationCallbacks *allocator)
{
	if (instance)
		take(&instances, instance).destroy_instance(instance, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
						    const VkAllocationCallbacks *allocator, VkDevice *device)
{
	VkLayerDeviceCreateInfo *link = device_link(info);
	const struct entry *instance = find(&instances, physical);
	PFN_vkGetDeviceProcAddr next;
	PFN_vkCreateDevice create;
	struct entry *e;
	VkResult result;

	if (!link || !link->u.pLayerInfo || !instance)
		return VK_ERROR_INITIALIZATION_FAILED;
	next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
	create = (PFN_vkCreateDevice)link->u.pLayerInfo->pfnNextGetInstanceProcAddr(instance->instance, "vkCreateDevice");
	link->u.pLayerInfo = link->u.pLayerInfo->pNext;
	e = calloc(1, sizeof(*e));
	if (!create || !e) {
		free(e);
		return create ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INITIALIZATION_FAILED;
	}
	result = create(physical, info, allocator, device);
	if (result != VK_SUCCESS) {
		free(e);
		return result;
	}
	e->key = key_of(*device);
	e->get_device_address = next;
	e->destroy_device = (PFN_vkDestroyDevice)next(*device, "vkDestroyDevice");
	e->present = (PFN_vkQueuePresentKHR)next(*device, "vkQueuePresentKHR");
	e->submit = (PFN_vkQueueSubmit)next(*device, "vkQueueSubmit");
	e->submit2 = (PFN_vkQueueSubmit2)next(*device, "vkQueueSubmit2");
	e->submit2_khr = (PFN_vkQueueSubmit2)next(*device, "vkQueueSubmit2KHR");
	e->begin_label = (PFN_vkQueueBeginDebugUtilsLabelEXT)next(*device, "vkQueueBeginDebugUtilsLabelEXT");
	e->end_label = (PFN_vkQueueEndDebugUtilsLabelEXT)next(*device, "vkQueueEndDebugUtilsLabelEXT");
	add(&devices, e);
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks *allocator)
{
	if (device)
		take(&devices, device).destroy_device(device, allocator);
}

/* ---- Functions by name ---- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_address(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_address(VkInstance instance, const char *name);

static const struct function {
	const char *name;
	PFN_vkVoidFunction ours;
} device_functions[] = {
	{ "vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_address },
	{ "vkDestroyDevice", (PFN_vkVoidFunction)destroy_device },
	{ "vkQueuePresentKHR", (PFN_vkVoidFunction)queue_present },
	{ "vkQueueSubmit", (PFN_vkVoidFunction)queue_submit },
	{ "vkQueueSubmit2", (PFN_vkVoidFunction)queue_submit2 },
	{ "vkQueueSubmit2KHR", (PFN_vkVoidFunction)queue_submit2_khr },
	{ "vkQueueBeginDebugUtilsLabelEXT", (PFN_vkVoidFunction)queue_begin_label },
	{ "vkQueueEndDebugUtilsLabelEXT", (PFN_vkVoidFunction)queue_end_label },
}, instance_functions[] = {
	{ "vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_address },
	{ "vkCreateInstance", (PFN_vkVoidFunction)create_instance },
	{ "vkDestroyInstance", (PFN_vkVoidFunction)destroy_instance },
	{ "vkCreateDevice", (PFN_vkVoidFunction)create_device },
};

static PFN_vkVoidFunction find_function(const struct function *list, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return list[i].ours;
	return NULL;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_address(VkDevice device, const char *name)
{
	PFN_vkVoidFunction ours = find_function(device_functions, COUNT(device_functions), name);
	const struct entry *e = find(&devices, device);
	PFN_vkVoidFunction next = e ? e->get_device_address(device, name) : NULL;

	/* What the device does not have, it has not with us. */
	return next && ours ? ours : next;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_address(VkInstance instance, const char *name)
{
	PFN_vkVoidFunction ours = find_function(instance_functions, COUNT(instance_functions), name), next;
	const struct entry *e = instance ? find(&instances, instance) : NULL;

	if (ours || !e)
		return ours;
	next = e->get_instance_address(instance, name);
	ours = find_function(device_functions, COUNT(device_functions), name);
	return next && ours ? ours : next;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface)
{
	if (interface->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT || interface->loaderLayerInterfaceVersion < 2)
		return VK_ERROR_INITIALIZATION_FAILED;
	interface->loaderLayerInterfaceVersion = 2;
	interface->pfnGetInstanceProcAddr = get_instance_address;
	interface->pfnGetDeviceProcAddr = get_device_address;
	interface->pfnGetPhysicalDeviceProcAddr = NULL;
	return VK_SUCCESS;
}
