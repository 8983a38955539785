/* SPDX-License-Identifier: MIT */
// Copies between host and device, between devices, and between layouts and types. Fills memory.
//
// Host memory is copied with refdevMemcpyAsync() if both sides are dense in the same order,
// otherwise through a dense tensor on the side that has other strides. Each copy from or to the
// host waits for its completion, except with pinned memory if the program requested a non-blocking
// copy.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/_copy_from.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "backend_launch.h"

namespace refdev
{

bool plan_elementwise(Elementwise *e, const at::Tensor &out, at::ArrayRef<at::Tensor> operands)
{
	int64_t strides[OPERANDS_MOST];
	const int count = 1 + int(operands.size());
	int dims = 0;

	*e = {};
	e->count = out.numel();
	e->operands = count;
	for (int64_t d = 0; d < out.dim(); d++) {
		if (out.size(d) == 1)
			continue;
		strides[0] = out.stride(d);
		for (int o = 1; o < count; o++) {
			const at::Tensor &t = operands[size_t(o - 1)];
			const int64_t own = d - out.dim() + t.dim();

			strides[o] = own < 0 || t.size(own) == 1 ? 0 : t.stride(own);
		}
		bool joins = dims > 0;
		for (int o = 0; o < count && joins; o++)
			joins = e->strides[o][dims - 1] == strides[o] * out.size(d);
		if (!joins && dims == DIMS_MOST)
			return false;
		if (!joins)
			e->sizes[dims++] = 1;
		e->sizes[dims - 1] *= out.size(d);
		for (int o = 0; o < count; o++)
			e->strides[o][dims - 1] = strides[o];
	}
	if (!dims)
		e->sizes[dims++] = 1;
	e->dims = dims;
	e->data[0] = out.data_ptr();
	for (int o = 1; o < count; o++)
		e->data[o] = operands[size_t(o - 1)].data_ptr();
	return true;
}

namespace
{

bool same_layout(const at::Tensor &a, const at::Tensor &b)
{
	return a.is_non_overlapping_and_dense() && a.sizes() == b.sizes() &&
	       a.strides() == b.strides();
}

Converted converted_of(at::ScalarType type)
{
	switch (type) {
	case at::kFloat: return TO_FLOAT32;
	case at::kDouble: return TO_FLOAT64;
	case at::kLong: return TO_INT64;
	case at::kInt: return TO_INT32;
	case at::kByte: return TO_UINT8;
	case at::kBool: return TO_BOOL;
	default: return CONVERTED_COUNT;
	}
}

refdevKernel_t find_copy_kernel(const at::Tensor &from, const at::Tensor &to)
{
	const Converted a = converted_of(from.scalar_type()), b = converted_of(to.scalar_type());

	if (from.scalar_type() == to.scalar_type())
		return find_move_kernel(true, unsigned(to.element_size()));
	return a == CONVERTED_COUNT || b == CONVERTED_COUNT ? nullptr : find_convert_kernel(b, a);
}

void copy_bytes(const at::Tensor &from, const at::Tensor &to, refdevMemcpyKind kind, int device)
{
	const DeviceScope scope(device);

	REFDEV_CHECK(refdevMemcpyAsync(to.data_ptr(), from.data_ptr(), to.nbytes(), kind,
				       find_stream(device, current_stream(device))));
}

// Copy within one device.
void copy_here(const at::Tensor &from, const at::Tensor &to)
{
	const int device = to.device().index();
	Elementwise e;

	if (from.scalar_type() == to.scalar_type() && same_layout(from, to)) {
		if (from.data_ptr() != to.data_ptr())
			copy_bytes(from, to, refdevMemcpyDeviceToDevice, device);
		return;
	}
	const refdevKernel_t kernel = find_copy_kernel(from, to);

	if (kernel && plan_elementwise(&e, to, {from}))
		launch(device, kernel, e, e.count);
	else // of a type that no kernel supports
		to.copy_(from.to(at::kCPU).to(to.scalar_type()));
}

// Copy between devices. The streams of both devices wait for each other; the stream of @from
// executes the copy.
void copy_across(const at::Tensor &from, const at::Tensor &to)
{
	const int source = from.device().index(), target = to.device().index();
	const refdevStream_t giver = find_stream(source, current_stream(source));
	const refdevStream_t taker = find_stream(target, current_stream(target));
	refdevEvent_t event;

	REFDEV_CHECK(refdevEventCreate(&event));
	{
		const DeviceScope scope(target);
		REFDEV_CHECK(refdevEventRecord(event, taker));
	}
	{
		const DeviceScope scope(source);
		REFDEV_CHECK(refdevStreamWaitEvent(giver, event));
		copy_bytes(from, to, refdevMemcpyDeviceToDevice, source);
		REFDEV_CHECK(refdevEventRecord(event, giver));
	}
	{
		const DeviceScope scope(target);
		REFDEV_CHECK(refdevStreamWaitEvent(taker, event));
	}
	REFDEV_CHECK(refdevEventDestroy(event));
}

// Copy from or to the host. Both sides are dense and have the same layout and type.
void copy_host(const at::Tensor &from, const at::Tensor &to, bool non_blocking)
{
	const bool in = is_here(to);
	const int device = (in ? to : from).device().index();
	const void *host = (in ? from : to).data_ptr();
	const DeviceScope scope(device);

	copy_bytes(from, to, in ? refdevMemcpyHostToDevice : refdevMemcpyDeviceToHost, device);
	if (non_blocking && is_pinned(host))
		keep_pinned(host);
	else
		REFDEV_CHECK(refdevStreamSynchronize(find_stream(device, current_stream(device))));
}

at::Tensor copy_from(const at::Tensor &from, const at::Tensor &to, bool non_blocking)
{
	if (!to.numel() || from.is_same(to))
		return to;
	at::assert_no_internal_overlap(to);
	const at::Tensor source = from.sizes() == to.sizes() ? from : from.expand(to.sizes());

	if (is_here(source) && is_here(to) && source.device() == to.device()) {
		copy_here(source, to);
	} else if (source.scalar_type() == to.scalar_type() && same_layout(source, to)) {
		if (is_here(source) && is_here(to))
			copy_across(source, to);
		else
			copy_host(source, to, non_blocking);
	} else if (is_here(to)) {
		// the host converts if the source is on the host, otherwise the device converts
		const auto type = is_here(source) ? source.scalar_type() : to.scalar_type();
		const at::Tensor dense = source.to(type).contiguous();
		const at::Tensor landed = at::empty(to.sizes(), to.options().dtype(type));

		copy_from(dense, landed, false);
		copy_here(landed, to);
	} else {
		const at::Tensor dense = source.contiguous();
		const at::Tensor landed = at::empty(to.sizes(), to.options().dtype(dense.dtype()));

		copy_from(dense, landed, false);
		to.copy_(landed);
	}
	return to;
}

at::Tensor copy_from_and_resize(const at::Tensor &from, const at::Tensor &to)
{
	to.resize_(from.sizes());
	return copy_from(from, to, false);
}

at::Scalar read_scalar(const at::Tensor &t)
{
	const at::Tensor host = at::empty({}, t.options().device(at::kCPU));

	copy_from(t.reshape({}), host, false);
	return host.item();
}

void fill_with(const at::Tensor &t, const at::Scalar &value)
{
	const at::Tensor one = at::empty({}, t.options().device(at::kCPU)).fill_(value);
	const refdevKernel_t kernel = find_move_kernel(false, unsigned(t.element_size()));
	Elementwise e;

	if (!t.numel())
		return;
	at::assert_no_internal_overlap(t);
	if (!plan_elementwise(&e, t, {})) {
		t.copy_(one);
		return;
	}
	memcpy(e.values, one.data_ptr(), size_t(one.element_size()));
	launch(t.device().index(), kernel, e, e.count);
}

at::Tensor &fill(at::Tensor &t, const at::Scalar &value)
{
	fill_with(t, value);
	return t;
}

at::Tensor &fill_tensor(at::Tensor &t, const at::Tensor &value)
{
	fill_with(t, value.item());
	return t;
}

at::Tensor &zero(at::Tensor &t)
{
	const int device = t.device().index();

	if (t.numel() && t.is_non_overlapping_and_dense()) {
		const DeviceScope scope(device);

		REFDEV_CHECK(refdevMemsetAsync(t.data_ptr(), 0, t.nbytes(),
					       find_stream(device, current_stream(device))));
	} else {
		fill_with(t, 0);
	}
	return t;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
	m.impl("_copy_from", copy_from);
	m.impl("_copy_from_and_resize", copy_from_and_resize);
	m.impl("_local_scalar_dense", read_scalar);
	m.impl("fill_.Scalar", fill);
	m.impl("fill_.Tensor", fill_tensor);
	m.impl("zero_", zero);
}

} // namespace
} // namespace refdev
