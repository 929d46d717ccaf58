// SPDX-License-Identifier: MIT
#version 450
// C = A * B, of 64 rows and columns each; a workgroup makes a tile of C, 8 by 8.
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, set = 0, binding = 0) buffer Data { float a[64][64], b[64][64], c[64][64]; };
void main()
{
	uvec2 at = gl_GlobalInvocationID.xy;
	float sum = 0;

	for (uint i = 0; i < 64; i++)
		sum += a[at.y][i] * b[i][at.x];
	c[at.y][at.x] = sum;
}
