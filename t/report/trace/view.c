/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a made-up process, to the letter: records of each kind, slices
 * that lie in each other, what is left open, what is left out.
 */
#include "report/trace/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "introspect/captured.h"
#include "report/trace/merge.h"
#include "tap.h"

#define OTHERS (-1) /* all threads that are no workers */
#define NOBODY VM_TRACE_NO_RANK
#define BOTH (VM_TRACE_TO_MAIN | VM_TRACE_FROM_MAIN)

static char path[64], part[96];

static const char *call_name(uint32_t call)
{
	return call == 1 ? "a \"call\"" : "MPI_Wait";
}

/* A process with a worker and four ranks. */
static struct vm_trace process_new(void)
{
	const struct vm_trace_file head = { .processes = 1,
					    .ranks = 4,
					    .workers = 1,
					    .counters = 2,
					    .names = { "still", "\"moves\"" },
					    .host = "h\\1",
					    .tick_ns = 1,
					    .real_ns = 1000000000 };
	struct vm_trace trace = { 0 };

	if (vm_trace_new(&trace, path, &head, 8192))
		bail("no trace at %s", path);
	return trace;
}

/* Adds records of a worker, or of others; each with its time in ns. */
static void add(const struct vm_trace *trace, int worker,
		const struct vm_trace_record *records, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vm_trace_add(trace, worker, &records[i]);
}

#define ADD(trace, worker, ...)                                           \
	do {                                                              \
		const struct vm_trace_record records[] = { __VA_ARGS__ }; \
		add(trace, worker, records,                               \
		    sizeof(records) / sizeof(records[0]));                \
	} while (0)

/* Says the first lines that differ. */
static void diff(const char *got, const char *want)
{
	while (*got && *want) {
		size_t one = strcspn(got, "\n"), other = strcspn(want, "\n");

		if (one != other || strncmp(got, want, one) != 0)
			break;
		got += one + (got[one] == '\n');
		want += other + (want[other] == '\n');
	}
	diag("got  %.*s", (int)strcspn(got, "\n"), got);
	diag("want %.*s", (int)strcspn(want, "\n"), want);
}

/* What is made of the trace: the names of processes, the events wanted, joined,
 * and what stands behind them. */
static void text_is(struct vm_trace *trace, const char *const *want,
		    const char *tail, const char *name)
{
	static char text[1 << 16], all[1 << 16];
	struct vm_trace_summary sum;
	FILE *file;

	vm_trace_close(trace);
	is_int(vm_trace_merge(&sum, path, 1, call_name), 0, "%s", name);
	unlink(part);
	file = fopen(path, "r");
	if (!file)
		bail("%s cannot be read", path);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	strcpy(all, "{\"traceEvents\":[");
	for (; *want; want++)
		strcat(strcat(strcat(all, "\n"), *want), want[1] ? "," : "");
	strcat(all, tail);
	if (!ok(strcmp(text, all) == 0, "... to the letter"))
		diff(text, all);
}

#define TEXT_IS(trace, name, tail, ...)                                      \
	do {                                                                 \
		const char *const want[] = { PROCESSES, __VA_ARGS__, NULL }; \
		text_is((trace), want, (tail), (name));                      \
	} while (0)

#define PROCESSES                                                              \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,"         \
	"\"ts\":0.000,\"args\":{\"name\":\"ranks\"}}",                         \
		"{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,"     \
		"\"tid\":0,\"ts\":0.000,\"args\":{\"sort_index\":1}}",         \
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"tid\":0," \
		"\"ts\":0.000,\"args\":{\"name\":\"node 0 (h\\\\1)\"}}",       \
		"{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":2,"     \
		"\"tid\":0,\"ts\":0.000,\"args\":{\"sort_index\":2}}"

/* The thread of a rank, of a worker, and of all others. */
#define RANK_NAME(rank)                                                        \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":" rank       \
	",\"ts\":0.000,\"args\":{\"name\":\"rank " rank "\"}},\n"              \
	"{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":" rank \
	",\"ts\":0.000,\"args\":{\"sort_index\":" rank "}}"
#define WORKER_NAME                                                         \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":0,"       \
	"\"ts\":0.000,\"args\":{\"name\":\"worker 0\"}},\n"                 \
	"{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":2,\"tid\":0," \
	"\"ts\":0.000,\"args\":{\"sort_index\":0}}"
