/* SPDX-License-Identifier: MIT */
/* Type traits for: text types in which name_info.hpp can store names, printable types, and
 * containers that can append elements. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_DETAILS_MPL_HPP
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_DETAILS_MPL_HPP

#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rocprofiler
{
namespace sdk
{
namespace mpl
{

template <typename T>
using unqualified_identity_t = std::remove_cv_t<std::remove_reference_t<std::decay_t<T>>>;

template <typename T>
struct is_string_type
    : std::bool_constant<std::is_same_v<unqualified_identity_t<T>, std::string> ||
			 std::is_same_v<unqualified_identity_t<T>, std::string_view> ||
			 std::is_same_v<unqualified_identity_t<T>, const char *> ||
			 std::is_same_v<unqualified_identity_t<T>, char *>> {
};

template <typename T> struct string_support {
	using type = T;
	using return_type = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
	static constexpr auto value = is_string_type<T>::value && !std::is_same_v<T, char *>;
	static T default_value()
	{
		return T{};
	}
	T operator()(const char *text) const
	{
		return T{text};
	}
};

template <typename T, typename = void> struct can_stringify : std::false_type {
};
template <typename T>
struct can_stringify<
	T, std::void_t<decltype(std::declval<std::ostream &>() << std::declval<const T &>())>>
    : std::true_type {
};
template <typename T> using supports_ostream = can_stringify<T>;

template <typename Container, typename Void, typename... Args>
struct takes_at_end : std::false_type {
};
template <typename Container, typename... Args>
struct takes_at_end<
	Container,
	std::void_t<decltype(std::declval<Container &>().emplace_back(std::declval<Args>()...))>,
	Args...> : std::true_type {
};

/* Append an element to a sequence, or insert it into a set. Return the result of the container's
 * member function. */
template <typename Container, typename... Args> auto emplace(Container &container, Args &&...args)
{
	if constexpr (takes_at_end<Container, void, Args...>::value)
		return container.emplace_back(std::forward<Args>(args)...);
	else
		return container.emplace(std::forward<Args>(args)...);
}

template <typename Container, typename Size, typename = void> struct can_reserve : std::false_type {
};
template <typename Container, typename Size>
struct can_reserve<Container, Size,
		   std::void_t<decltype(std::declval<Container &>().reserve(std::declval<Size>()))>>
    : std::true_type {
};

/* Reserve space for @count elements. Return false if the container cannot reserve space. */
template <typename Container, typename Size> bool reserve(Container &container, Size count)
{
	if constexpr (can_reserve<Container, Size>::value)
		container.reserve(count);
	(void)container, (void)count;
	return can_reserve<Container, Size>::value;
}

/* For static_assert() in an unreachable branch. */
template <typename T> struct assert_false : std::false_type {
};

} // namespace mpl
} // namespace sdk
} // namespace rocprofiler

#endif
