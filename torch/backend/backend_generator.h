/* SPDX-License-Identifier: MIT */
#pragma once

#include <ATen/core/Generator.h>

namespace refdev
{

const at::Generator &default_generator(int device);
// The generator of the CPU's that @generator, one of the device's, draws its numbers from.
at::Generator host_generator(const at::Generator &generator);

} // namespace refdev
