/* SPDX-License-Identifier: MIT */
/* Splits a version number into its parts. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_VERSION_HPP
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_VERSION_HPP

#include <cstdint>

#include <rocprofiler-sdk/fwd.h>

namespace rocprofiler
{
namespace sdk
{
namespace version
{

template <uint64_t Base = 100>
constexpr rocprofiler_version_triplet_t compute_version_triplet(uint64_t version)
{
	return rocprofiler_version_triplet_t{static_cast<uint32_t>(version / (Base * Base)),
					     static_cast<uint32_t>(version / Base % Base),
					     static_cast<uint32_t>(version % Base)};
}

} // namespace version
} // namespace sdk
} // namespace rocprofiler

#endif
