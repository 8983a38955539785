/* SPDX-License-Identifier: MIT */
/* rocprofiler-sdk's json-tool writes by an archive that only its fork of cereal has: the usual
 * one with less space in between. */
#pragma once

#include_next <cereal/archives/json.hpp>

namespace cereal
{
using MinimalJSONOutputArchive = JSONOutputArchive;
}
