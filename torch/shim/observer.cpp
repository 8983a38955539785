// SPDX-License-Identifier: MIT
// Tells gputap of torch's operators: begin and end of each RecordFunction become a range.
//
// Built from the installed torch's headers. gputap's functions are looked up in the process: where
// nothing is recorded, torch is told of no callback and goes on as it is.
// Never here: allocation or a system call in the callbacks; inputs, unless shapes were asked for,
// as torch puts them into boxes for whoever asks.
#include <dlfcn.h>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

namespace
{

// enum gputap_range_kind
enum { OPERATOR = 0, BACKWARD = 1, USER = 2 };
enum { SHAPE_WORDS = 128 };

int (*range_begin)(uint32_t, const char *, uint64_t, int64_t, const int64_t *, uint32_t);
int (*range_end)(uint64_t);

uint64_t key_of(const at::RecordFunction &f)
{
	return reinterpret_cast<uintptr_t>(&f);
}

template <uint32_t kind> std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction &f)
{
	range_begin(kind, f.name(), key_of(f), f.seqNr(), nullptr, 0);
	return nullptr;
}

// Number of dimensions, then each; -1 for what is no tensor or has no plain shape. Return: words.
uint32_t put_shape(int64_t *words, uint32_t room, const c10::IValue &value)
{
	const bool known =
		value.isTensor() && value.unsafeToTensorImpl() &&
		value.unsafeToTensorImpl()->layout() != at::kJagged &&
		!value.unsafeToTensorImpl()->has_symbolic_sizes_strides() &&
		!value.unsafeToTensorImpl()->key_set().has(c10::DispatchKey::NestedTensor) &&
		value.toTensor().defined();

	if (!known) {
		words[0] = -1;
		return 1;
	}
	const auto sizes = value.unsafeToTensorImpl()->sizes();
	if (sizes.size() + 1 > room)
		return 0;
	words[0] = static_cast<int64_t>(sizes.size());
	for (size_t i = 0; i < sizes.size(); i++)
		words[1 + i] = sizes[i];
	return 1 + static_cast<uint32_t>(sizes.size());
}

template <uint32_t kind>
std::unique_ptr<at::ObserverContext> begin_with_shapes(const at::RecordFunction &f)
{
	int64_t words[SHAPE_WORDS];
	uint32_t count = 0;

	for (const c10::IValue &value : f.inputs()) {
		const uint32_t more = count < SHAPE_WORDS
					      ? put_shape(words + count, SHAPE_WORDS - count, value)
					      : 0;

		if (!more)
			break;
		count += more;
	}
	range_begin(kind, f.name(), key_of(f), f.seqNr(), words, count);
	return nullptr;
}

void end(const at::RecordFunction &f, at::ObserverContext *)
{
	range_end(key_of(f));
}

template <uint32_t kind>
void observe(const std::unordered_set<at::RecordScope> &scopes, bool shapes)
{
	at::addGlobalCallback(
		at::RecordFunctionCallback(shapes ? begin_with_shapes<kind> : begin<kind>, end)
			.needsInputs(shapes)
			.scopes(scopes));
}

} // namespace

// Return: 0; 1: nothing is recorded in this process.
extern "C" __attribute__((visibility("default"))) int gputap_torch_observe(uint32_t version,
									   int shapes)
{
	auto source = reinterpret_cast<int (*)(const void *, uint32_t)>(
		dlsym(RTLD_DEFAULT, "gputap_range_source"));

	range_begin =
		reinterpret_cast<decltype(range_begin)>(dlsym(RTLD_DEFAULT, "gputap_range_begin"));
	range_end = reinterpret_cast<decltype(range_end)>(dlsym(RTLD_DEFAULT, "gputap_range_end"));
	if (!source || !range_begin || !range_end ||
	    source(reinterpret_cast<const void *>(&at::addGlobalCallback), version))
		return 1;
	observe<OPERATOR>({at::RecordScope::FUNCTION, at::RecordScope::TORCHSCRIPT_FUNCTION},
			  shapes);
	observe<BACKWARD>({at::RecordScope::BACKWARD_FUNCTION}, false);
	observe<USER>({at::RecordScope::USER_SCOPE}, false);
	return 0;
}
