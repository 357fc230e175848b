/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two kinds of libraries.  A tool that defines MPI functions is to be copied
 * for each rank: if the process itself has one, all copies are bound to its
 * variables.  The runtime of a sanitizer, which programs linked with one need,
 * has to be there first.
 */
#include "preload.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "node.h"

#define PRELOAD "LD_PRELOAD"
#define PRELOADED "VMPI_PRELOADED" /* its value while it is another one */

/* With which this process was, or the next one is to be started, if that is
 * not what the user has said. */
static char *now;

void preload_restore(void)
{
	const char *given = getenv(PRELOADED), *value = getenv(PRELOAD);

	if (!given)
		return;
	now = strdup(value ? value : "");
	if (given[0])
		setenv(PRELOAD, given, 1);
	else
		unsetenv(PRELOAD);
	unsetenv(PRELOADED);
}

int preload_apply(void)
{
	const char *given = getenv(PRELOAD);

	if (!now)
		return 0;
	return setenv(PRELOADED, given ? given : "", 1) ||
	       setenv(PRELOAD, now, 1);
}

/* Takes a library out of a list like that of LD_PRELOAD. */
static void list_drop(char *list, const char *name)
{
	size_t length = strlen(name);
	char *at = list;

	while (*at) {
		size_t word = strcspn(at, ": ");

		if (word == length && !strncmp(at, name, length))
			memset(at, ' ', length);
		at += word + (at[word] != '\0');
	}
}

/* The process must be without the tools that are copied. */
static bool tools_choose(void)
{
	const char *given = getenv(PRELOAD), *name;
	size_t next = 0;

	if (!given || node.ranks == 1 ||
	    !(name = vm_image_preloaded(node.image, &next)))
		return false;
	if (now) {
		vm_log(VM_WARN,
		       "%s: the ranks of a process share this tool, which was "
		       "preloaded",
		       name);
		return false;
	}
	now = strdup(given);
	if (!now)
		return false;
	do
		list_drop(now, name);
	while ((name = vm_image_preloaded(node.image, &next)));
	return true;
}

/*
 * Options that a sanitizer needs here go before those of the user, which win.
 * Stacks of ranks are not those of their threads, so stacks of allocations are
 * found by unwinding, without which leaks are not reported; and messages are
 * passed on by code that is not instrumented.
 */
static void options_set(void)
{
	static const struct {
		const char *variable, *option;
	} table[] = {
		{ "ASAN_OPTIONS", "fast_unwind_on_malloc=0" },
		{ "LSAN_OPTIONS", "fast_unwind_on_malloc=0" },
		{ "TSAN_OPTIONS", "ignore_noninstrumented_modules=1" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const char *given = getenv(table[i].variable);
		char *all;

		if (asprintf(&all, "%s%s%s", table[i].option, given ? ":" : "",
			     given ? given : "") < 0)
			continue;
		setenv(table[i].variable, all, 1);
		free(all);
	}
}

/* Whether a library is the runtime of a sanitizer, of gcc or clang. */
static bool is_sanitizer(const char *name)
{
	static const char *const names[] = {
		"libasan.so.",	     "libtsan.so.",	  "liblsan.so.",
		"libclang_rt.asan-", "libclang_rt.tsan-",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The runtime of a sanitizer has to be there. */
static int sanitizer_choose(void)
{
	const char *name, *path, *runtime = NULL, *given = getenv(PRELOAD);
	const char *cxx = "";
	size_t next = 0;
	char *list;

	while ((name = vm_image_library(node.image, &next, &path))) {
		if (!runtime && is_sanitizer(name))
			runtime = path;
		/* The runtime looks for its functions once, early. */
		if (!strncmp(name, "libstdc++.so.", 13))
			cxx = path;
	}
	if (!runtime || dlopen(runtime, RTLD_LAZY | RTLD_NOLOAD))
		return 0;
	if (strstr(runtime, "libclang_rt.tsan-")) {
		vm_log(VM_ERROR,
		       "%s: clang's thread sanitizer does not run in processes "
		       "with many ranks; build the program with gcc's",
		       node.argv[0]);
		return -VMPI_ENOTSUP;
	}
	given = now ? now : given;
	if (asprintf(&list, "%s:%s%s%s", runtime, cxx, given ? ":" : "",
		     given ? given : "") < 0)
		return -VMPI_ENOMEM;
	free(now);
	now = list;
	options_set();
	return 1;
}

int preload_choose(void)
{
	return tools_choose() ? 1 : sanitizer_choose();
}
