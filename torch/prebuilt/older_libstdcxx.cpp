/* SPDX-License-Identifier: MIT */
// Functions that code compiled with libstdc++ 12's headers calls and that libstdc++ of GCC 8
// (GLIBCXX_3.4.25, manylinux_2_28) does not export. Hidden in each observer.
#include <new>
#include <sstream>

namespace std
{

void __throw_bad_array_new_length()
{
	throw bad_array_new_length();
}

} // namespace std

// std::stringstream's default constructor, which older releases define inline
extern "C" void make_stringstream(std::stringstream *stream) __asm__(
	"_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1Ev");

void make_stringstream(std::stringstream *stream)
{
	new (stream) std::stringstream(std::ios_base::in | std::ios_base::out);
}
