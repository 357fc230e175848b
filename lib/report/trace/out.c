/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file is flushed when 1 MiB of it is there.
 */
#include "report/trace/out.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define BUFFER_BYTES (1 << 20)

const struct vm_trace_format *vm_trace_format_of(const char *path)
{
	static const struct vm_trace_format *const formats[] = {
		&vm_trace_chrome, &vm_trace_perfetto
	};
	size_t length = strlen(path);

	for (int i = 0;; i++) {
		const char *suffix = formats[i]->suffix;
		size_t end = suffix ? strlen(suffix) : 0;

		if (!suffix ||
		    (length >= end && !strcmp(path + length - end, suffix)))
			return formats[i];
	}
}

static void failed(struct vm_trace_out *out)
{
	if (!out->error)
		out->error = errno;
}

void vm_trace_out_printf(struct vm_trace_out *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vfprintf(out->file, format, args) < 0)
		failed(out);
	va_end(args);
}

void vm_trace_out_write(struct vm_trace_out *out, const void *data,
			size_t bytes)
{
	if (fwrite(data, 1, bytes, out->file) != bytes)
		failed(out);
}

int vm_trace_out_open(struct vm_trace_out *out, const char *path)
{
	out->format = vm_trace_format_of(path);
	out->file = fopen(path, "we");
	if (!out->file)
		return -VMPI_EIO;
	setvbuf(out->file, NULL, _IOFBF, BUFFER_BYTES);
	out->format->begin(out);
	return 0;
}

int vm_trace_out_close(struct vm_trace_out *out, int64_t ns,
		       const struct vm_trace_arg *totals)
{
	out->format->end(out, ns, totals);
	if (fclose(out->file))
		failed(out);
	out->file = NULL;
	errno = out->error;
	return out->error ? -VMPI_EIO : 0;
}
