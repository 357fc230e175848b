/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is written of events in both formats, to the letter, and errors that are
 * kept until the end.
 */
#include "report/trace/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char folder[64], path[96];
static const struct vm_trace_arg totals[] = { { "ranks", 4, NULL },
					      { "clock", 0, "\"one\"" },
					      { NULL, 0, NULL } };

static size_t text_of(char *text, size_t bytes)
{
	FILE *file = fopen(path, "r");

	if (!file)
		bail("%s cannot be read", path);
	bytes = fread(text, 1, bytes - 1, file);
	text[bytes] = '\0';
	fclose(file);
	return bytes;
}

/* One event of each kind. */
static void written(const char *suffix)
{
	struct vm_trace_out out = { .first = 1000,
				    .clock_ns = 300,
				    .real_ns = 5 };
	const struct vm_trace_event events[] = {
		{ .phase = VM_TRACE_OUT_BEGIN,
		  .pid = 1,
		  .tid = 2,
		  .name = "r\"k",
		  .ns = 5000 },
		{ .phase = VM_TRACE_OUT_MOMENT,
		  .pid = 1,
		  .tid = 2,
		  .name = "helps",
		  .ns = 1234567,
		  .args = { { "worker", -3, NULL } } },
		{ .phase = VM_TRACE_OUT_MOMENT,
		  .pid = 1,
		  .tid = 2,
		  .name = "moves",
		  .of_process = true,
		  .ns = 1234567 },
		{ .phase = VM_TRACE_OUT_COUNTER,
		  .pid = 1,
		  .name = "depth",
		  .counter = 4,
		  .value = 7,
		  .ns = 1234567 },
		{ .phase = VM_TRACE_OUT_SEND,
		  .pid = 1,
		  .tid = 2,
		  .name = "message",
		  .flow = 9,
		  .ns = 1234568 },
		{ .phase = VM_TRACE_OUT_RECEIVE,
		  .pid = 1,
		  .tid = 2,
		  .name = "message",
		  .flow = 9,
		  .ns = 1234568 },
		{ .phase = VM_TRACE_OUT_END,
		  .pid = 1,
		  .tid = 2,
		  .name = "r\"k",
		  .ns = 1234568 },
	};

	snprintf(path, sizeof(path), "%s/text%s", folder, suffix);
	is_int(vm_trace_out_open(&out, path), 0, "a file%s begins", suffix);
	out.format->track(&out, 1, VM_TRACE_OUT_PROCESS, 1, "ranks", "all");
	out.format->track(&out, 1, 2, 5, "rank 2", NULL);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		out.format->event(&out, &events[i]);
	is_int(vm_trace_out_close(&out, 2000, totals), 0, "it ends");
	ok(!out.file, "... and is closed");
}

static void chrome(void)
{
	struct vm_trace_out out = { .first = 1000 };
	const struct vm_trace_event early = {
		.phase = VM_TRACE_OUT_END, .pid = 1, .name = "rank", .ns = 999
	};
	char text[4096];

	written(".json");
	text_of(text, sizeof(text));
	is_string(
		text,
		"{\"traceEvents\":[\n"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,"
		"\"ts\":0.000,\"args\":{\"name\":\"ranks\"}},\n"
		"{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,"
		"\"tid\":0,\"ts\":0.000,\"args\":{\"sort_index\":1}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,"
		"\"ts\":0.000,\"args\":{\"name\":\"rank 2\"}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,"
		"\"tid\":2,\"ts\":0.000,\"args\":{\"sort_index\":5}},\n"
		"{\"ph\":\"B\",\"name\":\"r\\\"k\",\"pid\":1,\"tid\":2,"
		"\"ts\":4.000},\n"
		"{\"ph\":\"i\",\"name\":\"helps\",\"pid\":1,\"tid\":2,"
		"\"ts\":1233.567,\"s\":\"t\",\"args\":{\"worker\":-3}},\n"
		"{\"ph\":\"i\",\"name\":\"moves\",\"pid\":1,\"tid\":2,"
		"\"ts\":1233.567,\"s\":\"p\"},\n"
		"{\"ph\":\"C\",\"name\":\"depth\",\"pid\":1,\"tid\":0,"
		"\"ts\":1233.567,\"args\":{\"value\":7}},\n"
		"{\"ph\":\"s\",\"name\":\"message\",\"pid\":1,\"tid\":2,"
		"\"ts\":1233.568,\"cat\":\"message\",\"id\":9},\n"
		"{\"ph\":\"f\",\"name\":\"message\",\"pid\":1,\"tid\":2,"
		"\"ts\":1233.568,\"cat\":\"message\",\"bp\":\"e\",\"id\":9},\n"
		"{\"ph\":\"E\",\"name\":\"r\\\"k\",\"pid\":1,\"tid\":2,"
		"\"ts\":1233.568}\n"
		"],\"displayTimeUnit\":\"ns\",\"otherData\":{\"ranks\":4,"
		"\"clock\":\"\\\"one\\\"\"}}\n",
		"times of JSON are microseconds since the first record");
	is_int(vm_trace_out_open(&out, path), 0, "another one begins");
	out.format->event(&out, &early);
	is_int(vm_trace_out_close(&out, 0, totals + 2), 0, "... and ends");
	text_of(text, sizeof(text));
	is_string(text,
		  "{\"traceEvents\":[\n"
		  "{\"ph\":\"E\",\"name\":\"rank\",\"pid\":1,\"tid\":0,"
		  "\"ts\":0.000}\n"
		  "],\"displayTimeUnit\":\"ns\",\"otherData\":{}}\n",
		  "none is before the first record");
}

