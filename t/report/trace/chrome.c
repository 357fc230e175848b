/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of events, to the letter, and errors that are kept until its end.
 */
#include "report/trace/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static char path[64];

static const char *text_of(void)
{
	static char text[4096];
	FILE *file = fopen(path, "r");

	if (!file)
		bail("%s cannot be read", path);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void written(void)
{
	const struct vm_chrome_event begin = { 'B', "rank", 1, 2, 5000 };
	const struct vm_chrome_event moment = { 'i', "helps", 2, 0, 1234567 };
	const struct vm_chrome_event early = { 'E', "call", 1, 2, 999 };
	struct vm_chrome chrome;

	is_int(vm_chrome_open(&chrome, path), 0, "a text begins");
	chrome.origin = 1000;
	vm_chrome_event(&chrome, &begin, NULL);
	vm_chrome_event(&chrome, &moment,
			",\"s\":\"t\",\"args\":{\"worker\":%d}", 3);
	vm_chrome_event(&chrome, &early, NULL);
	is_int(vm_chrome_close(&chrome, "\"ranks\":%d", 4), 0, "it ends");
	ok(!chrome.file, "... and is closed");
	is_string(text_of(),
		  "{\"traceEvents\":[\n"
		  "{\"ph\":\"B\",\"name\":\"rank\",\"pid\":1,\"tid\":2,"
		  "\"ts\":4.000},\n"
		  "{\"ph\":\"i\",\"name\":\"helps\",\"pid\":2,\"tid\":0,"
		  "\"ts\":1233.567,\"s\":\"t\",\"args\":{\"worker\":3}},\n"
		  "{\"ph\":\"E\",\"name\":\"call\",\"pid\":1,\"tid\":2,"
		  "\"ts\":0.000}\n"
		  "],\"ranks\":4}\n",
		  "times are microseconds since the first record, none is "
		  "before it");
	is_int(vm_chrome_open(&chrome, path), 0, "another one begins");
	is_int(vm_chrome_close(&chrome, "\"ranks\":%d", 0), 0, "... and ends");
	is_string(text_of(), "{\"traceEvents\":[\n],\"ranks\":0}\n",
		  "a text without events is JSON, too");
}

/* There is room for nothing behind this file: so many events are written, with
 * a text of so many characters, and one at the end. */
static void full(int events, int length, int length_last, const char *name)
{
	const struct vm_chrome_event event = { 'B', "rank", 1, 2, 5000 };
	struct vm_chrome chrome;

	if (vm_chrome_open(&chrome, "/dev/full")) {
		skip(2, "there is no /dev/full");
		return;
	}
	for (int i = 0; i < events; i++)
		vm_chrome_event(&chrome, &event, ",\"i\":\"%*d\"", length, i);
	errno = 0;
	is_int(vm_chrome_close(&chrome, "\"ranks\":%*d", length_last, 4),
	       -VMPI_EIO, "%s", name);
	is_int(errno, ENOSPC, "... and why");
}

int main(void)
{
	struct vm_chrome chrome;

	snprintf(path, sizeof(path), "/tmp/vmpi-chrome-%d/text", (int)getpid());
	is_int(vm_chrome_open(&chrome, path), -VMPI_EIO,
	       "a text needs a directory");
	is_int(errno, ENOENT, "... which is said");
	snprintf(path, sizeof(path), "/tmp/vmpi-chrome-%d", (int)getpid());
	written();
	full(1, 1, 1,
	     "a short text that cannot be written is an error at its end");
	full(30000, 1, 1, "a long one is, too");
	full(2, 2 << 20, 1, "and so is one of long events");
	full(0, 0, 2 << 20, "and one with a long end");
	unlink(path);
	return done_testing();
}
