/* SPDX-License-Identifier: MIT */
// The kernels. A group processes GROUP_ITEMS elements, rows or columns.
// Locking: none. A kernel is registered at its first launch, and registering it twice is harmless.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>

#include "backend_kernels.h"

namespace refdev
{
namespace
{

struct Range {
	int64_t begin, end;
};

// Return this group's part of @count items.
Range range_of(const refdevGroup *g, int64_t count)
{
	const int64_t begin = int64_t(g->index.x) * g->block.x;

	return {begin, std::min(begin + int64_t(g->block.x), count)};
}

// Element by element ----------------------------------------------------------

// Call row(offsets, length) for each part of the innermost dimension that belongs to a group.
template <typename F> void each_row(const refdevGroup *g, const Elementwise &e, F row)
{
	const Range range = range_of(g, e.count);
	int64_t index[DIMS_MOST], offsets[OPERANDS_MOST], rest = range.begin;

	for (int d = e.dims - 1; d >= 0; d--) {
		index[d] = rest % e.sizes[d];
		rest /= e.sizes[d];
	}
	for (int64_t at = range.begin; at < range.end;) {
		const int last = e.dims - 1;
		const int64_t length = std::min(e.sizes[last] - index[last], range.end - at);

		for (int o = 0; o < e.operands; o++) {
			offsets[o] = 0;
			for (int d = 0; d < e.dims; d++)
				offsets[o] += index[d] * e.strides[o][d];
		}
		row(offsets, length);
		at += length;
		index[last] += length;
		for (int d = last; d > 0 && index[d] == e.sizes[d]; d--) {
			index[d] = 0;
			index[d - 1]++;
		}
	}
}

// Return the start of operand @o and the distance between its elements. If the operand is a value,
// copy it to @value.
template <typename T>
const T *find_operand(const Elementwise &e, int o, const int64_t *offsets, T *value,
		      int64_t *stride)
{
	*stride = 0;
	if (o >= e.operands || !e.data[o]) {
		*value = o < e.operands ? T(e.values[o]) : T(0);
		return value;
	}
	*stride = e.strides[o][e.dims - 1];
	return static_cast<const T *>(e.data[o]) + offsets[o];
}

template <typename T, typename F> void run_each(const refdevGroup *g, const void *arguments)
{
	const auto &e = *static_cast<const Elementwise *>(arguments);

	each_row(g, e, [&e](const int64_t *offsets, int64_t length) {
		int64_t s1, s2, s3;
		T v1, v2, v3;
		const T *a = find_operand(e, 1, offsets, &v1, &s1);
		const T *b = find_operand(e, 2, offsets, &v2, &s2);
		const T *c = find_operand(e, 3, offsets, &v3, &s3);
		T *out = static_cast<T *>(e.data[0]) + offsets[0];
		const int64_t s0 = e.strides[0][e.dims - 1];
		const T scalar = T(e.scalar);

		for (int64_t i = 0; i < length; i++)
			out[i * s0] = F::of(a[i * s1], b[i * s2], c[i * s3], scalar);
	});
}

#define EACH(name, expression)                                        \
	struct name##_each {                                          \
		template <typename T> static T of(T a, T b, T c, T s) \
		{                                                     \
			(void)a, (void)b, (void)c, (void)s;           \
			return T(expression);                         \
		}                                                     \
	};

template <typename T> T gelu_tanh_inner(T x)
{
	return std::tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x));
}

template <typename T> T gelu_tanh_slope(T x)
{
	const T t = gelu_tanh_inner(x);

	return T(0.5) * (1 + t) +
	       T(0.5) * x * (1 - t * t) * T(0.7978845608028654) * (1 + T(3 * 0.044715) * x * x);
}

template <typename T> T gelu_slope(T x)
{
	return T(0.5) * (1 + std::erf(x * T(M_SQRT1_2))) +
	       x * std::exp(-x * x / 2) * T(0.3989422804014327);
}

