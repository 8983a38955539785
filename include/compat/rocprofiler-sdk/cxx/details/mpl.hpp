/* SPDX-License-Identifier: MIT */
/* What kinds of text name_info.hpp can keep names as. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_DETAILS_MPL_HPP
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_DETAILS_MPL_HPP

#include <string>
#include <string_view>
#include <type_traits>

namespace rocprofiler {
namespace sdk {
namespace mpl {

template <typename T>
using unqualified_identity_t = std::remove_cv_t<std::remove_reference_t<std::decay_t<T>>>;

template <typename T>
struct is_string_type
    : std::bool_constant<std::is_same_v<unqualified_identity_t<T>, std::string> ||
			 std::is_same_v<unqualified_identity_t<T>, std::string_view> ||
			 std::is_same_v<unqualified_identity_t<T>, const char *> || std::is_same_v<unqualified_identity_t<T>, char *>> {
};

template <typename T>
struct string_support {
	using type = T;
	using return_type = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
	static constexpr auto value = is_string_type<T>::value && !std::is_same_v<T, char *>;
	static T default_value() { return T{}; }
	T operator()(const char *text) const { return T{text}; }
};

} // namespace mpl
} // namespace sdk
} // namespace rocprofiler

#endif
