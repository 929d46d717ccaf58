// SPDX-License-Identifier: MIT
#version 450
layout(location = 0) in vec2 where;
layout(location = 0) out vec4 colour;
void main()
{
	colour = vec4(where, 0.5, 1.0);
}
