/* SPDX-License-Identifier: MIT */
/* Formats a number or an address in hexadecimal. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_UTILITY_HPP
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_UTILITY_HPP

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <type_traits>

namespace rocprofiler
{
namespace sdk
{
namespace utility
{

template <typename T> std::string as_hex(T value, size_t width = 0)
{
	std::ostringstream out;

	out << "0x" << std::hex << std::setfill('0') << std::setw(static_cast<int>(width));
	if constexpr (std::is_pointer<T>::value)
		out << reinterpret_cast<uintptr_t>(value);
	else
		out << static_cast<uintptr_t>(value);
	return out.str();
}

} // namespace utility
} // namespace sdk
} // namespace rocprofiler

#endif