#define OTHERS_NAME                                                         \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":1,"       \
	"\"ts\":0.000,\"args\":{\"name\":\"other threads\"}},\n"            \
	"{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":2,\"tid\":1," \
	"\"ts\":0.000,\"args\":{\"sort_index\":1}}"
#define BEGIN(rank, name, ts) SLICE("B", rank, name, ts)
#define END(rank, name, ts) SLICE("E", rank, name, ts)
#define SLICE(ph, rank, name, ts)                                          \
	"{\"ph\":\"" ph "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" rank \
	",\"ts\":" ts "}"
#define RUNS(name, ts) RAN("B", name, ts)
#define STOPS(name, ts) RAN("E", name, ts)
#define RAN(ph, name, ts)                     \
	"{\"ph\":\"" ph "\",\"name\":\"" name \
	"\",\"pid\":2,\"tid\":0,\"ts\":" ts "}"
#define MOMENT(name, tid, ts, more)                                  \
	"{\"ph\":\"i\",\"name\":\"" name "\",\"pid\":2,\"tid\":" tid \
	",\"ts\":" ts "," more "}"
#define TAIL(records, messages, sends)                                \
	"\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":" \
	"\"vmpi\",\"ranks\":4,\"processes\":1,"                       \
	"\"processes_without_records\":0,\"records\":" records        \
	",\"records_overwritten\":0,\"messages\":" messages           \
	",\"sends_without_receive\":" sends                           \
	",\"receives_without_send\":0,\"clock\":\"one for all\"}}\n"

#define SWITCH(at, to, from, which, why)                              \
	{                                                             \
		.ticks = (at), .kind = VM_TRACE_SWITCH, .rank = (to), \
		.peer = (int32_t)(from), .extra = (which),            \
		.detail = VM_TRACE_##why                              \
	}
/* The main task of a rank does it. */
#define OF_MAIN(at, what, who, call)                                   \
	{                                                              \
		.ticks = (at), .kind = VM_TRACE_##what, .rank = (who), \
		.id = (call), .extra = VM_TRACE_TO_MAIN                \
	}
#define ABOUT(at, what, who, other, which, how, much)                  \
	{                                                              \
		.ticks = (at), .kind = VM_TRACE_##what, .rank = (who), \
		.peer = (other), .id = (which), .detail = (how),       \
		.value = (much)                                        \
	}

/* Two ranks take turns; one ends, one is still there. */
static void turns(void)
{
	struct vm_trace trace = process_new();

	ADD(&trace, 0, SWITCH(1000, 0, NOBODY, VM_TRACE_TO_MAIN, WAITS),
	    OF_MAIN(2000, ENTER, 0, 1), SWITCH(3001, 1, 0, BOTH, WAITS),
	    SWITCH(4000, 0, 1, BOTH, YIELDS), OF_MAIN(5000, EXIT, 0, 1),
	    SWITCH(6000, 1, 0, BOTH, ENDS),
	    SWITCH(7000, 1, 1, VM_TRACE_FROM_MAIN, WAITS),
	    SWITCH(8000, NOBODY, 1, 0, WAITS), OF_MAIN(9000, ENTER, 1, 2));
	TEXT_IS(&trace, "slices of ranks and of a worker", TAIL("9", "0", "0"),
		WORKER_NAME, RUNS("rank 0", "0.000"), RANK_NAME("0"),
		BEGIN("0", "rank", "0.000"),
		BEGIN("0", "a \\\"call\\\"", "1.000"), STOPS("rank 0", "2.001"),
		RUNS("rank 1", "2.001"), BEGIN("0", "waits", "2.001"),
		RANK_NAME("1"), BEGIN("1", "rank", "2.001"),
		STOPS("rank 1", "3.000"), RUNS("rank 0", "3.000"),
		BEGIN("1", "yields", "3.000"), END("0", "waits", "3.000"),
		END("0", "a \\\"call\\\"", "4.000"), STOPS("rank 0", "5.000"),
		RUNS("rank 1", "5.000"), END("0", "rank", "5.000"),
		END("1", "yields", "5.000"), STOPS("rank 1", "6.000"),
		RUNS("rank 1, a task of it", "6.000"),
		BEGIN("1", "waits", "6.000"),
		STOPS("rank 1, a task of it", "7.000"),
		END("1", "waits", "8.000"), BEGIN("1", "MPI_Wait", "8.000"),
		END("1", "MPI_Wait", "8.000"), END("1", "rank", "8.000"));
}

