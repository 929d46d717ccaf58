// SPDX-License-Identifier: MIT
/*
 * vk-careless - a program that loads Vulkan by dlopen(), has two devices, forks, and ends without destroying anything
 *
 * Submits nothing, three times to each device; its child does so twice to one of its own, which it makes anew.
 * Prints the number of submissions of each process.
 */
#define _GNU_SOURCE
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#include "../die.h"

static PFN_vkGetInstanceProcAddr get_address;

#define GET(instance, name) ((PFN_##name)get_address(instance, #name))

static VkInstance open_instance(void)
{
	const VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1 };
	const VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app };
	VkInstance instance;

	if (GET(NULL, vkCreateInstance)(&info, NULL, &instance))
		die("there is no instance");
	return instance;
}

static VkDevice open_device(VkInstance instance)
{
	static const float priority = 1.0f;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority,
	};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue,
	};
	VkPhysicalDevice physical;
	VkResult result;
	VkDevice device;
	uint32_t n = 1;

	result = GET(instance, vkEnumeratePhysicalDevices)(instance, &n, &physical);
	if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || !n || GET(instance, vkCreateDevice)(physical, &info, NULL, &device))
		die("there is no device");
	return device;
}

static void submit(VkInstance instance, VkDevice device, unsigned int times)
{
	const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO };
	VkQueue queue;

	GET(instance, vkGetDeviceQueue)(device, 0, 0, &queue);
	while (times--)
		if (GET(instance, vkQueueSubmit)(queue, 1, &info, VK_NULL_HANDLE))
			die("nothing can be submitted");
}

int main(void)
{
	void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
	VkInstance instance;
	VkDevice devices[2];
	pid_t child;
	int status;

	get_address = library ? (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr") : NULL;
	if (!get_address)
		die("there is no libvulkan.so.1");
	instance = open_instance();
	devices[0] = open_device(instance);
	devices[1] = open_device(instance);
	submit(instance, devices[0], 2);
	submit(instance, devices[1], 3);
	child = fork();
	if (!child) {
		instance = open_instance();
		submit(instance, open_device(instance), 2);
		/* Layers wait for their threads when a program exits, and a child has none of its parent's. */
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die("the child failed");
	submit(instance, devices[0], 1);
	puts("6 and 2");
	return 0;
}
