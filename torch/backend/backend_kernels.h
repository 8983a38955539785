/* SPDX-License-Identifier: MIT */
// The kernels that the backend launches, and the arguments of each kernel. The kernels are
// independent of torch: plain C++ on device memory, one group per call.
#pragma once

#include <cstdint>

#include "refdev.h"

namespace refdev
{

enum { DIMS_MOST = 8, OPERANDS_MOST = 4, GROUP_ITEMS = 256 };

enum Type { FLOAT32, FLOAT64, INT64, TYPE_COUNT };

enum Operation {
	OP_add,
	OP_sub,
	OP_mul,
	OP_div,
	OP_addcmul,
	OP_addcdiv,
	OP_lerp,
	OP_neg,
	OP_sqrt,
	OP_exp,
	OP_pow,
	OP_tanh,
	OP_tanh_backward,
	OP_sigmoid,
	OP_sigmoid_backward,
	OP_relu,
	OP_relu_backward,
	OP_gelu,
	OP_gelu_backward,
	OP_gelu_tanh,
	OP_gelu_tanh_backward,
	OP_sum,
	OP_mean,
	OP_softmax,
	OP_softmax_backward,
	OP_log_softmax,
	OP_log_softmax_backward,
	OP_layer_norm,
	OP_layer_norm_backward,
	OP_layer_norm_backward_weights,
	OP_gemm,
	OPERATION_COUNT
};

// An elementwise operation that writes operand 0. An operand without an address is a value.
struct Elementwise {
	int64_t count;
	int32_t dims, operands;
	int64_t sizes[DIMS_MOST]; // fastest-changing dimension last
	int64_t strides[OPERANDS_MOST][DIMS_MOST];
	void *data[OPERANDS_MOST];
	double values[OPERANDS_MOST];
	double scalar;
};

// Each of @count outputs is the sum over the input's reduced dimensions.
struct Reduction {
	int64_t count, reduced_count;
	int32_t dims, reduced_dims;
	int64_t sizes[DIMS_MOST], in_strides[DIMS_MOST], out_strides[DIMS_MOST];
	int64_t reduced_sizes[DIMS_MOST], reduced_strides[DIMS_MOST];
	const void *in;
	void *out;
};

// Contiguous rows of @length elements, at a distance of @inner.
struct Rows {
	int64_t count, length, inner;
	const void *in, *other; // backward pass: the gradient and the result of the forward pass
	void *out;
};

struct LayerNorm {
	int64_t count, length;
	double epsilon;
	const void *in, *weight, *bias, *gradient; // weight and bias may be NULL
	void *out, *mean, *rstd, *weight_gradient, *bias_gradient;
};

// out = beta * bias + alpha * a b, for each matrix in a batch. Strides for batch, row and column.
struct Gemm {
	int64_t batch, rows, columns, inner;
	int64_t a_strides[3], b_strides[3], bias_strides[3], out_strides[3];
	double alpha, beta;
	const void *a, *b, *bias; // bias may be NULL
	void *out;
};

// Return a kernel that is registered with the device, or NULL if there is none for the type.
refdevKernel_t find_kernel(Operation operation, Type type);
// Return a kernel that moves elements of @bytes: 1, 2, 4, 8, 16. @copy: true to copy operand 1,
// false to write the bits of a value.
refdevKernel_t find_move_kernel(bool copy, unsigned bytes);

// Types that copies can convert.
enum Converted { TO_FLOAT32, TO_FLOAT64, TO_INT64, TO_INT32, TO_UINT8, TO_BOOL, CONVERTED_COUNT };
refdevKernel_t find_convert_kernel(Converted to, Converted from);

} // namespace refdev
