// SPDX-License-Identifier: MIT
#version 450
layout(location = 0) in vec2 position;
layout(location = 0) out vec2 where;
void main()
{
	where = position;
	gl_Position = vec4(position, 0.5, 1.0);
}