EACH(add, a + s * b)
EACH(sub, a - s * b)
EACH(mul, a *b)
EACH(div, a / b)
EACH(addcmul, a + s * b * c)
EACH(addcdiv, a + s * b / c)
EACH(lerp, s < T(0.5) ? a + s * (b - a) : b - (b - a) * (1 - s))
EACH(neg, -a)
EACH(sqrt, std::sqrt(a))
EACH(exp, std::exp(a))
EACH(pow, s == 2 ? a * a : std::pow(a, s))
EACH(tanh, std::tanh(a))
EACH(tanh_backward, a *(1 - b * b))
EACH(sigmoid, 1 / (1 + std::exp(-a)))
EACH(sigmoid_backward, a *(1 - b) * b)
EACH(relu, a < 0 ? T(0) : a)
EACH(relu_backward, b <= s ? T(0) : a)
EACH(gelu, a *T(0.5) * (1 + std::erf(a * T(M_SQRT1_2))))
EACH(gelu_backward, a *gelu_slope(b))
EACH(gelu_tanh, T(0.5) * a * (1 + gelu_tanh_inner(a)))
EACH(gelu_tanh_backward, a *gelu_tanh_slope(b))

// Copies and fills, bit by bit ------------------------------------------------

struct Bits16 {
	uint64_t low, high;
};

template <typename T> void run_copy(const refdevGroup *g, const void *arguments)
{
	const auto &e = *static_cast<const Elementwise *>(arguments);

	each_row(g, e, [&e](const int64_t *offsets, int64_t length) {
		const int64_t s0 = e.strides[0][e.dims - 1], s1 = e.strides[1][e.dims - 1];
		const T *in = static_cast<const T *>(e.data[1]) + offsets[1];
		T *out = static_cast<T *>(e.data[0]) + offsets[0];

		for (int64_t i = 0; i < length; i++)
			out[i * s0] = in[i * s1];
	});
}

template <typename T> void run_fill(const refdevGroup *g, const void *arguments)
{
	const auto &e = *static_cast<const Elementwise *>(arguments);
	T value;

	std::memcpy(&value, e.values, sizeof value);
	each_row(g, e, [&e, value](const int64_t *offsets, int64_t length) {
		const int64_t s0 = e.strides[0][e.dims - 1];
		T *out = static_cast<T *>(e.data[0]) + offsets[0];

		for (int64_t i = 0; i < length; i++)
			out[i * s0] = value;
	});
}

template <typename To, typename From> void run_convert(const refdevGroup *g, const void *arguments)
{
	const auto &e = *static_cast<const Elementwise *>(arguments);

	each_row(g, e, [&e](const int64_t *offsets, int64_t length) {
		const int64_t s0 = e.strides[0][e.dims - 1], s1 = e.strides[1][e.dims - 1];
		const From *in = static_cast<const From *>(e.data[1]) + offsets[1];
		To *out = static_cast<To *>(e.data[0]) + offsets[0];

		for (int64_t i = 0; i < length; i++)
			out[i * s0] = static_cast<To>(in[i * s1]);
	});
}

// Reductions, softmax, normalization: sums in double --------------------------

template <typename T> double reduce_one(const Reduction &r, const T *in)
{
	int64_t index[DIMS_MOST] = {0}, offset = 0;
	double sum = 0;

	for (int64_t i = 0; i < r.reduced_count; i++) {
		sum += double(in[offset]);
		for (int d = r.reduced_dims - 1; d >= 0; d--) {
			offset += r.reduced_strides[d];
			if (++index[d] < r.reduced_sizes[d])
				break;
			offset -= index[d] * r.reduced_strides[d];
			index[d] = 0;
		}
	}
	return sum;
}

template <typename T, bool is_mean> void run_reduce(const refdevGroup *g, const void *arguments)
{
	const auto &r = *static_cast<const Reduction *>(arguments);
	const Range range = range_of(g, r.count);

	for (int64_t i = range.begin; i < range.end; i++) {
		int64_t rest = i, from = 0, to = 0;

		for (int d = r.dims - 1; d >= 0; d--) {
			from += rest % r.sizes[d] * r.in_strides[d];
			to += rest % r.sizes[d] * r.out_strides[d];
			rest /= r.sizes[d];
		}
		const double sum = reduce_one(r, static_cast<const T *>(r.in) + from);
		static_cast<T *>(r.out)[to] = T(is_mean ? sum / double(r.reduced_count) : sum);
	}
}

template <typename F> void each_line(const refdevGroup *g, const Rows &r, F line)
{
	const Range range = range_of(g, r.count);

	for (int64_t i = range.begin; i < range.end; i++)
		line(i / r.inner * r.length * r.inner + i % r.inner);
}

