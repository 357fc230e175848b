/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of transfer times: between, below and beyond its points; and files
 * that are none.
 */
#include "introspect/measure/xfer_table.h"

#include <string.h>

#include "base/err.h"
#include "captured.h"
#include "tap.h"

static int read_text(struct vm_xfer_table *table, const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int rc = vm_xfer_read(table, file, "some.table");

	fclose(file);
	return rc;
}

#define WHOLE "worker 0 10\nnode 0 20\n"

static void test_times(void)
{
	struct vm_xfer_table table;

	is_int(read_text(&table, "# times\nworker 100 50 # small\n\n"
				 "worker 200 150\nworker 1000 250\n"
				 "node 64 32\nfabric 10 100\nfabric 20 90\n"),
	       0, "a table with comments and blank lines is read");
	is_int((long)vm_xfer_time(&table, VM_PATH_WORKER, 0), 50,
	       "below the first point its time holds");
	is_int((long)vm_xfer_time(&table, VM_PATH_WORKER, 100), 50,
	       "at a point its time holds");
	is_int((long)vm_xfer_time(&table, VM_PATH_WORKER, 150), 100,
	       "between two points time is linear");
	is_int((long)vm_xfer_time(&table, VM_PATH_WORKER, 600), 200,
	       "between the last two as well");
	is_int((long)vm_xfer_time(&table, VM_PATH_WORKER, 9000), 1250,
	       "beyond the last it goes on as between the last two");
	is_int((long)vm_xfer_time(&table, VM_PATH_NODE, 6400), 3200,
	       "with one point larger messages take in proportion");
	is_int((long)vm_xfer_time(&table, VM_PATH_FABRIC, 1 << 30), 90,
	       "times that fall do not go on falling");
	vm_xfer_scale(&table, 3);
	is_int((long)vm_xfer_time(&table, VM_PATH_WORKER, 100), 150,
	       "the unit can be changed");
}

static void test_written(void)
{
	struct vm_xfer_table table, again;
	char text[256] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	read_text(&table, WHOLE "worker 8 12.5\n");
	is_int(vm_xfer_write(&table, file), 0, "a table is written");
	fclose(file);
	is_int(read_text(&again, text), 0, "and read again");
	ok(!memcmp(&table, &again, sizeof(table)), "as it was");
}

static void refuses(const char *text, const char *place, const char *word)
{
	struct vm_xfer_table table;
	const char *logged;
	int rc;

	captured_begin();
	rc = read_text(&table, text);
	logged = captured_end();
	ok(rc == -VMPI_EINVAL && strstr(logged, place) && strstr(logged, word),
	   "refused at %s: %s", place, word);
}

int main(void)
{
	test_times();
	test_written();
	refuses(WHOLE "worker 5\n", "some.table:3", "PATH BYTES NANOSECONDS");
	refuses("worker 5 7 9\n", "some.table:1", "PATH BYTES NANOSECONDS");
	refuses("\nworker -5 7\n", "some.table:2", "PATH BYTES NANOSECONDS");
	refuses("air 5 7\n", "some.table:1", "air is not a path");
	refuses("worker 5 0\n", "some.table:1", "above 0");
	refuses("worker 5 nan\n", "some.table:1", "above 0");
	refuses("worker 5 1\nworker 5 2\n", "some.table:2", "increase");
	refuses("worker 5 1\n", "some.table:1", "without lines for path node");
	refuses("", "some.table:0", "without lines for path worker");
	return done_testing();
}
