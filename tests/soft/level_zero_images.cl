// OpenCL C: kernels on images for the software devices of Level Zero, which accept this text as
// their native format; clang and llvm-spirv compile it to SPIR-V.

constant sampler_t plain = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

/* Copy each pixel, adding one to each channel. */
kernel void add_2d(read_only image2d_t in, write_only image2d_t out)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imageui(out, at, read_imageui(in, plain, at) + 1);
}

kernel void add_3d(read_only image3d_t in, write_only image2d_t out)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imageui(out, at, read_imageui(in, plain, (int4)(at.x, at.y, 1, 0)) + 1);
}

kernel void add_layers(read_only image2d_array_t in, write_only image2d_t out)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imageui(out, at, read_imageui(in, plain, (int4)(at.x, at.y, 1, 0)) + 1);
}

kernel void read_1d(read_only image1d_t in, global float4 *out)
{
	int at = get_global_id(0);

	out[at] = read_imagef(in, plain, at);
}

kernel void read_buffer(read_only image1d_buffer_t in, global uint4 *out)
{
	int at = get_global_id(0);

	out[at] = read_imageui(in, at);
}

/* Return the sampler's value for a pixel outside the image. */
kernel void sample(read_only image2d_t in, sampler_t how, global uint4 *out, int x, int y)
{
	out[0] = read_imageui(in, how, (int2)(x, y));
}
