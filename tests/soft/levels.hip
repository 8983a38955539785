/* SPDX-License-Identifier: MIT */
/* levels: run the same C++ functions on the device and on the host, on many inputs; print a line
 * per function with the number of different results. tests/test_soft_levels_hip.py compiles it at
 * -O0 to -O3, with -ffp-contract=off, so that both round alike. */
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#define BOTH __host__ __device__
#define MUST(call)                                    \
	do {                                          \
		if ((call) != hipSuccess) {           \
			printf("%s failed\n", #call); \
			exit(1);                      \
		}                                     \
	} while (0)

enum { COUNT = 4096, GROUP = 256 };

struct input { /* of one work-item; includes edge cases */
	int a, b;
	unsigned u, v;
	long long l, m;
	float f, g;
	double d, e;
};

/* ---- functions ---- */

BOTH static int divisor(int b)
{
	return b ? b : 7;
}

struct integers {
	BOTH long long operator()(const input &i) const
	{
		int q = (int)((unsigned)i.a * (unsigned)i.b) ^ i.a >> (i.b & 31) ^
			(int)(i.u << (i.v & 31));

		return q + i.u / (i.v | 1) + i.u % (i.v | 1) +
		       (i.b == -1 ? 0 : i.a / divisor(i.b) + i.a % divisor(i.b));
	}
};

struct wide_integers {
	BOTH long long operator()(const input &i) const
	{
		unsigned long long x = (unsigned long long)i.l, y = (unsigned long long)i.m | 1;

		return (long long)(x * y + x / y + x % y + (x << (i.u & 63)) + (x >> (i.v & 63)) +
				   (unsigned long long)(i.l >> (i.u & 63))) +
		       i.l / (i.m == -1 || !i.m ? 3 : i.m);
	}
};

struct narrow_integers {
	BOTH long long operator()(const input &i) const
	{
		signed char c = (signed char)i.a;
		unsigned char d = (unsigned char)i.u;
		short s = (short)i.b;
		unsigned short t = (unsigned short)i.v;

		c = (signed char)(c * s + d);
		t = (unsigned short)(t + (t << 3) - d);
		s = (short)(s >> (d & 7));
		return c * 1000000000ll + t * 10000 + s + (c < s) + (d > t);
	}
};

struct floats {
	BOTH float operator()(const input &i) const
	{
		return i.f * i.g + i.f / i.g - sqrtf(fabsf(i.f)) + fmaf(i.f, i.g, 1.5f) +
		       (i.f < i.g ? i.f : i.g);
	}
};

/* Far apart, so that quotients overflow, are denormal, or need their operands scaled on the way. */
struct quotients {
	BOTH double operator()(const input &i) const
	{
		float x = i.f, y = i.g;
		double r = i.d / (i.e * 1e-280) + i.d * 1e-280 / (i.e * 1e5);

		return r + (double)(x * 1e25f / (y * 1e-12f)) +
		       (double)(x * 1e-20f / (y * 1e12f)) * 1e40 + (double)(y / (x * 1e30f)) * 1e40;
	}
};

/* Denormal quotients of doubles, with many bits and with few: rounded once. */
struct small_quotients {
	BOTH long long operator()(const input &i) const
	{
		static const double by[4] = {1e7, 1e9, 1e12, 1e15};
		long long all = 0;

		for (int n = 0; n < 4; n++) {
			double r = i.d * 1e-300 / (i.e * by[n]);
			long long bits;

			memcpy(&bits, &r, sizeof bits);
			all = all * 31 + (r == r ? bits : 1);
		}
		return all;
	}
};

struct doubles {
	BOTH double operator()(const input &i) const
	{
		return i.d * i.e - i.d / i.e + sqrt(fabs(i.e)) + fma(i.d, i.e, -0.25) + floor(i.d) +
		       rint(i.e);
	}
};

struct conversions {
	BOTH double operator()(const input &i) const
	{
		float f = fminf(fmaxf(i.f, -1e9f), 1e9f);

		return (double)(int)f + (float)i.l + (double)i.u + (long long)(f * 1000.0) +
		       (float)(_Float16)(f * 1e-5f) + (unsigned)fabsf(f);
	}
};

struct branches {
	BOTH long long operator()(const input &i) const
	{
		unsigned x = i.u | 1;
		int steps = 0;

		while (x != 1 && steps < 200) { /* lanes leave separately */
			if (x % 2)
				x = 3 * x + 1;
			else
				x /= 2;
			steps++;
			if (x % 1000 == 17)
				continue;
			if (x > 4000000000u)
				break;
		}
		switch (i.a & 7) {
		case 0: return steps;
		case 1: return steps * 3;
		case 2: steps++; /* falls through */
		case 3: return steps - x;
		case 6: return -steps;
		default: return (long long)x * steps;
		}
	}
};

struct arrays { /* on the stack, with an index unknown at compile time */
	BOTH long long operator()(const input &i) const
	{
		int table[24];
		long long sum = 0;

		for (int k = 0; k < 24; k++)
			table[k] = i.a * k ^ i.b;
		for (int k = 0; k < 24; k++) { /* sorted partially, in a few passes */
			int at = (k * 5 + (i.u & 15)) % 23;

			if (table[at] > table[at + 1]) {
				int t = table[at];

				table[at] = table[at + 1];
				table[at + 1] = t;
			}
		}
		for (int k = 0; k < 24; k++)
			sum = sum * 31 + table[(k + i.v) % 24];
		return sum;
	}
};

template <int N> BOTH static unsigned digits(unsigned x)
{
	return x % 10 + 16 * digits<N - 1>(x / 10);
}
template <> BOTH unsigned digits<0>(unsigned)
{
	return 0;
}

/* a real recursion */
__attribute__((noinline)) BOTH static unsigned ackermann(unsigned m, unsigned n)
{
	if (!m)
		return n + 1;
	return n ? ackermann(m - 1, ackermann(m, n - 1)) : ackermann(m - 1, 1);
}

struct calls {
	BOTH long long operator()(const input &i) const
	{
		return digits<9>(i.u) + ackermann(i.v & 1, i.u & 7) + ackermann(2, i.v & 1);
	}
};

struct vectors {
	BOTH float operator()(const input &i) const
	{
		float4 a = make_float4(i.f, i.g, (float)i.a, 1),
		       b = make_float4(2, i.f, i.g, (float)i.b);
		int3 n = make_int3(i.a & 255, i.b & 255, 3);

		a.x += b.y, a.y *= b.z, a.z -= b.x, a.w /= b.w + 0.5f;
		return a.x + a.y * n.x + a.z * n.y + a.w * n.z;
	}
};

struct bits {
	BOTH long long operator()(const input &i) const
	{
		unsigned long long x = (unsigned long long)i.l;

		return __builtin_popcountll(x) + 100 * __builtin_clz(i.u | 1) +
		       10000 * __builtin_ctz(i.u | 1u << 31) +
		       1000000ll * __builtin_ffsll((long long)x);
	}
};

/* ---- comparison ---- */

template <class F> __global__ void run(const input *in, decltype(F()(input())) *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = F()(in[i]);
}

template <class T> static bool same(T a, T b)
{
	return !memcmp(&a, &b, sizeof a) || (a != a && b != b);
}

template <class F>
static int compare(const char *name, const input *device, const std::vector<input> &in)
{
	typedef decltype(F()(input())) result;
	std::vector<result> got(COUNT);
	result *out;
	int wrong = 0;

	MUST(hipMalloc((void **)&out, COUNT * sizeof(result)));
	run<F><<<COUNT / GROUP, GROUP>>>(device, out);
	MUST(hipMemcpy(got.data(), out, COUNT * sizeof(result), hipMemcpyDeviceToHost));
	for (int i = 0; i < COUNT; i++)
		wrong += !same(got[i], F()(in[i]));
	printf("%s: %d wrong\n", name, wrong);
	MUST(hipFree(out));
	return wrong;
}

/* ---- work-items together: shared memory, atomics, lanes, globals ---- */

__constant__ int constants[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ unsigned long long total;

__global__ void together(const input *in, unsigned *out)
{
	__shared__ unsigned part[GROUP];
	__shared__ int most;
	unsigned t = threadIdx.x, i = blockIdx.x * GROUP + t, x = in[i].u;

	if (!t)
		most = -1;
	part[t] = x ^ constants[t & 7];
	__syncthreads();
	for (unsigned step = GROUP / 2; step; step /= 2) {
		if (t < step)
			part[t] += part[t + step];
		__syncthreads();
	}
	atomicMax(&most, in[i].a);
	atomicAdd(&total, (unsigned long long)x);
	for (int step = 1; step < 64; step *= 2)
		x += __shfl_xor(x, step);
	__syncthreads();
	out[i] = part[0] + (unsigned)most + x + __popcll(__ballot(in[i].b > 0));
}

static int compare_together(const input *device, const std::vector<input> &in)
{
	static const int host_constants[8] = {3, 1, 4, 1, 5, 9, 2, 6};
	std::vector<unsigned> got(COUNT);
	unsigned long long sum = 0, device_sum;
	unsigned *out;
	int wrong = 0;

	MUST(hipMalloc((void **)&out, COUNT * sizeof *out));
	together<<<COUNT / GROUP, GROUP>>>(device, out);
	MUST(hipMemcpy(got.data(), out, COUNT * sizeof *out, hipMemcpyDeviceToHost));
	MUST(hipMemcpyFromSymbol(&device_sum, HIP_SYMBOL(total), sizeof device_sum));
	for (int g = 0; g < COUNT; g += GROUP) {
		unsigned part = 0;
		int most = -1;

		for (int t = 0; t < GROUP; t++) {
			part += in[g + t].u ^ host_constants[t & 7];
			most = in[g + t].a > most ? in[g + t].a : most;
			sum += in[g + t].u;
		}
		for (int wave = 0; wave < GROUP; wave += 64) {
			unsigned x = 0, ballot = 0;

			for (int l = 0; l < 64; l++) {
				x += in[g + wave + l].u;
				ballot += in[g + wave + l].b > 0;
			}
			for (int l = 0; l < 64; l++)
				wrong += got[g + wave + l] != part + (unsigned)most + x + ballot;
		}
	}
	wrong += sum != device_sum;
	printf("together: %d wrong\n", wrong);
	MUST(hipFree(out));
	return wrong;
}

static unsigned long long random64()
{
	static unsigned long long x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static std::vector<input> inputs()
{
	static const int edges[] = {
		0, 1, -1, 2, 31, 32, 255, -128, 65535, 0x7fffffff, (int)0x80000000};
	static const double numbers[] = {0, -0.0, 1, -1, 0.5, 1e-3, 3.14159, 1e6, -2.5e9, 1e-30};
	std::vector<input> all(COUNT);

	for (input &i : all) {
		bool edge = random64() % 4 == 0;
		unsigned n = (unsigned)(random64() >> 20);

		i.a = edge ? edges[n % 11] : (int)random64();
		i.b = edge ? edges[n / 11 % 11] : (int)random64();
		i.u = n % 3 ? (unsigned)random64() : (unsigned)i.a;
		i.v = (unsigned)random64() >> (n & 31);
		i.l = edge ? (long long)i.a : (long long)random64();
		i.m = (long long)random64() >> (n & 63);
		i.d = edge ? numbers[n % 10] : (double)(long long)random64() * 1e-13;
		i.e = edge ? numbers[n / 10 % 10] : (double)(int)random64() * 1e-3;
		i.f = (float)i.d;
		i.g = (float)i.e;
	}
	return all;
}

int main()
{
	std::vector<input> in = inputs();
	input *device;
	int wrong = 0;

	MUST(hipMalloc((void **)&device, COUNT * sizeof(input)));
	MUST(hipMemcpy(device, in.data(), COUNT * sizeof(input), hipMemcpyHostToDevice));
#define COMPARE(function) wrong += compare<function>(#function, device, in)
	COMPARE(integers);
	COMPARE(wide_integers);
	COMPARE(narrow_integers);
	COMPARE(floats);
	COMPARE(quotients);
	COMPARE(small_quotients);
	COMPARE(doubles);
	COMPARE(conversions);
	COMPARE(branches);
	COMPARE(arrays);
	COMPARE(calls);
	COMPARE(vectors);
	COMPARE(bits);
	wrong += compare_together(device, in);
	MUST(hipFree(device));
	return wrong != 0;
}
