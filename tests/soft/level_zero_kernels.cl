// OpenCL C: kernels for the software devices of Level Zero, which accept this text as their native
// format; clang and llvm-spirv compile it to SPIR-V.

struct pair {
	int first;
	float second;
};

kernel void saxpy(global float *y, global const float *x, float a)
{
	size_t i = get_global_id(0);

	y[i] += a * x[i];
}

/* Reverse the numbers of each work group, through its local memory. */
kernel void reverse(global int *data, local int *room)
{
	size_t i = get_local_id(0), n = get_local_size(0);

	room[i] = data[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	data[get_global_id(0)] = room[n - 1 - i];
}

kernel void offsets(global int *out, char narrow, struct pair both, uint4 four)
{
	size_t i = get_global_id(0) - get_global_offset(0);

	out[i] = (int)get_global_id(0) + narrow + both.first + (int)both.second + (int)four.w;
}

/* Each step depends on the previous one. */
kernel void spin(global uint *out, uint steps)
{
	uint value = 1;

	for (uint i = 0; i < steps; i++)
		value = value * 1664525u + 1013904223u;
	out[get_global_id(0)] = value;
}
