/* SPDX-License-Identifier: MIT */
#include "analysis/model/display_name.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"
#include "tests/unit/unit.h"

static void check_form(const char *name, unsigned width, const char *form)
{
	char *text = display_name(name, width);

	CHECK_STR(text, form);
	free(text);
}

static const char multiply[] =
	"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16,"
	" c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, "
	"std::array<char*, 3ul> >(int, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, "
	"c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul>)";

UNIT_TEST(a_name_that_fits_stays)
{
	check_form("saxpy(float, float const*, float*)", 40, "saxpy(float, float const*, float*)");
	check_form("", 10, "");
}

UNIT_TEST(a_name_is_folded_step_by_step_until_it_fits)
{
	check_form(multiply, 120,
		   "vectorized_elementwise_kernel<4, BinaryFunctor<BFloat16, BFloat16, BFloat16, "
		   "MulFunctor<float>>, array<char*, 3ul>>");
	check_form(multiply, 90,
		   "vectorized_elementwise_kernel<BinaryFunctor<BFloat16, MulFunctor<float>>>");
	check_form(multiply, 60, "vectorized_elementwise_kernel<BinaryFunctor>");
	check_form(multiply, 40, "vectorized_elementwise_kernel");
	check_form(multiply, 20, "vectorized_...kernel");
}

UNIT_TEST(brackets_match_after_operators)
{
	check_form(
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, "
		"at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, "
		"float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, "
		"float)#1}>, unsigned int, c10::BFloat16, 4, 4> >(at::native::ReduceOp<int>)",
		50, "reduce_kernel<ReduceOp>");
}

UNIT_TEST(names_that_are_no_plain_function_are_folded)
{
	check_form("at::cuda::(anonymous namespace)::spin_kernel(long)", 30, "spin_kernel");
	check_form("void thrust::detail::add::operator()<int>(int*) const", 30, "operator()<int>");
	check_form("bool cub::operator< <int>(cub::A<int> const&, cub::B)", 30,
		   "bool operator< <int>");
	check_form("ampere_sgemm_128x64_nn_with_a_very_long_tail", 20, "ampere_sgem...g_tail");
	check_form("<<<<<<<<((((((((", 10, "<<<");
	check_form(">>>>::::::((((((", 9, ">>>>...((");
}

UNIT_TEST(letters_of_several_bytes_are_not_cut)
{
	char *text = display_name("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
				  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
				  8);
	uint32_t letter;

	for (const char *c = text; *c;) {
		size_t bytes = text_next(c, &letter);

		CHECK(letter != GT_TEXT_BAD);
		c += bytes;
	}
	free(text);
}

UNIT_TEST(forms_of_a_table_are_unique)
{
	const char *const names[] = {"void f<int, a_long_argument>(int)",
				     "void f<long, a_long_argument>(int)",
				     "void f<int, a_long_argument>(int)"};
	char *out[3];

	CHECK_EQ(display_names(names, 3, 12, out), 0);
	CHECK_STR(out[0], "f");
	CHECK_STR(out[1], "f (2)");
	CHECK_STR(out[2], "f");
	for (int i = 0; i < 3; i++)
		free(out[i]);
}
