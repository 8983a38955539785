/* SPDX-License-Identifier: MIT */
/* Names of all kinds and operations, for lookup without a function call. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_NAME_INFO_HPP
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_NAME_INFO_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/cxx/details/mpl.hpp>
#include <rocprofiler-sdk/fwd.h>

namespace rocprofiler
{
namespace sdk
{
namespace utility
{

/* The names of a kind. Operations without a name have an empty entry. */
template <typename Kind, typename Text = std::string_view> struct name_info_impl {
	using support_type = mpl::string_support<Text>;
	using enum_type = Kind;
	using value_type = Text;
	using return_type = typename support_type::return_type;
	using item_type = std::pair<rocprofiler_tracing_operation_t, const value_type *>;
	using item_array_t = std::vector<item_type>;

	static_assert(support_type::value,
		      "names are kept as std::string, std::string_view or const char *");

	return_type operator()() const
	{
		return name;
	}
	return_type operator()(size_t operation) const
	{
		return operations.at(operation);
	}
	return_type operator[](size_t operation) const
	{
		return operations.at(operation);
	}

	item_array_t items() const
	{
		item_array_t all;

		all.reserve(operations.size());
		for (const auto &operation : operations)
			all.emplace_back(static_cast<rocprofiler_tracing_operation_t>(all.size()),
					 &operation);
		return all;
	}

	Kind value = static_cast<Kind>(0);
	value_type name = {};
	std::vector<value_type> operations = {};
};

template <typename Kind, typename Text = std::string_view> struct name_info {
	using value_type = name_info_impl<Kind, Text>;
	using enum_type = Kind;
	using support_type = typename value_type::support_type;
	using return_type = typename value_type::return_type;
	using item_type = const value_type *;
	using item_array_t = std::vector<item_type>;

	void emplace(Kind kind, const char *name)
	{
		entry(kind).name = support_type{}(name);
	}

	void emplace(Kind kind, rocprofiler_tracing_operation_t operation, const char *name)
	{
		auto &operations = entry(kind).operations;

		if (operation < 0)
			return;
		if (operations.size() <= static_cast<size_t>(operation))
			operations.resize(static_cast<size_t>(operation) + 1,
					  support_type::default_value());
		operations[static_cast<size_t>(operation)] = support_type{}(name);
	}

	return_type at(Kind kind) const
	{
		return impl.at(static_cast<size_t>(kind)).name;
	}
	return_type at(Kind kind, rocprofiler_tracing_operation_t operation) const
	{
		return impl.at(static_cast<size_t>(kind))
			.operations.at(static_cast<size_t>(operation));
	}

	item_array_t items() const
	{
		item_array_t all;

		all.reserve(impl.size());
		for (const auto &kind : impl)
			all.emplace_back(&kind);
		return all;
	}

	decltype(auto) size() const
	{
		return impl.size();
	}
	decltype(auto) begin()
	{
		return impl.begin();
	}
	decltype(auto) begin() const
	{
		return impl.begin();
	}
	decltype(auto) end()
	{
		return impl.end();
	}
	decltype(auto) end() const
	{
		return impl.end();
	}
	value_type &operator[](size_t kind)
	{
		return impl.at(kind);
	}
	const value_type &operator[](size_t kind) const
	{
		return impl.at(kind);
	}

      private:
	value_type &entry(Kind kind)
	{
		if (impl.size() <= static_cast<size_t>(kind))
			impl.resize(static_cast<size_t>(kind) + 1);
		impl[static_cast<size_t>(kind)].value = kind;
		return impl[static_cast<size_t>(kind)];
	}

	std::vector<value_type> impl = {};
};

} // namespace utility

template <typename Text = std::string_view>
using callback_name_info_t = utility::name_info<rocprofiler_callback_tracing_kind_t, Text>;
template <typename Text = std::string_view>
using buffer_name_info_t = utility::name_info<rocprofiler_buffer_tracing_kind_t, Text>;
using callback_name_info = callback_name_info_t<>;
using buffer_name_info = buffer_name_info_t<>;

template <typename Text = std::string_view> callback_name_info_t<Text> get_callback_tracing_names()
{
	using names_t = callback_name_info_t<Text>;
	names_t names;

	rocprofiler_iterate_callback_tracing_kinds(
		[](rocprofiler_callback_tracing_kind_t kind, void *data) {
			const char *name = nullptr;

			if (rocprofiler_query_callback_tracing_kind_name(kind, &name, nullptr) ==
				    ROCPROFILER_STATUS_SUCCESS &&
			    name)
				static_cast<names_t *>(data)->emplace(kind, name);
			rocprofiler_iterate_callback_tracing_kind_operations(
				kind,
				[](rocprofiler_callback_tracing_kind_t of,
				   rocprofiler_tracing_operation_t operation, void *all) {
					const char *text = nullptr;

					if (rocprofiler_query_callback_tracing_kind_operation_name(
						    of, operation, &text, nullptr) ==
						    ROCPROFILER_STATUS_SUCCESS &&
					    text)
						static_cast<names_t *>(all)->emplace(of, operation,
										     text);
					return 0;
				},
				data);
			return 0;
		},
		&names);
	return names;
}

template <typename Text = std::string_view> buffer_name_info_t<Text> get_buffer_tracing_names()
{
	using names_t = buffer_name_info_t<Text>;
	names_t names;

	rocprofiler_iterate_buffer_tracing_kinds(
		[](rocprofiler_buffer_tracing_kind_t kind, void *data) {
			const char *name = nullptr;

			if (rocprofiler_query_buffer_tracing_kind_name(kind, &name, nullptr) ==
				    ROCPROFILER_STATUS_SUCCESS &&
			    name)
				static_cast<names_t *>(data)->emplace(kind, name);
			rocprofiler_iterate_buffer_tracing_kind_operations(
				kind,
				[](rocprofiler_buffer_tracing_kind_t of,
				   rocprofiler_tracing_operation_t operation, void *all) {
					const char *text = nullptr;

					if (rocprofiler_query_buffer_tracing_kind_operation_name(
						    of, operation, &text, nullptr) ==
						    ROCPROFILER_STATUS_SUCCESS &&
					    text)
						static_cast<names_t *>(all)->emplace(of, operation,
										     text);
					return 0;
				},
				data);
			return 0;
		},
		&names);
	return names;
}

} // namespace sdk
} // namespace rocprofiler

#endif
