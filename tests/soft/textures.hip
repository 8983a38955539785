/* SPDX-License-Identifier: MIT */
/* textures: HIP's textures and surfaces on the software GPU; each value is compared with the host's
 * result for the same array. Prints a line per kind: the numbers of compared and of wrong
 * values. */
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#define MUST(call)                                                          \
	do {                                                                \
		hipError_t error_ = (call);                                 \
		if (error_ != hipSuccess) {                                 \
			printf("%s: %s\n", #call, hipGetErrorName(error_)); \
			exit(1);                                            \
		}                                                           \
	} while (0)

enum { W = 37, H = 19, D = 5, POINTS = 1 << 12 };

static unsigned next()
{
	static unsigned long long s = 88172645463325252ull;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return (unsigned)(s >> 16);
}

/* ---- the host's textures ---- */

static int place(hipTextureAddressMode mode, double at, int n)
{
	long i = (long)floor(at);

	switch (mode) {
	case hipAddressModeWrap: return (int)(((i % n) + n) % n);
	case hipAddressModeMirror:
		i = ((i % (2 * n)) + 2 * n) % (2 * n);
		return (int)(i < n ? i : 2 * n - 1 - i);
	case hipAddressModeClamp: return (int)(i < 0 ? 0 : i >= n ? n - 1 : i);
	default: return i < 0 || i >= n ? -1 : (int)i;
	}
}

struct texture_of { /* of one channel */
	const std::vector<float> &values;
	int size[3];
	hipTextureAddressMode mode;
	bool linear, normalized;

	float one(double x, double y, double z) const
	{
		int i = place(mode, x, size[0]), j = place(mode, y, size[1]),
		    k = place(mode, z, size[2]);

		return i < 0 || j < 0 || k < 0 ? 0
					       : values[((size_t)k * size[1] + j) * size[0] + i];
	}

	double at(const float *p, int axes) const
	{
		double c[3] = {0, 0, 0}, sum = 0;

		for (int i = 0; i < axes; i++)
			/* round as GPUs do */
			c[i] = rint((normalized ? (double)p[i] * size[i] : p[i]) * 256) / 256 -
			       (linear ? 0.5 : 0);
		if (!linear)
			return one(c[0], c[1], c[2]);
		for (int corner = 0; corner < 1 << axes; corner++) {
			double w = 1, q[3] = {0, 0, 0};

			for (int i = 0; i < axes; i++) {
				double low = floor(c[i]);

				q[i] = low + (corner >> i & 1);
				w *= corner >> i & 1 ? c[i] - low : 1 - (c[i] - low);
			}
			sum += w * one(q[0], q[1], q[2]);
		}
		return sum;
	}
};

/* ---- kernels ---- */

__global__ void sample1(hipTextureObject_t t, const float *p, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex1D<float>(t, p[3 * i]);
}

__global__ void sample2(hipTextureObject_t t, const float *p, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex2D<float>(t, p[3 * i], p[3 * i + 1]);
}

__global__ void sample3(hipTextureObject_t t, const float *p, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex3D<float>(t, p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}

__global__ void sample2_level(hipTextureObject_t t, const float *p, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex2DLod<float>(t, p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}

__global__ void sample2_gradient(hipTextureObject_t t, const float *p, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex2DGrad<float>(t, p[3 * i], p[3 * i + 1], make_float2(p[3 * i + 2], 0),
				  make_float2(0, 1));
}

template <typename T> __global__ void fetch(hipTextureObject_t t, T *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = tex1Dfetch<T>(t, i);
}

template <typename T> __global__ void read2(hipTextureObject_t t, T *out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

	if (x < W)
		out[y * W + x] = tex2D<T>(t, x + 0.5f, y + 0.5f);
}

__global__ void turn(hipSurfaceObject_t from, hipSurfaceObject_t to)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	float v; /* integers are read as the bits of floats, and are then converted */

	if (x >= W)
		return;
	surf2Dread(&v, from, x * (int)sizeof v, y);
	surf2Dwrite(v, to, (W - 1 - x) * (int)sizeof v, H - 1 - y);
}

/* ---- tests ---- */

static void say(const char *what, int compared, int wrong)
{
	printf("%s: %d compared, %d wrong\n", what, compared, wrong);
	fflush(stdout);
}

static hipTextureObject_t make_texture(const hipResourceDesc &r, hipTextureAddressMode mode,
				       bool linear, bool normalized,
				       hipTextureReadMode read = hipReadModeElementType)
{
	hipTextureDesc d = {};
	hipTextureObject_t t;

	d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
	d.filterMode = linear ? hipFilterModeLinear : hipFilterModePoint;
	d.normalizedCoords = normalized;
	d.readMode = read;
	MUST(hipCreateTextureObject(&t, &r, &d, nullptr));
	return t;
}

/* Choose points around the image, many of them at edges of elements, in float so that both sides
 * see the same. */
static std::vector<float> points(const int *size, bool normalized)
{
	std::vector<float> p(3 * POINTS);

	for (size_t i = 0; i < p.size(); i++) {
		double x = ((int)(next() % (16 * 3 * size[i % 3])) - 16 * size[i % 3]) / 16.0;

		/* Device code multiplies with the size in float: an edge itself may land on either
		 * side. */
		p[i] = (float)(normalized ? (x + 1.0 / 64) / size[i % 3] : x);
	}
	return p;
}

template <typename K>
static void compare(const char *what, K kernel, hipTextureObject_t t, const texture_of &model,
		    int axes)
{
	std::vector<float> p = points(model.size, model.normalized), got(POINTS);
	float *points, *out;
	int wrong = 0;

	MUST(hipMalloc(&points, p.size() * sizeof(float)));
	MUST(hipMalloc(&out, POINTS * sizeof(float)));
	MUST(hipMemcpy(points, p.data(), p.size() * sizeof(float), hipMemcpyHostToDevice));
	kernel<<<POINTS / 256, 256>>>(t, points, out);
	MUST(hipMemcpy(got.data(), out, POINTS * sizeof(float), hipMemcpyDeviceToHost));
	for (int i = 0; i < POINTS; i++) {
		double want = model.at(&p[3 * i], axes);

		wrong += !(fabs(got[i] - want) <= (model.linear ? 1e-4 : 0));
	}
	MUST(hipFree(points));
	MUST(hipFree(out));
	say(what, POINTS, wrong);
}

static void sampled(int axes)
{
	static const hipTextureAddressMode modes[] = {hipAddressModeWrap, hipAddressModeMirror,
						      hipAddressModeClamp, hipAddressModeBorder};
	static const char *const names[] = {"wrap", "mirror", "clamp", "border"};
	const int size[3] = {W, axes > 1 ? H : 1, axes > 2 ? D : 1};
	hipChannelFormatDesc channel = hipCreateChannelDesc<float>();
	std::vector<float> values((size_t)size[0] * size[1] * size[2]);
	hipResourceDesc r = {};
	hipArray_t array;
	char what[80];

	for (float &v : values)
		v = (float)(next() % 20001) / 100 - 100;
	if (axes == 3) {
		hipMemcpy3DParms c = {};

		MUST(hipMalloc3DArray(&array, &channel, make_hipExtent(W, H, D), 0));
		c.srcPtr = make_hipPitchedPtr(values.data(), W * sizeof(float), W, H);
		c.dstArray = array;
		c.extent = make_hipExtent(W, H, D);
		c.kind = hipMemcpyHostToDevice;
		MUST(hipMemcpy3D(&c));
	} else {
		MUST(hipMallocArray(&array, &channel, W, axes > 1 ? H : 0, 0));
		MUST(hipMemcpy2DToArray(array, 0, 0, values.data(), W * sizeof(float),
					W * sizeof(float), (size_t)size[1], hipMemcpyHostToDevice));
	}
	r.resType = hipResourceTypeArray;
	r.res.array.array = array;
	for (int mode = 0; mode < 4; mode++)
		for (int linear = 0; linear < 2; linear++)
			/* wrap and mirror apply only to normalised ones */
			for (int normalized = mode < 2; normalized < 2; normalized++) {
				texture_of model = {values,
						    {size[0], size[1], size[2]},
						    modes[mode],
						    linear != 0,
						    normalized != 0};
				hipTextureObject_t t =
					make_texture(r, modes[mode], linear, normalized);

				snprintf(what, sizeof what, "%dD %s %s %s", axes, names[mode],
					 linear ? "linear" : "nearest",
					 normalized ? "0 to 1" : "elements");
				compare(what,
					axes == 1   ? sample1
					: axes == 2 ? sample2
						    : sample3,
					t, model, axes);
				if (axes == 2 && mode == 2) {
					compare("2D of a level", sample2_level, t, model, axes);
					compare("2D with gradients", sample2_gradient, t, model,
						axes);
				}
				MUST(hipDestroyTextureObject(t));
			}
	MUST(hipFreeArray(array));
}

/* Check that elements of a type, in memory and in an array, are read back unchanged. */
template <typename T> static void elements(const char *name)
{
	const size_t pitch = (W * sizeof(T) + 255) / 256 * 256;
	hipChannelFormatDesc channel = hipCreateChannelDesc<T>();
	std::vector<unsigned char> bytes(W * H * sizeof(T));
	std::vector<T> values(W * H), got(W * H);
	hipTextureObject_t t;
	hipResourceDesc r = {};
	hipArray_t array;
	T *out, *memory;
	char what[80];
	int wrong[3];

	for (auto &b : bytes)
		b = (unsigned char)(next() % 60); /* not a NaN */
	memcpy((void *)values.data(), bytes.data(), bytes.size());
	MUST(hipMalloc(&out, bytes.size()));
	MUST(hipMalloc(&memory, pitch * H));
	MUST(hipMemcpy(memory, values.data(), bytes.size(), hipMemcpyHostToDevice));
	r.resType = hipResourceTypeLinear;
	r.res.linear.devPtr = memory;
	r.res.linear.desc = channel;
	r.res.linear.sizeInBytes = bytes.size();
	t = make_texture(r, hipAddressModeClamp, false, false);
	fetch<T><<<(W * H + 63) / 64, 64>>>(t, out, W * H);
	MUST(hipMemcpy(got.data(), out, bytes.size(), hipMemcpyDeviceToHost));
	wrong[0] = memcmp(got.data(), values.data(), bytes.size()) != 0;
	MUST(hipDestroyTextureObject(t));

	MUST(hipMemset(out, 255, bytes.size()));
	MUST(hipMallocArray(&array, &channel, W, H, 0));
	MUST(hipMemcpy2DToArray(array, 0, 0, values.data(), W * sizeof(T), W * sizeof(T), H,
				hipMemcpyHostToDevice));
	r = {};
	r.resType = hipResourceTypeArray;
	r.res.array.array = array;
	t = make_texture(r, hipAddressModeClamp, false, false);
	read2<T><<<dim3((W + 63) / 64, H), 64>>>(t, out);
	MUST(hipMemcpy(got.data(), out, bytes.size(), hipMemcpyDeviceToHost));
	wrong[1] = memcmp(got.data(), values.data(), bytes.size()) != 0;
	MUST(hipDestroyTextureObject(t));

	MUST(hipMemset(out, 255, bytes.size()));
	MUST(hipMemcpy2D(memory, pitch, values.data(), W * sizeof(T), W * sizeof(T), H,
			 hipMemcpyHostToDevice));
	r = {};
	r.resType = hipResourceTypePitch2D;
	r.res.pitch2D.devPtr = memory;
	r.res.pitch2D.desc = channel;
	r.res.pitch2D.width = W;
	r.res.pitch2D.height = H;
	r.res.pitch2D.pitchInBytes = pitch;
	t = make_texture(r, hipAddressModeClamp, false, false);
	read2<T><<<dim3((W + 63) / 64, H), 64>>>(t, out);
	MUST(hipMemcpy(got.data(), out, bytes.size(), hipMemcpyDeviceToHost));
	wrong[2] = memcmp(got.data(), values.data(), bytes.size()) != 0;
	MUST(hipDestroyTextureObject(t));
	MUST(hipFreeArray(array));
	MUST(hipFree(out));
	MUST(hipFree(memory));
	snprintf(what, sizeof what, "%s of memory, an array, rows with a pitch", name);
	say(what, 3, wrong[0] + wrong[1] + wrong[2]);
}

/* Read integers as 0 to 1, or -1 to 1. */
template <typename T> static void as_floats(const char *name)
{
	hipChannelFormatDesc channel = hipCreateChannelDesc<T>();
	std::vector<T> values(W * H);
	std::vector<float> got(W * H);
	double most = (double)(T)((sizeof(T) == 1 ? 0xff : 0xffff) >> std::is_signed<T>::value);
	hipResourceDesc r = {};
	hipArray_t array;
	float *out;
	int wrong = 0;

	for (T &v : values)
		v = (T)next();
	MUST(hipMalloc(&out, W * H * sizeof(float)));
	MUST(hipMallocArray(&array, &channel, W, H, 0));
	MUST(hipMemcpy2DToArray(array, 0, 0, values.data(), W * sizeof(T), W * sizeof(T), H,
				hipMemcpyHostToDevice));
	r.resType = hipResourceTypeArray;
	r.res.array.array = array;
	hipTextureObject_t t =
		make_texture(r, hipAddressModeClamp, false, false, hipReadModeNormalizedFloat);
	read2<float><<<dim3((W + 63) / 64, H), 64>>>(t, out);
	MUST(hipMemcpy(got.data(), out, W * H * sizeof(float), hipMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++)
		wrong += fabs(got[i] - fmax(values[i] / most, -1)) > 1e-6;
	MUST(hipDestroyTextureObject(t));
	MUST(hipFreeArray(array));
	MUST(hipFree(out));
	say(name, W * H, wrong);
}

static void surfaces()
{
	hipChannelFormatDesc channel = hipCreateChannelDesc<float>();
	std::vector<float> values(W * H), got(W * H);
	hipSurfaceObject_t from, to;
	hipResourceDesc r = {};
	hipArray_t arrays[2];
	int wrong = 0;

	for (float &v : values)
		v = (float)next();
	for (auto &a : arrays)
		MUST(hipMallocArray(&a, &channel, W, H, 0));
	MUST(hipMemcpy2DToArray(arrays[0], 0, 0, values.data(), W * sizeof(float),
				W * sizeof(float), H, hipMemcpyHostToDevice));
	r.resType = hipResourceTypeArray;
	r.res.array.array = arrays[0];
	MUST(hipCreateSurfaceObject(&from, &r));
	r.res.array.array = arrays[1];
	MUST(hipCreateSurfaceObject(&to, &r));
	turn<<<dim3((W + 63) / 64, H), 64>>>(from, to);
	MUST(hipMemcpy2DFromArray(got.data(), W * sizeof(float), arrays[1], 0, 0, W * sizeof(float),
				  H, hipMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++)
		wrong += got[i] != values[W * H - 1 - i];
	say("surfaces", W * H, wrong);
}

int main()
{
	for (int axes = 1; axes <= 3; axes++)
		sampled(axes);
	elements<char>("char");
	elements<unsigned char>("unsigned char");
	elements<char2>("char2");
	elements<uchar4>("uchar4");
	elements<short>("short");
	elements<ushort2>("ushort2");
	elements<short4>("short4");
	elements<int>("int");
	elements<uint2>("uint2");
	elements<int4>("int4");
	elements<float>("float");
	elements<float2>("float2");
	elements<float4>("float4");
	as_floats<unsigned char>("unsigned char as 0 to 1");
	as_floats<char>("char as -1 to 1"); /* HIP 5.2 treats signed char as unsigned */
	as_floats<unsigned short>("unsigned short as 0 to 1");
	as_floats<short>("short as -1 to 1");
	surfaces();
	return 0;
}