template <typename T, bool is_log> void run_softmax(const refdevGroup *g, const void *arguments)
{
	const auto &r = *static_cast<const Rows *>(arguments);

	each_line(g, r, [&r](int64_t at) {
		const T *in = static_cast<const T *>(r.in) + at;
		T *out = static_cast<T *>(r.out) + at;
		T most = in[0];
		double sum = 0;

		for (int64_t i = 1; i < r.length; i++)
			most = std::max(most, in[i * r.inner]);
		for (int64_t i = 0; i < r.length; i++)
			sum += std::exp(double(in[i * r.inner]) - double(most));
		for (int64_t i = 0; i < r.length; i++) {
			const double x = double(in[i * r.inner]) - double(most);

			out[i * r.inner] = T(is_log ? x - std::log(sum) : std::exp(x) / sum);
		}
	});
}

template <typename T, bool is_log>
void run_softmax_backward(const refdevGroup *g, const void *arguments)
{
	const auto &r = *static_cast<const Rows *>(arguments);

	each_line(g, r, [&r](int64_t at) {
		const T *gradient = static_cast<const T *>(r.in) + at;
		const T *forward = static_cast<const T *>(r.other) + at;
		T *out = static_cast<T *>(r.out) + at;
		double sum = 0;

		for (int64_t i = 0; i < r.length; i++)
			sum += double(gradient[i * r.inner]) *
			       (is_log ? 1 : double(forward[i * r.inner]));
		for (int64_t i = 0; i < r.length; i++) {
			const double y = double(forward[i * r.inner]);
			const double dy = double(gradient[i * r.inner]);

			out[i * r.inner] = T(is_log ? dy - std::exp(y) * sum : (dy - sum) * y);
		}
	});
}

template <typename T> void run_layer_norm(const refdevGroup *g, const void *arguments)
{
	const auto &n = *static_cast<const LayerNorm *>(arguments);
	const auto *weight = static_cast<const T *>(n.weight);
	const auto *bias = static_cast<const T *>(n.bias);
	const Range range = range_of(g, n.count);

	for (int64_t row = range.begin; row < range.end; row++) {
		const T *in = static_cast<const T *>(n.in) + row * n.length;
		T *out = static_cast<T *>(n.out) + row * n.length;
		double sum = 0, squares = 0;

		for (int64_t i = 0; i < n.length; i++)
			sum += double(in[i]);
		const double mean = sum / double(n.length);
		for (int64_t i = 0; i < n.length; i++)
			squares += (double(in[i]) - mean) * (double(in[i]) - mean);
		const double rstd = 1 / std::sqrt(squares / double(n.length) + n.epsilon);
		for (int64_t i = 0; i < n.length; i++)
			out[i] = T((double(in[i]) - mean) * rstd) * (weight ? weight[i] : T(1)) +
				 (bias ? bias[i] : T(0));
		static_cast<T *>(n.mean)[row] = T(mean);
		static_cast<T *>(n.rstd)[row] = T(rstd);
	}
}

template <typename T> void run_layer_norm_backward(const refdevGroup *g, const void *arguments)
{
	const auto &n = *static_cast<const LayerNorm *>(arguments);
	const auto *weight = static_cast<const T *>(n.weight);
	const Range range = range_of(g, n.count);

	for (int64_t row = range.begin; row < range.end; row++) {
		const T *in = static_cast<const T *>(n.in) + row * n.length;
		const T *gradient = static_cast<const T *>(n.gradient) + row * n.length;
		T *out = static_cast<T *>(n.out) + row * n.length;
		const double mean = double(static_cast<const T *>(n.mean)[row]);
		const double rstd = double(static_cast<const T *>(n.rstd)[row]);
		double sum = 0, dot = 0;

		for (int64_t i = 0; i < n.length; i++) {
			const double dy = double(gradient[i]) * (weight ? double(weight[i]) : 1);

			sum += dy;
			dot += dy * (double(in[i]) - mean) * rstd;
		}
		for (int64_t i = 0; i < n.length; i++) {
			const double dy = double(gradient[i]) * (weight ? double(weight[i]) : 1);
			const double x = (double(in[i]) - mean) * rstd;

			out[i] = T(rstd * (dy - (sum + x * dot) / double(n.length)));
		}
	}
}

