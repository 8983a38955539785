/* SPDX-License-Identifier: MIT */
#pragma once

#include <ATen/core/Generator.h>

namespace refdev
{

const at::Generator &default_generator(int device);
// Return the CPU generator from which the device generator @generator draws its numbers.
at::Generator host_generator(const at::Generator &generator);

} // namespace refdev
