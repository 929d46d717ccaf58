// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, set = 0, binding = 0) buffer Data { uint value[]; };
void main()
{
	atomicAdd(value[0], gl_LocalInvocationIndex);
}
