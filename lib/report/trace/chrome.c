/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text is flushed when 1 MiB of it is there.
 */
#include "report/trace/chrome.h"

#include <errno.h>
#include <stdarg.h>

#define BUFFER_BYTES (1 << 20)

int vm_chrome_open(struct vm_chrome *chrome, const char *path)
{
	*chrome = (struct vm_chrome){ .file = fopen(path, "we") };
	if (!chrome->file)
		return -VMPI_EIO;
	setvbuf(chrome->file, NULL, _IOFBF, BUFFER_BYTES);
	if (fputs("{\"traceEvents\":[", chrome->file) < 0)
		chrome->error = errno;
	return 0;
}

static void failed(struct vm_chrome *chrome)
{
	if (!chrome->error)
		chrome->error = errno;
}

void vm_chrome_event(struct vm_chrome *chrome,
		     const struct vm_chrome_event *event, const char *format,
		     ...)
{
	int64_t ns = event->ns > chrome->origin ? event->ns - chrome->origin :
						  0;
	va_list args;

	if (fprintf(chrome->file,
		    "%s\n{\"ph\":\"%c\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,"
		    "\"ts\":%lld.%03d",
		    chrome->some ? "," : "", event->phase, event->name,
		    event->pid, event->tid, (long long)(ns / 1000),
		    (int)(ns % 1000)) < 0)
		failed(chrome);
	chrome->some = true;
	if (format) {
		va_start(args, format);
		if (vfprintf(chrome->file, format, args) < 0)
			failed(chrome);
		va_end(args);
	}
	if (fputc('}', chrome->file) == EOF)
		failed(chrome);
}

int vm_chrome_close(struct vm_chrome *chrome, const char *format, ...)
{
	va_list args;

	if (fputs("\n],", chrome->file) == EOF)
		failed(chrome);
	va_start(args, format);
	if (vfprintf(chrome->file, format, args) < 0)
		failed(chrome);
	va_end(args);
	if (fputs("}\n", chrome->file) == EOF)
		failed(chrome);
	if (fclose(chrome->file))
		failed(chrome);
	chrome->file = NULL;
	errno = chrome->error;
	return chrome->error ? -VMPI_EIO : 0;
}