// One column per thread: gradients of weight and bias.
template <typename T>
void run_layer_norm_backward_weights(const refdevGroup *g, const void *arguments)
{
	const auto &n = *static_cast<const LayerNorm *>(arguments);
	const auto *in = static_cast<const T *>(n.in),
		   *gradient = static_cast<const T *>(n.gradient);
	const auto *mean = static_cast<const T *>(n.mean), *rstd = static_cast<const T *>(n.rstd);
	const Range range = range_of(g, n.length);

	for (int64_t i = range.begin; i < range.end; i++) {
		double weights = 0, biases = 0;

		for (int64_t row = 0; row < n.count; row++) {
			const double dy = double(gradient[row * n.length + i]);

			biases += dy;
			weights += dy * (double(in[row * n.length + i]) - double(mean[row])) *
				   double(rstd[row]);
		}
		if (n.weight_gradient)
			static_cast<T *>(n.weight_gradient)[i] = T(weights);
		if (n.bias_gradient)
			static_cast<T *>(n.bias_gradient)[i] = T(biases);
	}
}

// Matrices: a group processes GROUP_ITEMS columns of one row -----------------

template <typename T> void run_gemm(const refdevGroup *g, const void *arguments)
{
	const auto &m = *static_cast<const Gemm *>(arguments);
	const int64_t batch = g->index.z, row = g->index.y;
	const Range range = range_of(g, m.columns);
	const int64_t count = range.end - range.begin;
	const T *a = static_cast<const T *>(m.a) + batch * m.a_strides[0] + row * m.a_strides[1];
	const T *b =
		static_cast<const T *>(m.b) + batch * m.b_strides[0] + range.begin * m.b_strides[2];
	T *out = static_cast<T *>(m.out) + batch * m.out_strides[0] + row * m.out_strides[1];
	T sums[GROUP_ITEMS] = {0};

	for (int64_t k = 0; k < m.inner; k++) {
		const T factor = a[k * m.a_strides[2]];
		const T *line = b + k * m.b_strides[1];

		if (m.b_strides[2] == 1)
			for (int64_t j = 0; j < count; j++)
				sums[j] += factor * line[j];
		else
			for (int64_t j = 0; j < count; j++)
				sums[j] += factor * line[j * m.b_strides[2]];
	}
	for (int64_t j = 0; j < count; j++) {
		const int64_t column = range.begin + j;
		T sum = T(m.alpha) * sums[j];

		if (m.bias)
			sum += T(m.beta) *
			       static_cast<const T *>(
				       m.bias)[batch * m.bias_strides[0] + row * m.bias_strides[1] +
					       column * m.bias_strides[2]];
		out[column * m.out_strides[2]] = sum;
	}
}

// The list --------------------------------------------------------------------

struct Kernel {
	const char *name;
	refdevFunction function;
	std::atomic<refdevKernel_t> handle;
};

refdevKernel_t get_handle(Kernel &k)
{
	refdevKernel_t handle = k.handle.load(std::memory_order_acquire);

	if (!handle && k.function && !refdevRegisterKernel(&handle, k.name, k.function))
		k.handle.store(handle, std::memory_order_release);
	return handle;
}

