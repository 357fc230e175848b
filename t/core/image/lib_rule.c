/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which libraries are private.
 */
#include "core/image/lib_rule.h"

#include <dlfcn.h>
#include <string.h>

#include "base/log.h"
#include "tap.h"

static struct vm_elf self;

/* Whether a library of this name and place, with the content of this program,
 * is private. */
static bool private(const char *name, const char *path,
		    const struct vm_image_choice *choice)
{
	struct vm_image_lib lib = { .name = (char *)(uintptr_t)name,
				    .path = (char *)(uintptr_t)path,
				    .elf = self };

	return vm_lib_rule(&lib, &self, choice);
}

static void rule_test(void)
{
	const struct vm_image_choice none = { .private = NULL };
	const struct vm_image_choice both = { .private = "libz,libone.so.1",
					      .shared = "libown,libfive" };

	ok(private("libown.so", "/opt/own/libown.so", &none),
	   "a library of the program is private");
#if defined(__SANITIZE_ADDRESS__)
	skip(1, "with ASan a program exports what it has copied");
#else
	ok(!private("libz.so.1", "/lib/x86_64-linux-gnu/libz.so.1", &none),
	   "the system's are not");
#endif
	ok(!private("libgomp.so.1", "/opt/gcc/libgomp.so.1", &none),
	   "nor a compiler's, wherever it is");
	ok(private("libhdf5_serial.so.103", "/usr/lib/libhdf5_serial.so.103",
		   &none),
	   "a library of a rank's files is, even of the system's");
	ok(private("libfftw3f.so.3", "/usr/lib/libfftw3f.so.3", &none),
	   "so is FFTW, which makes plans without a lock");
	ok(private("libz.so.1", "/lib/x86_64-linux-gnu/libz.so.1", &both),
	   "the user may make any private");
	ok(!private("libown.so", "/opt/own/libown.so", &both), "or shared");
	ok(private("libown2.so", "/opt/own/libown2.so", &both),
	   "names are whole");
}

static void names_test(void)
{
	ok(vm_lib_named("liba,libb", "libb.so.2"), "a name without its end");
	ok(vm_lib_named("libb.so", "libb.so.2"), "with a part of it");
	ok(vm_lib_named("libb.so.2", "libb.so.2"), "with all of it");
	ok(!vm_lib_named("libb", "libbc.so"), "not a longer name");
	ok(!vm_lib_named("libb.so.2", "libb.so"), "nor a shorter one");
	ok(!vm_lib_named(NULL, "libb.so"), "none is named by nothing");
}

static void check_test(void)
{
	struct vm_image_lib libs[] = { { .name = (char *)"liba.so" } };
	const struct vm_image_choice good = { .private = "liba" };
	const struct vm_image_choice bad = { .private = "liba",
					     .shared = "libb" };
	struct vm_elf other = { 0 };

	is_int(vm_lib_rule_check(&other, &good, libs, 1), 0,
	       "what is named is there");
	vm_log_set_level((enum vm_log_level) - 1);
	is_int(vm_lib_rule_check(&other, &bad, libs, 1), -VMPI_EINVAL,
	       "or it is a mistake");
	is_int(vm_lib_rule_check(&self, &bad, libs, 1), 0,
	       "unless the program opens libraries itself");
}

int main(void)
{
	/* An import of dlopen. */
	void *handle = dlopen(NULL, RTLD_LAZY);

	is_int(vm_elf_open(&self, "/proc/self/exe", "self"), 0,
	       "this program can be opened");
	rule_test();
	names_test();
	check_test();
	vm_elf_close(&self);
	return handle ? done_testing() : 1;
}
