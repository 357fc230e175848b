// SPDX-License-Identifier: BSD-3-Clause
/*
 * std::cout, cerr, clog and cin of a program: their format flags, precision
 * and error state must belong to the rank, so each copy has its own objects.
 *
 * As libstdc++'s own, they hand everything to stdio, which assembles the lines
 * of a rank.  Declared without <iostream>, because they are raw memory until
 * the constructor below has run.
 */
#include <cstdio>
#include <ext/stdio_sync_filebuf.h>
#include <istream>
#include <new>
#include <ostream>

/* Named: objects of a type without linkage would have none either. */
namespace vmpi_image
{

typedef __gnu_cxx::stdio_sync_filebuf<char> buffer;

/* Room for an object that is made later and never destroyed: destructors of
 * other objects still print. */
template <class T> struct room {
	alignas(T) char bytes[sizeof(T)];
};

} // namespace vmpi_image

using vmpi_image::buffer;
using vmpi_image::room;

static room<buffer> out_buffer, err_buffer, log_buffer, in_buffer;

namespace std
{

/* Weak: with -static-libstdc++ the library's own are private as well. */
#define WEAK __attribute__((weak))

WEAK room<ostream> cout, cerr, clog;
WEAK room<istream> cin;

/* A buffer of C++'s own would be one more place where lines can mix. */
WEAK bool ios_base::sync_with_stdio(bool)
{
	return true;
}

} // namespace std

__attribute__((constructor(102))) static void start()
{
	auto *out = new (&std::cout)
		std::ostream(new (&out_buffer) buffer(stdout));
	auto *err = new (&std::cerr)
		std::ostream(new (&err_buffer) buffer(stderr));
	auto *in = new (&std::cin) std::istream(new (&in_buffer) buffer(stdin));

	new (&std::clog) std::ostream(new (&log_buffer) buffer(stderr));
	in->tie(out);
	err->setf(std::ios_base::unitbuf);
	err->tie(out);
}
