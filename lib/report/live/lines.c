/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file is told to libdw as the only module, at address 0 or, if it is not
 * relocatable, where it says itself.
 */
#include "report/live/lines.h"

#include <stdlib.h>
#include <string.h>

#ifdef VM_HAVE_LIBDW
#include <stdio.h>

#include "report/live/dw.h"

struct vm_lines {
	const struct vm_dw *dw;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf_Addr bias;
};

struct vm_lines *vm_lines_open(const char *path)
{
	struct vm_lines *source = calloc(1, sizeof(*source));
	const char *why;
	Dwarf_Addr start = 0;

	if (!source)
		return NULL;
	source->dw = vm_dw_load(&why);
	if (!source->dw) {
		free(source);
		return NULL;
	}
	source->callbacks.find_elf = source->dw->dwfl_build_id_find_elf;
	source->callbacks.find_debuginfo =
		source->dw->dwfl_standard_find_debuginfo;
	source->dwfl = source->dw->dwfl_begin(&source->callbacks);
	if (source->dwfl) {
		source->dw->dwfl_report_begin(source->dwfl);
		source->module = source->dw->dwfl_report_elf(
			source->dwfl, path, path, -1, 0, false);
		source->dw->dwfl_report_end(source->dwfl, NULL, NULL);
	}
	if (!source->module) {
		vm_lines_close(source);
		return NULL;
	}
	source->dw->dwfl_module_info(source->module, NULL, &start, NULL, NULL,
				     NULL, NULL, NULL);
	source->bias = start;
	return source;
}

void vm_lines_close(struct vm_lines *source)
{
	if (source && source->dwfl)
		source->dw->dwfl_end(source->dwfl);
	free(source);
}

bool vm_lines_caller(const struct vm_lines *source, char *text, size_t bytes,
		     uint64_t address)
{
	const struct vm_dw *dw = source->dw;
	const char *file, *slash;
	int number = 0;
	Dwfl_Line *line = dw->dwfl_module_getsrc(source->module,
						 source->bias + address - 1);

	text[0] = '\0';
	file = line ? dw->dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) :
		      NULL;
	if (!file)
		return false;
	slash = strrchr(file, '/');
	snprintf(text, bytes, "%s:%d", slash ? slash + 1 : file, number);
	return true;
}
#else
struct vm_lines *vm_lines_open(const char *path)
{
	(void)path;
	return NULL;
}

void vm_lines_close(struct vm_lines *source)
{
	(void)source;
}

bool vm_lines_caller(const struct vm_lines *source, char *text, size_t bytes,
		     uint64_t address)
{
	(void)source;
	(void)bytes;
	(void)address;
	text[0] = '\0';
	return false;
}
#endif
