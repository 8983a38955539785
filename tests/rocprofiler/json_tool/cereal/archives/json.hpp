/* SPDX-License-Identifier: MIT */
/* rocprofiler-sdk's json-tool writes with an archive that exists only in its fork of cereal: the
 * usual one with less whitespace. */
#pragma once

#include_next <cereal/archives/json.hpp>

namespace cereal
{
using MinimalJSONOutputArchive = JSONOutputArchive;
}