/* A worker has nothing to run; other threads wait as ranks, too. */
static void idle(void)
{
	struct vm_trace trace = process_new();

	ADD(&trace, 0, OF_MAIN(0, IDLE, 2, 0), OF_MAIN(1500, BUSY, 2, 0),
	    { .ticks = 2000, .kind = VM_TRACE_IDLE, .rank = NOBODY });
	ADD(&trace, OTHERS, OF_MAIN(2500, IDLE, 3, 0),
	    OF_MAIN(2600, IDLE, 4, 0), OF_MAIN(2700, BUSY, 4, 0),
	    { .ticks = 3000, .kind = VM_TRACE_ENTER, .rank = 3, .id = 1 },
	    OF_MAIN(3500, EXIT, 3, 1));
	TEXT_IS(&trace,
		"waits without a switch; ranks that are none are left out",
		TAIL("8", "0", "0"), WORKER_NAME, RUNS("idle", "0.000"),
		RANK_NAME("2"), BEGIN("2", "rank", "0.000"),
		BEGIN("2", "waits", "0.000"), STOPS("idle", "1.500"),
		RUNS("rank 2", "1.500"), END("2", "waits", "1.500"),
		STOPS("rank 2", "2.000"), RUNS("idle", "2.000"), RANK_NAME("3"),
		BEGIN("3", "rank", "2.500"), BEGIN("3", "waits", "2.500"),
		END("3", "waits", "3.500"), STOPS("idle", "3.500"),
		END("2", "rank", "3.500"), END("3", "rank", "3.500"));
}

static void moments(void)
{
	struct vm_trace trace = process_new();

	ADD(&trace, 0, { .ticks = 0, .kind = VM_TRACE_HELP, .peer = 1 },
	    ABOUT(1000, MOVE, 2, 3, 1, 0, 0),
	    ABOUT(3000, POOL, 0, 0, 5, 1, 4096),
	    ABOUT(4000, POOL, 0, 0, 5, 0, 4096),
	    ABOUT(5000, TUNE, NOBODY, 0, 6, 0, UINT64_MAX),
	    ABOUT(6000, COUNTER, 0, 0, 0, 0, 0),
	    ABOUT(6000, COUNTER, 0, 0, 1, 0, 7),
	    ABOUT(7000, COUNTER, 0, 0, 1, 0, 0),
	    ABOUT(7000, COUNTER, 0, 0, 2, 0, 1),
	    { .ticks = 8000,
	      .kind = VM_TRACE_UNEXPECTED,
	      .rank = 1,
	      .peer = 3,
	      .tag = 4,
	      .value = 64 },
	    { .ticks = 8000, .kind = VM_TRACE_UNEXPECTED, .rank = 4 },
	    { .ticks = 8000, .kind = VM_TRACE_KIND_COUNT },
	    { .ticks = 8000, .kind = VM_TRACE_NOTHING });
	ADD(&trace, OTHERS,
	    { .ticks = 2000, .kind = VM_TRACE_HELP, .peer = 0 });
	TEXT_IS(&trace,
		"moments and counters; kinds that are none are left out",
		TAIL("14", "0", "0"), WORKER_NAME,
		MOMENT("helps", "0", "0.000",
		       "\"s\":\"t\",\"args\":{\"worker\":1}"),
		MOMENT("rank moved", "0", "1.000",
		       "\"s\":\"p\",\"args\":{\"rank\":2,\"from\":3,\"to\":1}"),
		OTHERS_NAME,
		MOMENT("helps", "1", "2.000",
		       "\"s\":\"t\",\"args\":{\"worker\":0}"),
		MOMENT("pool grows", "0", "3.000",
		       "\"s\":\"t\",\"args\":{\"pool\":5,\"owner\":0,"
		       "\"bytes\":4096}"),
		MOMENT("pool shrinks", "0", "4.000",
		       "\"s\":\"t\",\"args\":{\"pool\":5,\"owner\":0,"
		       "\"bytes\":4096}"),
		MOMENT("policy", "0", "5.000",
		       "\"s\":\"p\",\"args\":{\"variable\":6,\"rank\":-1,"
		       "\"value\":-1}"),
		"{\"ph\":\"C\",\"name\":\"\\\"moves\\\"\",\"pid\":2,\"tid\":0,"
		"\"ts\":6.000,\"args\":{\"value\":7}}",
		"{\"ph\":\"C\",\"name\":\"\\\"moves\\\"\",\"pid\":2,\"tid\":0,"
		"\"ts\":7.000,\"args\":{\"value\":0}}",
		RANK_NAME("1"), BEGIN("1", "rank", "8.000"),
		"{\"ph\":\"i\",\"name\":\"unexpected\",\"pid\":1,\"tid\":1,"
		"\"ts\":8.000,\"s\":\"t\",\"args\":{\"source\":3,\"tag\":4,"
		"\"bytes\":64}}",
		END("1", "rank", "8.000"));
}

