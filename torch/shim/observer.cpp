/* SPDX-License-Identifier: MIT */
// Notifies gputap of torch's operators: each RecordFunction becomes a range.
//
// Built from torch's headers, for one minor version. gputap's functions are looked up in the
// process. If nothing is recorded, torch gets no callback and runs unchanged.
// Never here: allocation or system calls in the callbacks; inputs, unless shapes were requested,
// because torch boxes inputs for observers that need them.
#include <dlfcn.h>
#include <string.h>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/headeronly/version.h>

#include "gputap/gputap.h"

namespace
{

enum { SHAPE_WORDS = 128 };

decltype(&::gputap_range_begin) begin_range;
decltype(&::gputap_range_end) end_range;

// The callbacks in torch, while observing.
at::CallbackHandle handles[2];
int handle_count;

uint64_t key_of(const at::RecordFunction &f)
{
	return reinterpret_cast<uintptr_t>(&f);
}

// @sequence: a negative number means none.
gputap_range_opts options(gputap_range_kind kind, int64_t sequence)
{
	gputap_range_opts opts = {};

	opts.size = sizeof opts;
	opts.kind = kind;
	opts.sequence = sequence;
	opts.has_sequence = 1;
	return opts;
}

// Autograd reports each node twice: as a function whose name has this prefix, and inside that
// function as the node. The second report costs torch 0.5 us, for the name. The observer therefore
// does not request the second report, and gets its information from the node itself.
const char EVALUATE[] = "autograd::engine::evaluate_function: ";

bool is_node(const char *name)
{
	return name[0] == 'a' && name[1] == 'u' && !strncmp(name, EVALUATE, sizeof EVALUATE - 1);
}

__attribute__((noinline)) void begin_node(const at::RecordFunction &f)
{
	const auto node = torch::autograd::get_current_node();

	const auto opts = options(GPUTAP_RANGE_BACKWARD,
				  node ? static_cast<int64_t>(node->sequence_nr()) : -1);

	begin_range(f.name() + sizeof EVALUATE - 1, key_of(f), &opts);
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction &f)
{
	const char *name = f.name();

	if (f.scope() != at::RecordScope::USER_SCOPE && is_node(name)) {
		begin_node(f);
		return nullptr;
	}
	const auto opts = options(f.scope() == at::RecordScope::USER_SCOPE ? GPUTAP_RANGE_USER
									   : GPUTAP_RANGE_OPERATOR,
				  f.seqNr());

	begin_range(name, key_of(f), &opts);
	return nullptr;
}

// Write the number of dimensions, then each dimension; -1 for a value that is not a tensor or has
// no plain shape. Return the number of words written.
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

std::unique_ptr<at::ObserverContext> begin_with_shapes(const at::RecordFunction &f)
{
	int64_t words[SHAPE_WORDS];
	uint32_t count = 0;

	if (is_node(f.name()))
		return begin(f);
	for (const c10::IValue &value : f.inputs()) {
		const uint32_t more = count < SHAPE_WORDS
					      ? put_shape(words + count, SHAPE_WORDS - count, value)
					      : 0;

		if (!more)
			break;
		count += more;
	}
	auto opts = options(GPUTAP_RANGE_OPERATOR, f.seqNr());

	opts.shapes = words;
	opts.shape_count = count;
	begin_range(f.name(), key_of(f), &opts);
	return nullptr;
}

void end(const at::RecordFunction &f, at::ObserverContext *)
{
	end_range(key_of(f));
}

} // namespace

static int observe(decltype(&::gputap_range_source) source, uint32_t version, int shapes)
{
	if (handle_count)
		return 0;
	if (!source || !begin_range || !end_range ||
	    source(reinterpret_cast<const void *>(&at::addGlobalCallback), version))
		return 1;
	// one callback for all possible scopes, because torch rebuilds its lists of callbacks for
	// each node
	using Scope = at::RecordScope;
	const std::unordered_set<Scope> calls{Scope::FUNCTION, Scope::TORCHSCRIPT_FUNCTION},
		ranges{Scope::USER_SCOPE},
		all{Scope::FUNCTION, Scope::TORCHSCRIPT_FUNCTION, Scope::USER_SCOPE};

	handles[handle_count++] = at::addGlobalCallback(
		at::RecordFunctionCallback(begin, end).scopes(shapes ? ranges : all));
	if (shapes)
		handles[handle_count++] =
			at::addGlobalCallback(at::RecordFunctionCallback(begin_with_shapes, end)
						      .needsInputs(true)
						      .scopes(calls));
	return 0;
}

// Start observing, once per process. Return 0, or 1 if nothing is recorded in this process.
extern "C" __attribute__((visibility("default"))) int gputap_torch_observe(uint32_t version,
									   int shapes)
{
	auto source = reinterpret_cast<decltype(&::gputap_range_source)>(
		dlsym(RTLD_DEFAULT, "gputap_range_source"));

	begin_range =
		reinterpret_cast<decltype(begin_range)>(dlsym(RTLD_DEFAULT, "gputap_range_begin"));
	end_range = reinterpret_cast<decltype(end_range)>(dlsym(RTLD_DEFAULT, "gputap_range_end"));
	return observe(source, version, shapes);
}

// Return torch's version from its function, or 0 if this observer was built for another version.
static uint32_t check_version(uint64_t (*version)())
{
	if (!version || version() >> 48 != TORCH_ABI_VERSION >> 48)
		return 0;
	return 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR +
	       static_cast<uint32_t>(version() >> 40 & 0xff); // of the loaded torch
}

// Start observing in programs without Python, where torch's version has not been checked. Return as
// above, or 2 for a wrong version of torch.
extern "C" __attribute__((visibility("default"))) int gputap_torch_attach(int shapes)
{
	const uint32_t version = check_version(
		reinterpret_cast<uint64_t (*)()>(dlsym(RTLD_DEFAULT, "aoti_torch_abi_version")));

	return version ? gputap_torch_observe(version, shapes) : 2;
}

// Start observing in a program that gputap was attached to. gputap's and torch's functions cannot
// be looked up there, because their libraries were opened without RTLD_GLOBAL. @functions:
// gputap_range_source(), gputap_range_begin(), gputap_range_end(), aoti_torch_abi_version(). Return
// as above.
extern "C" __attribute__((visibility("default"))) int gputap_torch_attach_late(
	void *const functions[4], int shapes)
{
	const uint32_t version = check_version(reinterpret_cast<uint64_t (*)()>(functions[3]));

	if (!version)
		return 2;
	begin_range = reinterpret_cast<decltype(begin_range)>(functions[1]);
	end_range = reinterpret_cast<decltype(end_range)>(functions[2]);
	return observe(reinterpret_cast<decltype(&::gputap_range_source)>(functions[0]), version,
		       shapes);
}

// Stop observing: torch's operators then cost what they cost without an observer. Ranges that are
// open in other threads still end.
extern "C" __attribute__((visibility("default"))) void gputap_torch_detach()
{
	while (handle_count)
		at::removeCallback(handles[--handle_count]);
}
