/* SPDX-License-Identifier: MIT */
/* util/demangle.h: names of C++ kernels as users write them. */
#include "util/demangle.h"

#include <stdlib.h>

#include "unit.h"

static void check(const char *name, const char *want)
{
	char *text = gt_demangle(name);

	CHECK_STR(text ? text : "(stays)", want);
	free(text);
}

UNIT_TEST(mangled_names_are_read)
{
	check("_Z3nulv", "nul()");
	check("_Z4fillPfi", "fill(float*, int)");
	check("_Z4axpyIfLi4EEvPKT_PS0_S0_", "void axpy<float, 4>(float const*, float*, float)");
	check("_Z3runISt6vectorIiSaIiEEEvT_", "void run<std::vector<int, std::allocator<int> > "
					      ">(std::vector<int, std::allocator<int> >)");
}

UNIT_TEST(kernels_of_sycl_are_the_types_that_name_them)
{
	check("_ZTS5MyAdd", "MyAdd");
	check("_ZTSZZ4mainENKUlRN4sycl3_V17handlerEE_clES2_E5MyAdd",
	      "main::{lambda(sycl::_V1::handler&)#1}::operator()(sycl::_V1::handler&) "
	      "const::MyAdd");
	check("_ZTSZ4mainEUlvE_", "main::{lambda()#1}");
	check("_ZTS", "(stays)");
	check("_ZTS9", "(stays)");
}

UNIT_TEST(other_names_stay)
{
	check("", "(stays)");
	check("f", "(stays)"); /* read as the type float */
	check("saxpy", "(stays)");
	check("Cijk_Ailk_Bljk_SB_MT64x64", "(stays)");
	check("__amd_rocclr_fillBufferAligned", "(stays)");
}

UNIT_TEST(names_that_cannot_be_read_stay)
{
	check("_Z", "(stays)");
	check("_Z4fil", "(stays)");
	check("_Z99999999999999999999x", "(stays)");
	check("_ZTVsomething not a name", "(stays)");
	check("_Z4fillPfi\xff\xfe", "(stays)");
}