#define FLOATS(name, function)                                                     \
	{                                                                          \
		{"refdev_" #name "<float>", function<float>, {nullptr}},           \
			{"refdev_" #name "<double>", function<double>, {nullptr}}, \
		{                                                                  \
			nullptr, nullptr,                                          \
			{                                                          \
				nullptr                                            \
			}                                                          \
		}                                                                  \
	}
#define FLOATS_BY(name, function, ...)                                                          \
	{                                                                                       \
		{"refdev_" #name "<float>", function<float, __VA_ARGS__>, {nullptr}},           \
			{"refdev_" #name "<double>", function<double, __VA_ARGS__>, {nullptr}}, \
		{                                                                               \
			nullptr, nullptr,                                                       \
			{                                                                       \
				nullptr                                                         \
			}                                                                       \
		}                                                                               \
	}
#define NUMBERS_BY(name, function, ...)                                                         \
	{                                                                                       \
		{"refdev_" #name "<float>", function<float, __VA_ARGS__>, {nullptr}},           \
			{"refdev_" #name "<double>", function<double, __VA_ARGS__>, {nullptr}}, \
		{                                                                               \
			"refdev_" #name "<long>", function<int64_t, __VA_ARGS__>,               \
			{                                                                       \
				nullptr                                                         \
			}                                                                       \
		}                                                                               \
	}

// in the order of enum Operation
Kernel kernels[OPERATION_COUNT][TYPE_COUNT] = {
	NUMBERS_BY(add, run_each, add_each),
	NUMBERS_BY(sub, run_each, sub_each),
	NUMBERS_BY(mul, run_each, mul_each),
	FLOATS_BY(div, run_each, div_each),
	FLOATS_BY(addcmul, run_each, addcmul_each),
	FLOATS_BY(addcdiv, run_each, addcdiv_each),
	FLOATS_BY(lerp, run_each, lerp_each),
	NUMBERS_BY(neg, run_each, neg_each),
	FLOATS_BY(sqrt, run_each, sqrt_each),
	FLOATS_BY(exp, run_each, exp_each),
	FLOATS_BY(pow, run_each, pow_each),
	FLOATS_BY(tanh, run_each, tanh_each),
	FLOATS_BY(tanh_backward, run_each, tanh_backward_each),
	FLOATS_BY(sigmoid, run_each, sigmoid_each),
	FLOATS_BY(sigmoid_backward, run_each, sigmoid_backward_each),
	NUMBERS_BY(relu, run_each, relu_each),
	FLOATS_BY(relu_backward, run_each, relu_backward_each),
	FLOATS_BY(gelu, run_each, gelu_each),
	FLOATS_BY(gelu_backward, run_each, gelu_backward_each),
	FLOATS_BY(gelu_tanh, run_each, gelu_tanh_each),
	FLOATS_BY(gelu_tanh_backward, run_each, gelu_tanh_backward_each),
	FLOATS_BY(sum, run_reduce, false),
	FLOATS_BY(mean, run_reduce, true),
	FLOATS_BY(softmax, run_softmax, false),
	FLOATS_BY(softmax_backward, run_softmax_backward, false),
	FLOATS_BY(log_softmax, run_softmax, true),
	FLOATS_BY(log_softmax_backward, run_softmax_backward, true),
	FLOATS(layer_norm, run_layer_norm),
	FLOATS(layer_norm_backward, run_layer_norm_backward),
	FLOATS(layer_norm_backward_weights, run_layer_norm_backward_weights),
	FLOATS(gemm, run_gemm),
};

Kernel moves[2][5] = {
	{{"refdev_fill<1>", run_fill<uint8_t>, {nullptr}},
	 {"refdev_fill<2>", run_fill<uint16_t>, {nullptr}},
	 {"refdev_fill<4>", run_fill<uint32_t>, {nullptr}},
	 {"refdev_fill<8>", run_fill<uint64_t>, {nullptr}},
	 {"refdev_fill<16>", run_fill<Bits16>, {nullptr}}},
	{{"refdev_copy<1>", run_copy<uint8_t>, {nullptr}},
	 {"refdev_copy<2>", run_copy<uint16_t>, {nullptr}},
	 {"refdev_copy<4>", run_copy<uint32_t>, {nullptr}},
	 {"refdev_copy<8>", run_copy<uint64_t>, {nullptr}},
	 {"refdev_copy<16>", run_copy<Bits16>, {nullptr}}},
};

#define CONVERT(to, from)                                                    \
	{                                                                    \
		"refdev_convert<" #to ", " #from ">", run_convert<to, from>, \
		{                                                            \
			nullptr                                              \
		}                                                            \
	}
#define CONVERTS(to)                                                                  \
	{                                                                             \
		CONVERT(to, float), CONVERT(to, double), CONVERT(to, int64_t),        \
			CONVERT(to, int32_t), CONVERT(to, uint8_t), CONVERT(to, bool) \
	}
Kernel converts[CONVERTED_COUNT][CONVERTED_COUNT] = {
	CONVERTS(float),   CONVERTS(double),  CONVERTS(int64_t),
	CONVERTS(int32_t), CONVERTS(uint8_t), CONVERTS(bool),
};

} // namespace

refdevKernel_t find_kernel(Operation operation, Type type)
{
	return get_handle(kernels[operation][type]);
}

refdevKernel_t find_move_kernel(bool copy, unsigned bytes)
{
	const int which = bytes && !(bytes & (bytes - 1)) ? __builtin_ctz(bytes) : 5;

	return which < 5 ? get_handle(moves[copy][which]) : nullptr;
}

refdevKernel_t find_convert_kernel(Converted to, Converted from)
{
	return get_handle(converts[to][from]);
}

} // namespace refdev