#define SENT(at, bytes)                                                     \
	{                                                                   \
		.ticks = (at), .kind = VM_TRACE_SEND, .rank = 0, .peer = 1, \
		.tag = 5, .context = 2, .id = 0, .value = (bytes)           \
	}
#define MET(at, what, which)                                                 \
	{                                                                    \
		.ticks = (at), .kind = VM_TRACE_MATCH, .rank = 1, .peer = 0, \
		.tag = 5, .context = 2, .detail = (what), .id = (which)      \
	}
#define LEAVES(id, ts, bytes)                                               \
	"{\"ph\":\"s\",\"name\":\"message\",\"pid\":1,\"tid\":0,\"ts\":" ts \
	",\"cat\":\"message\",\"id\":" id                                   \
	",\"args\":{\"to\":1,\"tag\":5,\"bytes\":" bytes "}}"
#define COMES(id, ts, bytes)                                                \
	"{\"ph\":\"f\",\"name\":\"message\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"cat\":\"message\",\"bp\":\"e\",\"id\":" id                      \
	",\"args\":{\"from\":0,\"tag\":5,\"bytes\":" bytes "}}"

/* Received at once, later, never; and one that nobody receives. */
static void messages(void)
{
	struct vm_trace trace = process_new();

	ADD(&trace, 0, SENT(0, 10), SENT(1000, 20), SENT(2000, 30),
	    SENT(3000, 40), MET(4000, VM_TRACE_LATER, 9),
	    MET(5000, VM_TRACE_DONE, 0), MET(6000, VM_TRACE_DROPPED, 0),
	    { .ticks = 7000, .kind = VM_TRACE_RECEIVED, .rank = 1, .id = 8 },
	    { .ticks = 8000, .kind = VM_TRACE_RECEIVED, .rank = 1, .id = 9 });
	TEXT_IS(&trace,
		"messages go from their send to where their payload is there",
		TAIL("9", "2", "1"), RANK_NAME("0"),
		BEGIN("0", "rank", "0.000"), LEAVES("1", "0.000", "10"),
		LEAVES("2", "1.000", "20"), LEAVES("3", "2.000", "30"),
		LEAVES("4", "3.000", "40"), RANK_NAME("1"),
		BEGIN("1", "rank", "5.000"), COMES("2", "5.000", "20"),
		COMES("1", "8.000", "10"), END("0", "rank", "8.000"),
		END("1", "rank", "8.000"));
}

static void refused(void)
{
	struct vm_trace trace = process_new();
	struct vm_trace_summary sum;
	char want[128], name[8192];

	vm_trace_close(&trace);
	if (mkdir(path, 0700))
		bail("no directory %s", path);
	snprintf(want, sizeof(want), "vmpi: %s: Is a directory\n", path);
	captured_begin();
	is_int(vm_trace_merge(&sum, path, 1, call_name), -VMPI_EIO,
	       "a directory is no place for the text");
	is_string(captured_end(), want, "... which is said");
	rmdir(path);
	unlink(part);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	is_int(vm_trace_merge(&sum, name, 1, call_name), -VMPI_EINVAL,
	       "a name may be too long");
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/vmpi-view-%d.json", (int)getpid());
	vm_trace_path(part, sizeof(part), path, 0);
	turns();
	idle();
	moments();
	messages();
	unlink(path);
	refused();
	return done_testing();
}
