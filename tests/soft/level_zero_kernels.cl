// OpenCL C: kernels for the software devices of Level Zero, which take this text as their native
// format; as SPIR-V it is compiled by clang and llvm-spirv.

struct pair {
	int first;
	float second;
};

kernel void saxpy(global float *y, global const float *x, float a)
{
	size_t i = get_global_id(0);

	y[i] += a * x[i];
}

/* Each work group turns its numbers round, by way of memory of its own. */
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

/* Each step needs the one before. */
kernel void spin(global uint *out, uint steps)
{
	uint value = 1;

	for (uint i = 0; i < steps; i++)
		value = value * 1664525u + 1013904223u;
	out[get_global_id(0)] = value;
}
