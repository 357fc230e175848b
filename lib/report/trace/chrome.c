/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The JSON of Chrome's trace viewer, which many others read too: one event per
 * line.
 */
#include "report/trace/out.h"

#include "report/json.h"

/* Member "ph", and what else events of a phase have. */
static const struct {
	char letter;
	const char *more;
} phases[] = {
	[VM_TRACE_OUT_BEGIN] = { 'B', "" },
	[VM_TRACE_OUT_END] = { 'E', "" },
	[VM_TRACE_OUT_MOMENT] = { 'i', ",\"s\":\"t\"" },
	[VM_TRACE_OUT_COUNTER] = { 'C', "" },
	[VM_TRACE_OUT_SEND] = { 's', ",\"cat\":\"message\"" },
	[VM_TRACE_OUT_RECEIVE] = { 'f', ",\"cat\":\"message\",\"bp\":\"e\"" },
};

static void begin(struct vm_trace_out *out)
{
	vm_trace_out_printf(out, "{\"traceEvents\":[");
}

static void head(struct vm_trace_out *out, char phase, const char *name,
		 int pid, int tid, int64_t ns)
{
	vm_trace_out_printf(out, "%s\n{\"ph\":\"%c\",\"name\":",
			    out->some ? "," : "", phase);
	vm_json_string(out->file, name);
	vm_trace_out_printf(out, ",\"pid\":%d,\"tid\":%d,\"ts\":%lld.%03d", pid,
			    tid, (long long)(ns / 1000), (int)(ns % 1000));
	out->some = true;
}

static void args_write(struct vm_trace_out *out,
		       const struct vm_trace_arg *args, size_t count)
{
	for (size_t i = 0; i < count && args[i].name; i++) {
		vm_trace_out_printf(out, "%s\"%s\":", i ? "," : "",
				    args[i].name);
		if (args[i].text)
			vm_json_string(out->file, args[i].text);
		else
			vm_trace_out_printf(out, "%lld",
					    (long long)args[i].value);
	}
}

static void track(struct vm_trace_out *out, int pid, int tid, int order,
		  const char *name, const char *about)
{
	bool process = tid == VM_TRACE_OUT_PROCESS;

	(void)about;
	tid = process ? 0 : tid;
	head(out, 'M', process ? "process_name" : "thread_name", pid, tid, 0);
	vm_trace_out_printf(out, ",\"args\":{\"name\":");
	vm_json_string(out->file, name);
	vm_trace_out_printf(out, "}}");
	head(out, 'M', process ? "process_sort_index" : "thread_sort_index",
	     pid, tid, 0);
	vm_trace_out_printf(out, ",\"args\":{\"sort_index\":%d}}", order);
}

static void event(struct vm_trace_out *out, const struct vm_trace_event *event)
{
	struct vm_trace_arg value = { "value", event->value, NULL };
	bool counter = event->phase == VM_TRACE_OUT_COUNTER;
	int64_t ns = event->ns > out->first ? event->ns - out->first : 0;

	head(out, phases[event->phase].letter, event->name, event->pid,
	     event->tid, ns);
	vm_trace_out_printf(out, "%s",
			    event->of_process ? ",\"s\":\"p\"" :
						phases[event->phase].more);
	if (event->flow)
		vm_trace_out_printf(out, ",\"id\":%llu",
				    (unsigned long long)event->flow);
	if (counter || event->args[0].name) {
		vm_trace_out_printf(out, ",\"args\":{");
		args_write(out, counter ? &value : event->args,
			   counter ? 1 : VM_TRACE_OUT_ARGS);
		vm_trace_out_printf(out, "}");
	}
	vm_trace_out_printf(out, "}");
}

static void end(struct vm_trace_out *out, int64_t ns,
		const struct vm_trace_arg *totals)
{
	(void)ns;
	vm_trace_out_printf(out, "\n],\"displayTimeUnit\":\"ns\","
				 "\"otherData\":{");
	args_write(out, totals, SIZE_MAX);
	vm_trace_out_printf(out, "}}\n");
}

const struct vm_trace_format vm_trace_chrome = { ".json", begin, track, event,
						 end };