/* The bytes as `protoc --decode_raw` reads them, by hand. */
static void perfetto(void)
{
	static const char want[] =
		/* packet: clocks 3 at 300 and 1 at 5, first is 3; default 3;
		 * first on the sequence 1; state is cleared */
		"\x0a\x1e\x32\x0f\x0a\x05\x08\x03\x10\xac\x02\x0a\x04\x08\x01"
		"\x10\x05\x10\x03\xda\x03\x03\xd0\x03\x03\xb8\x05\x01\x50\x01"
		"\x68\x01"
		/* track 1 << 32, "ranks", explicit order, place 1, "all" */
		"\x0a\x1d\xe2\x03\x16\x08\x80\x80\x80\x80\x10\x12\x05ranks"
		"\x58\x03\x60\x01\x72\x03"
		"all\x50\x01\x68\x02"
		/* track 1 << 32 | 3, "rank 2", parent, place 5 */
		"\x0a\x1d\xe2\x03\x16\x08\x83\x80\x80\x80\x10\x12\x06rank 2"
		"\x28\x80\x80\x80\x80\x10\x60\x05\x50\x01\x68\x02"
		/* at 5300: name 1 is r"k; begin of it on the track */
		"\x0a\x1e\x40\xb4\x29\x62\x09\x12\x07\x08\x01\x12\x03r\"k"
		"\x5a\x0a\x48\x01\x58\x83\x80\x80\x80\x10\x50\x01\x50\x01"
		"\x68\x02";
	uint8_t end[] = { 0x5a, 0x0a, 0x48, 0x02, 0x58, 0x83, 0x80, 0x80,
			  0x80, 0x10, 0x50, 0x01, 0x50, 0x01, 0x68, 0x02 };
	uint8_t flow[] = { 0xf9, 0x02, 9, 0, 0, 0, 0, 0, 0, 0 };
	uint8_t flow_ends[] = { 0x81, 0x03, 9, 0, 0, 0, 0, 0, 0, 0 };
	char text[4096];
	size_t bytes;

	written(".pftrace");
	bytes = text_of(text, sizeof(text));
	ok(bytes > sizeof(want) && !memcmp(text, want, sizeof(want) - 1),
	   "the first packets of Perfetto's format, byte by byte");
	ok(memmem(text, bytes, end, sizeof(end)),
	   "the end of a slice has the number of its name, which is explained "
	   "once");
	ok(memmem(text, bytes, flow, sizeof(flow)) &&
		   memmem(text, bytes, flow_ends, sizeof(flow_ends)),
	   "both ends of a message have its number");
	ok(memmem(text, bytes, "depth", 5) &&
		   memmem(text, bytes, "contents of this trace", 22) &&
		   memmem(text, bytes, "\"one\"", 5),
	   "a counter has a track, and there are totals");
}

/* There is room for nothing behind this file: so many events are written, with
 * a name of so many characters. */
static void full(const struct vm_trace_format *format, int events, int length,
		 const char *name)
{
	static char text[2 << 20];
	const struct vm_trace_event event = { .phase = VM_TRACE_OUT_BEGIN,
					      .pid = 1,
					      .name = text };
	struct vm_trace_out out = { .first = 0 };

	memset(text, 'x', (size_t)length);
	text[length] = '\0';
	if (vm_trace_out_open(&out, "/dev/full")) {
		skip(2, "there is no /dev/full");
		return;
	}
	out.format->end(&out, 0, totals); /* of the format of the name */
	out.format = format;
	out.format->begin(&out);
	for (int i = 0; i < events; i++)
		out.format->event(&out, &event);
	errno = 0;
	is_int(vm_trace_out_close(&out, 0, totals), -VMPI_EIO, "%s", name);
	is_int(errno, ENOSPC, "... and why");
}

int main(void)
{
	struct vm_trace_out out = { .first = 0 };

	snprintf(path, sizeof(path), "/tmp/vmpi-out-%d/text.json",
		 (int)getpid());
	is_int(vm_trace_out_open(&out, path), -VMPI_EIO,
	       "a trace needs a directory");
	is_int(errno, ENOENT, "... which is said");
	ok(vm_trace_format_of("a.json") == &vm_trace_chrome &&
		   vm_trace_format_of(".json") == &vm_trace_chrome,
	   "a name that ends in .json is JSON");
	ok(vm_trace_format_of("json") == &vm_trace_perfetto &&
		   vm_trace_format_of("a.json.pftrace") == &vm_trace_perfetto &&
		   vm_trace_format_of("") == &vm_trace_perfetto,
	   "all others are Perfetto's");
	snprintf(folder, sizeof(folder), "/tmp/vmpi-out-%d", (int)getpid());
	if (mkdir(folder, 0700))
		bail("no folder %s", folder);
	chrome();
	unlink(path);
	perfetto();
	unlink(path);
	rmdir(folder);
	full(&vm_trace_chrome, 1, 1,
	     "a short text that cannot be written is an error at its end");
	full(&vm_trace_chrome, 30000, 1, "a long one is, too");
	full(&vm_trace_chrome, 1, (2 << 20) - 1, "and so is one long event");
	full(&vm_trace_perfetto, 1, 1, "in the other format, too");
	full(&vm_trace_perfetto, 100000, 1, "... also of many events");
	return done_testing();
}
