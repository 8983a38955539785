/* SPDX-License-Identifier: MIT */
// torch's operators on the device. Operators that torch calls structured are registered only in the
// `out` form, from which torch derives the functional and in-place forms. torch checks shapes and
// types before the call. Operators with types or layouts that no kernel supports, and all
// unregistered operators, run on the CPU; their tensors are copied to the CPU and back.
#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/NativeFunctions.h>
#include <ATen/Operators.h>
#include <ATen/core/Reduction.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "backend_generator.h"
#include "backend_launch.h"

namespace refdev
{
namespace
{

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// Run on the CPU --------------------------------------------------------------

// Replace device generators with the CPU generators that they contain, and a missing generator with
// the default generator.
void run_on_cpu(const c10::OperatorHandle &op, torch::jit::Stack *stack)
{
	const auto &arguments = op.schema().arguments();
	const size_t first = stack->size() - arguments.size();

	for (size_t i = 0; i < arguments.size(); i++) {
		const auto optional = arguments[i].type()->cast<c10::OptionalType>();
		c10::IValue &value = (*stack)[first + i];

		if (value.isGenerator() && value.toGenerator().device().type() == DEVICE_TYPE)
			value = host_generator(value.toGenerator());
		else if (value.isNone() && optional &&
			 optional->getElementType()->kind() == c10::TypeKind::GeneratorType)
			value = host_generator(default_generator(get_device()));
	}
	at::native::cpu_fallback(op, stack);
}

template <typename Op> using OnCpu = at::native::call_fallback_fn<&run_on_cpu, Op>;

// Empty tensors and views -----------------------------------------------------

const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

Tensor empty(IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
	     std::optional<at::Device> device, std::optional<bool>,
	     std::optional<at::MemoryFormat> format)
{
	const DeviceScope scope(device && device->has_index() ? device->index() : get_device());

	return at::detail::empty_generic(size, device_allocator(), keys,
					 c10::dtype_or_default(type), format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<at::ScalarType> type,
		     std::optional<at::Layout>, std::optional<at::Device> device,
		     std::optional<bool>)
{
	const DeviceScope scope(device && device->has_index() ? device->index() : get_device());

	return at::detail::empty_strided_generic(size, stride, device_allocator(), keys,
						 c10::dtype_or_default(type));
}

Tensor as_strided(const Tensor &t, IntArrayRef size, IntArrayRef stride,
		  std::optional<int64_t> offset)
{
	return at::native::as_strided_tensorimpl(t, size, stride, offset);
}

Tensor &set_storage(Tensor &t, at::Storage source, int64_t offset, IntArrayRef size,
		    IntArrayRef stride)
{
	return at::native::set_storage_cpu_(t, std::move(source), offset, size, stride);
}

void record_stream(Tensor &t, at::Stream s)
{
	device_allocator()->recordStream(t.storage().data_ptr(), s);
}

// Element by element ----------------------------------------------------------

// Read a CPU tensor without dimensions. Calls no torch operator, because profilers would see the
// call.
double read_value(const Tensor &t)
{
	switch (t.scalar_type()) {
	case at::kDouble: return *static_cast<const double *>(t.const_data_ptr());
	case at::kFloat: return double(*static_cast<const float *>(t.const_data_ptr()));
	case at::kLong: return double(*static_cast<const int64_t *>(t.const_data_ptr()));
	default: return t.item<double>();
	}
}

// Run an elementwise operation. Return false if no kernel supports it.
bool launch_each(Operation operation, const Tensor &out, std::initializer_list<Tensor> in,
		 double scalar = 0)
{
	const Type type = type_of(out);
	const refdevKernel_t kernel = type == TYPE_COUNT ? nullptr : find_kernel(operation, type);
	c10::SmallVector<Tensor, OPERANDS_MOST> operands(in);
	double values[OPERANDS_MOST] = {0};
	bool is_value[OPERANDS_MOST] = {false};
	Elementwise e;
	size_t o = 1;

	if (!kernel || !is_here(out))
		return false;
	for (Tensor &t : operands) {
		is_value[o] = t.dim() == 0 && t.device().is_cpu() && !t.is_complex();
		if (is_value[o]) {
			// a float operand in an integer operation gives a float result: out is then
			// a float tensor
			if (type == INT64 &&
			    (t.is_floating_point() || std::abs(read_value(t)) > double(1LL << 52)))
				return false;
			values[o] = read_value(t);
		} else if (t.device() != out.device() || t.scalar_type() != out.scalar_type()) {
			return false;
		}
		o++;
	}
	if (!out.numel())
		return true;
	if (!plan_elementwise(&e, out, operands))
		return false;
	at::assert_no_internal_overlap(out);
	for (o = 1; o <= operands.size(); o++) {
		e.values[o] = values[o];
		if (is_value[o])
			e.data[o] = nullptr;
	}
	e.scalar = scalar;
	launch(out.device().index(), kernel, e, e.count);
	return true;
}

// Give @out the common shape of its operands.
void shape_like(const Tensor &out, std::initializer_list<Tensor> in)
{
	at::DimVector sizes;

	for (const Tensor &t : in)
		sizes = at::infer_size_dimvector(sizes, t.sizes());
	at::native::resize_output(out, sizes);
}

bool is_plain(const Scalar &s)
{
	return !s.isComplex() && !s.isSymbolic();
}

template <typename Op, Operation operation>
Tensor &sum_out(const Tensor &a, const Tensor &b, const Scalar &alpha, Tensor &out)
{
	shape_like(out, {a, b});
	if (!is_plain(alpha) || !launch_each(operation, out, {a, b}, alpha.toDouble()))
		return OnCpu<Op>::call(a, b, alpha, out);
	return out;
}

template <typename Op, Operation operation>
Tensor &binary_out(const Tensor &a, const Tensor &b, Tensor &out)
{
	shape_like(out, {a, b});
	return launch_each(operation, out, {a, b}) ? out : OnCpu<Op>::call(a, b, out);
}

template <typename Op, Operation operation> Tensor &unary_out(const Tensor &a, Tensor &out)
{
	shape_like(out, {a});
	return launch_each(operation, out, {a}) ? out : OnCpu<Op>::call(a, out);
}

template <typename Op, Operation operation>
Tensor &ternary_out(const Tensor &a, const Tensor &b, const Tensor &c, const Scalar &value,
		    Tensor &out)
{
	shape_like(out, {a, b, c});
	if (!is_plain(value) || !launch_each(operation, out, {a, b, c}, value.toDouble()))
		return OnCpu<Op>::call(a, b, c, value, out);
	return out;
}

Tensor &lerp_out(const Tensor &a, const Tensor &b, const Scalar &weight, Tensor &out)
{
	shape_like(out, {a, b});
	if (!is_plain(weight) || !launch_each(OP_lerp, out, {a, b}, weight.toDouble()))
		return OnCpu<ATEN_OP2(lerp, Scalar_out)>::call(a, b, weight, out);
	return out;
}

Tensor &pow_out(const Tensor &a, const Scalar &exponent, Tensor &out)
{
	shape_like(out, {a});
	if (!is_plain(exponent) || !launch_each(OP_pow, out, {a}, exponent.toDouble()))
		return OnCpu<ATEN_OP2(pow, Tensor_Scalar_out)>::call(a, exponent, out);
	return out;
}

Tensor relu(const Tensor &a)
{
	Tensor out = at::empty_like(a);

	return launch_each(OP_relu, out, {a}) ? out : OnCpu<ATEN_OP(relu)>::call(a);
}

Tensor &relu_(Tensor &a)
{
	return launch_each(OP_relu, a, {a}) ? a : OnCpu<ATEN_OP(relu_)>::call(a);
}

Tensor &threshold_backward_out(const Tensor &gradient, const Tensor &a, const Scalar &threshold,
			       Tensor &out)
{
	shape_like(out, {gradient, a});
	if (!launch_each(OP_relu_backward, out, {gradient, a}, threshold.toDouble()))
		return OnCpu<ATEN_OP2(threshold_backward, grad_input)>::call(gradient, a, threshold,
									     out);
	return out;
}

Tensor &gelu_out(const Tensor &a, c10::string_view approximate, Tensor &out)
{
	const bool by_tanh = approximate == "tanh";

	shape_like(out, {a});
	if (!launch_each(by_tanh ? OP_gelu_tanh : OP_gelu, out, {a}))
		return OnCpu<ATEN_OP2(gelu, out)>::call(a, approximate, out);
	return out;
}

Tensor &gelu_backward_out(const Tensor &gradient, const Tensor &a, c10::string_view approximate,
			  Tensor &out)
{
	const bool by_tanh = approximate == "tanh";

	shape_like(out, {gradient, a});
	if (!launch_each(by_tanh ? OP_gelu_tanh_backward : OP_gelu_backward, out, {gradient, a}))
		return OnCpu<ATEN_OP2(gelu_backward, grad_input)>::call(gradient, a, approximate,
									out);
	return out;
}

// Sums ------------------------------------------------------------------------

// @out has the shape that torch computed, with or without the reduced dimensions.
bool launch_reduction(Operation operation, const Tensor &in, at::OptionalIntArrayRef dims,
		      const Tensor &out)
{
	const Type type = type_of(in);
	const auto mask = at::dim_list_to_bitset(dims, size_t(in.dim()));
	const bool keeps = out.dim() == in.dim();
	Reduction r = {};
	int64_t to = 0;

	if (type >= INT64 || out.scalar_type() != in.scalar_type() || in.dim() > DIMS_MOST ||
	    !is_here(in))
		return false;
	r.count = r.reduced_count = 1;
	for (int64_t d = 0; d < in.dim(); d++) {
		if (mask[size_t(d)]) {
			r.reduced_sizes[r.reduced_dims] = in.size(d);
			r.reduced_strides[r.reduced_dims++] = in.stride(d);
			r.reduced_count *= in.size(d);
			to += keeps;
		} else {
			r.sizes[r.dims] = in.size(d);
			r.in_strides[r.dims] = in.stride(d);
			r.out_strides[r.dims++] = out.stride(to++);
			r.count *= in.size(d);
		}
	}
	r.in = in.data_ptr();
	r.out = out.data_ptr();
	if (out.numel() != r.count)
		return false; // a tensor of the program, with another shape
	if (r.count)
		launch(in.device().index(), find_kernel(operation, type), r, r.count);
	return true;
}

template <typename Op, Operation operation>
Tensor &reduce_out(const Tensor &in, at::OptionalIntArrayRef dims, bool keepdim,
		   std::optional<at::ScalarType> type, Tensor &out)
{
	const bool all = !dims || dims->empty();

	if ((type && *type != in.scalar_type()) ||
	    !launch_reduction(operation, in, all ? at::OptionalIntArrayRef() : dims, out))
		return OnCpu<Op>::call(in, dims, keepdim, type, out);
	return out;
}

// Softmax ---------------------------------------------------------------------

bool launch_rows(Operation operation, const Tensor &in, const Tensor &other, int64_t dim,
		 const Tensor &out)
{
	const Type type = type_of(in);
	const Tensor a = in.contiguous(), b = other.defined() ? other.contiguous() : other;
	Rows r = {};

	if (type >= INT64 || out.scalar_type() != in.scalar_type() || !out.is_contiguous() ||
	    out.sizes() != in.sizes() || !is_here(in) ||
	    (b.defined() && (b.scalar_type() != in.scalar_type() || b.sizes() != in.sizes())))
		return false;
	if (!in.numel())
		return true;
	dim = at::maybe_wrap_dim(dim, in.dim());
	r.length = in.dim() ? in.size(dim) : 1;
	r.inner = 1;
	for (int64_t d = dim + 1; d < in.dim(); d++)
		r.inner *= in.size(d);
	r.count = in.numel() / r.length;
	r.in = a.data_ptr();
	r.other = b.defined() ? b.data_ptr() : nullptr;
	r.out = out.data_ptr();
	launch(in.device().index(), find_kernel(operation, type), r, r.count);
	return true;
}

template <typename Op, Operation operation>
Tensor &softmax_out(const Tensor &in, int64_t dim, bool half_to_float, Tensor &out)
{
	at::native::resize_output(out, in.sizes());
	if (half_to_float || !launch_rows(operation, in, Tensor(), dim, out))
		return OnCpu<Op>::call(in, dim, half_to_float, out);
	return out;
}

template <typename Op, Operation operation>
Tensor &softmax_backward_out(const Tensor &gradient, const Tensor &forward, int64_t dim,
			     at::ScalarType type, Tensor &out)
{
	at::native::resize_output(out, gradient.sizes());
	if (type != gradient.scalar_type() || !launch_rows(operation, gradient, forward, dim, out))
		return OnCpu<Op>::call(gradient, forward, dim, type, out);
	return out;
}

// Normalization ---------------------------------------------------------------

const void *address_of(const Tensor &t)
{
	return t.defined() ? t.data_ptr() : nullptr;
}

// Return a dense tensor, or an undefined one.
Tensor dense(const OptionalTensor &t)
{
	return t && t->defined() ? t->contiguous() : Tensor();
}

bool is_normal(const Tensor &in, IntArrayRef shape, std::initializer_list<Tensor> parameters)
{
	bool fits = is_here(in) && type_of(in) < INT64 && in.numel() &&
		    int64_t(shape.size()) <= in.dim();

	for (const Tensor &t : parameters)
		fits = fits && (!t.defined() || t.scalar_type() == in.scalar_type());
	return fits;
}

LayerNorm plan_layer_norm(const Tensor &in, IntArrayRef shape)
{
	LayerNorm n = {};

	n.length = c10::multiply_integers(shape);
	n.count = in.numel() / n.length;
	n.in = in.data_ptr();
	return n;
}

std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor &in, IntArrayRef shape,
					      const OptionalTensor &weight,
					      const OptionalTensor &bias, double epsilon)
{
	const Tensor a = in.contiguous(), w = dense(weight), b = dense(bias);

	if (!is_normal(a, shape, {w, b}))
		return OnCpu<ATEN_OP(native_layer_norm)>::call(in, shape, weight, bias, epsilon);
	at::DimVector rows(in.sizes().begin(), in.sizes().end() - int64_t(shape.size()));
	rows.resize(size_t(in.dim()), 1);
	const Tensor out = at::empty_like(a), mean = at::empty(rows, a.options());
	const Tensor rstd = at::empty(rows, a.options());
	LayerNorm n = plan_layer_norm(a, shape);

	n.epsilon = epsilon;
	n.weight = address_of(w);
	n.bias = address_of(b);
	n.out = out.data_ptr();
	n.mean = mean.data_ptr();
	n.rstd = rstd.data_ptr();
	launch(a.device().index(), find_kernel(OP_layer_norm, type_of(a)), n, n.count);
	return {out, mean, rstd};
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor &gradient, const Tensor &in,
						       IntArrayRef shape, const Tensor &mean,
						       const Tensor &rstd,
						       const OptionalTensor &weight,
						       const OptionalTensor &bias,
						       std::array<bool, 3> wanted)
{
	const Tensor a = in.contiguous(), g = gradient.contiguous(), w = dense(weight);
	const Tensor m = mean.contiguous(), r = rstd.contiguous();
	Tensor out, weights, biases;

	if (!is_normal(a, shape, {g, w, m, r}))
		return OnCpu<ATEN_OP(native_layer_norm_backward)>::call(gradient, in, shape, mean,
									rstd, weight, bias, wanted);
	LayerNorm n = plan_layer_norm(a, shape);

	n.weight = address_of(w);
	n.gradient = g.data_ptr();
	n.mean = m.data_ptr();
	n.rstd = r.data_ptr();
	if (wanted[0]) {
		out = at::empty_like(a);
		n.out = out.data_ptr();
		launch(a.device().index(), find_kernel(OP_layer_norm_backward, type_of(a)), n,
		       n.count);
	}
	if (wanted[1])
		weights = at::empty(shape, a.options());
	if (wanted[2])
		biases = at::empty(shape, a.options());
	n.weight_gradient = wanted[1] ? weights.data_ptr() : nullptr;
	n.bias_gradient = wanted[2] ? biases.data_ptr() : nullptr;
	if (wanted[1] || wanted[2])
		launch(a.device().index(), find_kernel(OP_layer_norm_backward_weights, type_of(a)),
		       n, n.length);
	return {out, weights, biases};
}

// Matrices --------------------------------------------------------------------

void put_strides(int64_t *strides, const Tensor &t)
{
	strides[0] = t.dim() == 3 ? t.stride(0) : 0;
	strides[1] = t.stride(-2);
	strides[2] = t.stride(-1);
}

// @a, @b, @out: tensors with two or three dimensions. @bias: broadcasts to the shape of @out, or is
// undefined.
bool launch_gemm(const Tensor &a, const Tensor &b, const Tensor &bias, double beta, double alpha,
		 const Tensor &out)
{
	const Type type = type_of(out);
	Tensor spread;
	Gemm m = {};

	for (const Tensor &t : {a, b, bias})
		if (t.defined() &&
		    (t.device() != out.device() || t.scalar_type() != out.scalar_type()))
			return false;
	if (type >= INT64)
		return false;
	if (!out.numel())
		return true;
	if (bias.defined() && beta != 0) {
		spread = bias.expand(out.sizes());
		m.bias = spread.data_ptr();
		put_strides(m.bias_strides, spread);
	}
	m.batch = out.dim() == 3 ? out.size(0) : 1;
	m.rows = out.size(-2);
	m.columns = out.size(-1);
	m.inner = a.size(-1);
	put_strides(m.a_strides, a);
	put_strides(m.b_strides, b);
	put_strides(m.out_strides, out);
	m.alpha = alpha;
	m.beta = beta;
	m.a = a.data_ptr();
	m.b = b.data_ptr();
	m.out = out.data_ptr();
	launch(out.device().index(), find_kernel(OP_gemm, type), m, m.columns, m.rows, m.batch);
	return true;
}

template <typename Op> Tensor &product_out(const Tensor &a, const Tensor &b, Tensor &out)
{
	at::DimVector sizes(a.sizes());

	sizes.back() = b.size(-1);
	at::native::resize_output(out, sizes);
	return launch_gemm(a, b, Tensor(), 0, 1, out) ? out : OnCpu<Op>::call(a, b, out);
}

template <typename Op>
Tensor &sum_product_out(const Tensor &bias, const Tensor &a, const Tensor &b, const Scalar &beta,
			const Scalar &alpha, Tensor &out)
{
	at::DimVector sizes(a.sizes());

	sizes.back() = b.size(-1);
	at::native::resize_output(out, sizes);
	if (!is_plain(beta) || !is_plain(alpha) ||
	    !launch_gemm(a, b, bias, beta.toDouble(), alpha.toDouble(), out))
		return OnCpu<Op>::call(bias, a, b, beta, alpha, out);
	return out;
}

// The rest --------------------------------------------------------------------

// In the functional form torch has allocated @out. An @out that the program passes may have
// any size.
Tensor &cat_out(const at::ITensorListRef &tensors, int64_t dim, Tensor &out)
{
	at::DimVector sizes;
	int64_t length = 0;

	for (const Tensor &t : tensors) {
		if (t.dim() == 1 && !t.size(0))
			continue; // legacy rule: skip empty 1-d tensors
		dim = at::maybe_wrap_dim(dim, t.dim());
		sizes = at::DimVector(t.sizes());
		length += t.size(dim);
	}
	if (!sizes.empty())
		sizes[size_t(dim)] = length;
	at::native::resize_output(out, sizes.empty() ? IntArrayRef({0}) : IntArrayRef(sizes));
	length = 0;
	for (const Tensor &t : tensors) {
		if (t.dim() == 1 && !t.size(0))
			continue;
		out.narrow(dim, length, t.size(dim)).copy_(t);
		length += t.size(dim);
	}
	return out;
}

// Registered directly, not in the `out` form, because the CPU resizes `out` with a warning.
Tensor mse_loss(const Tensor &a, const Tensor &b, int64_t reduction)
{
	const Tensor squares = at::pow(at::sub(a, b), 2);

	return reduction == at::Reduction::Mean  ? squares.mean()
	       : reduction == at::Reduction::Sum ? squares.sum()
						 : squares;
}

Tensor mse_loss_backward(const Tensor &gradient, const Tensor &a, const Tensor &b,
			 int64_t reduction)
{
	const double count = reduction == at::Reduction::Mean ? double(a.numel()) : 1;

	return at::mul(at::mul(at::sub(a, b), 2 / count), gradient);
}

// Choose attention that uses matrix products and softmax, because this backend has no fused kernel.
int64_t choose_attention(const Tensor &, const Tensor &, const Tensor &, const OptionalTensor &,
			 double, bool, std::optional<double>, bool)
{
	return 0;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
	m.impl("empty.memory_format", empty);
	m.impl("empty_strided", empty_strided);
	m.impl("as_strided", as_strided);
	m.impl("view", TORCH_FN(at::native::view));
	m.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
	m.impl("unfold", TORCH_FN(at::native::unfold));
	m.impl("resize_", TORCH_FN(at::native::resize_));
	m.impl("set_.source_Storage_storage_offset", set_storage);
	m.impl("set_.source_Tensor", TORCH_FN(at::native::set_tensor_));
	m.impl("set_.source_Storage", TORCH_FN(at::native::set_));
	m.impl("record_stream", record_stream);
	m.impl("cat.out", cat_out);
	m.impl("mse_loss", mse_loss);
	m.impl("mse_loss_backward", mse_loss_backward);
	m.impl("_fused_sdp_choice", choose_attention);

	m.impl("add.out", sum_out<ATEN_OP2(add, out), OP_add>);
	m.impl("sub.out", sum_out<ATEN_OP2(sub, out), OP_sub>);
	m.impl("mul.out", binary_out<ATEN_OP2(mul, out), OP_mul>);
	m.impl("div.out", binary_out<ATEN_OP2(div, out), OP_div>);
	m.impl("addcmul.out", ternary_out<ATEN_OP2(addcmul, out), OP_addcmul>);
	m.impl("addcdiv.out", ternary_out<ATEN_OP2(addcdiv, out), OP_addcdiv>);
	m.impl("lerp.Scalar_out", lerp_out);
	m.impl("pow.Tensor_Scalar_out", pow_out);
	m.impl("neg.out", unary_out<ATEN_OP2(neg, out), OP_neg>);
	m.impl("sqrt.out", unary_out<ATEN_OP2(sqrt, out), OP_sqrt>);
	m.impl("exp.out", unary_out<ATEN_OP2(exp, out), OP_exp>);
	m.impl("tanh.out", unary_out<ATEN_OP2(tanh, out), OP_tanh>);
	m.impl("tanh_backward.grad_input",
	       binary_out<ATEN_OP2(tanh_backward, grad_input), OP_tanh_backward>);
	m.impl("sigmoid.out", unary_out<ATEN_OP2(sigmoid, out), OP_sigmoid>);
	m.impl("sigmoid_backward.grad_input",
	       binary_out<ATEN_OP2(sigmoid_backward, grad_input), OP_sigmoid_backward>);
	m.impl("relu", relu);
	m.impl("relu_", relu_);
	m.impl("threshold_backward.grad_input", threshold_backward_out);
	m.impl("gelu.out", gelu_out);
	m.impl("gelu_backward.grad_input", gelu_backward_out);

	m.impl("sum.IntList_out", reduce_out<ATEN_OP2(sum, IntList_out), OP_sum>);
	m.impl("mean.out", reduce_out<ATEN_OP2(mean, out), OP_mean>);
	m.impl("_softmax.out", softmax_out<ATEN_OP2(_softmax, out), OP_softmax>);
	m.impl("_softmax_backward_data.out",
	       softmax_backward_out<ATEN_OP2(_softmax_backward_data, out), OP_softmax_backward>);
	m.impl("_log_softmax.out", softmax_out<ATEN_OP2(_log_softmax, out), OP_log_softmax>);
	m.impl("_log_softmax_backward_data.out",
	       softmax_backward_out<ATEN_OP2(_log_softmax_backward_data, out),
				    OP_log_softmax_backward>);
	m.impl("native_layer_norm", layer_norm);
	m.impl("native_layer_norm_backward", layer_norm_backward);

	m.impl("mm.out", product_out<ATEN_OP2(mm, out)>);
	m.impl("bmm.out", product_out<ATEN_OP2(bmm, out)>);
	m.impl("addmm.out", sum_product_out<ATEN_OP2(addmm, out)>);
	m.impl("baddbmm.out", sum_product_out<ATEN_OP2(baddbmm, out)>);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m)
{
	m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
}

} // namespace
} // namespace refdev
