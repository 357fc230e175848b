/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of transfer times: looking up, reading, writing.
 */
#include "introspect/measure/xfer_table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/whole.h"

#define TIME_MAX 1e15 /* ns: more is a mistake */

static const char *const words[VM_PATHS] = {
#define WORD(name, word) [VM_PATH_##name] = (word),
	VM_PATHS_LIST(WORD)
#undef WORD
};

/* A point on the line through a and b; the line does not fall, so that a larger
 * message never takes less time than the last point. */
static double line_through(const struct vm_xfer_point *a,
			   const struct vm_xfer_point *b, uint64_t bytes)
{
	double slope =
		(b->time - a->time) / ((double)b->bytes - (double)a->bytes);

	if (bytes > b->bytes && slope < 0)
		return b->time;
	return a->time + slope * ((double)bytes - (double)a->bytes);
}

uint64_t vm_xfer_time(const struct vm_xfer_table *table, enum vm_path path,
		      uint64_t bytes)
{
	const struct vm_xfer_point *point = table->point[path];
	unsigned count = table->count[path], low = 0, high = count;

	if (!count)
		return 0;
	/* The first point that is not below. */
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (point[middle].bytes < bytes)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return vm_whole(point[0].time + 0.5);
	if (low == count)
		low--;
	if (low == 0) /* one point: as fast per byte */
		return vm_whole(
			point[0].time * (double)bytes /
				(double)(point[0].bytes ? point[0].bytes : 1) +
			0.5);
	return vm_whole(line_through(&point[low - 1], &point[low], bytes) +
			0.5);
}

void vm_xfer_scale(struct vm_xfer_table *table, double factor)
{
	for (int path = 0; path < VM_PATHS; path++)
		for (unsigned i = 0; i < table->count[path]; i++)
			table->point[path][i].time *= factor;
}

static int path_of(const char *word)
{
	for (int path = 0; path < VM_PATHS; path++)
		if (!strcmp(word, words[path]))
			return path;
	return -1;
}

#define WHY_MAX 160

/* Parses a line without its comment: 0, or -VMPI_EINVAL and in why the
 * reason. */
static int line_take(struct vm_xfer_table *table, const char *line,
		     char why[WHY_MAX])
{
	char word[16], rest;
	struct vm_xfer_point point;
	unsigned count;
	int path;

	if (line[strspn(line, " \t\r\n")] == '\0')
		return 0;
	snprintf(why, WHY_MAX,
		 "a line is PATH BYTES NANOSECONDS, such as \"worker 1024 "
		 "250\"");
	if (strchr(line, '-') || sscanf(line, "%15s %" SCNu64 " %lf %c", word,
					&point.bytes, &point.time, &rest) != 3)
		return -VMPI_EINVAL;
	path = path_of(word);
	if (path < 0) {
		snprintf(why, WHY_MAX,
			 "%s is not a path; paths are worker, node and fabric",
			 word);
		return -VMPI_EINVAL;
	}
	if (!(point.time > 0) || point.time > TIME_MAX) {
		snprintf(why, WHY_MAX,
			 "a time is above 0 and at most %g nanoseconds",
			 TIME_MAX);
		return -VMPI_EINVAL;
	}
	count = table->count[path];
	if (count == VM_XFER_POINTS) {
		snprintf(why, WHY_MAX, "a path has at most %d lines",
			 VM_XFER_POINTS);
		return -VMPI_EINVAL;
	}
	if (count && table->point[path][count - 1].bytes >= point.bytes) {
		snprintf(why, WHY_MAX,
			 "sizes of a path must increase, but %" PRIu64
			 " comes after %" PRIu64,
			 point.bytes, table->point[path][count - 1].bytes);
		return -VMPI_EINVAL;
	}
	table->point[path][count] = point;
	table->count[path]++;
	return 0;
}

int vm_xfer_read(struct vm_xfer_table *table, FILE *file, const char *path)
{
	char line[256], why[WHY_MAX];
	unsigned number = 0;

	*table = (struct vm_xfer_table){ 0 };
	while (fgets(line, sizeof(line), file)) {
		number++;
		line[strcspn(line, "#\n")] = '\0';
		if (line_take(table, line, why)) {
			vm_log(VM_ERROR, "%s:%u: %s", path, number, why);
			return -VMPI_EINVAL;
		}
	}
	if (!table->count[VM_PATH_WORKER] || !table->count[VM_PATH_NODE]) {
		vm_log(VM_ERROR,
		       "%s:%u: the table ends without lines for path %s; "
		       "vmpi_info --calibrate writes a complete one",
		       path, number,
		       table->count[VM_PATH_WORKER] ? "node" : "worker");
		return -VMPI_EINVAL;
	}
	return 0;
}

int vm_xfer_load(struct vm_xfer_table *table, const char *path)
{
	FILE *file = fopen(path, "re");
	int rc;

	if (!file) {
		rc = errno == ENOENT ? -VMPI_ENOENT : -VMPI_EIO;
		vm_log(VM_ERROR,
		       "%s: %s; bounds on overlap need the table of transfer "
		       "times that vmpi_info --calibrate writes",
		       path, strerror(errno));
		return rc;
	}
	rc = vm_xfer_read(table, file, path);
	fclose(file);
	return rc;
}

int vm_xfer_write(const struct vm_xfer_table *table, FILE *file)
{
	for (int path = 0; path < VM_PATHS; path++)
		for (unsigned i = 0; i < table->count[path]; i++)
			fprintf(file, "%s %" PRIu64 " %.1f\n", words[path],
				table->point[path][i].bytes,
				table->point[path][i].time);
	return fflush(file) || ferror(file) ? -VMPI_EIO : 0;
}

int vm_xfer_usual(char *path, size_t bytes)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int n;

	if (config && config[0] == '/')
		n = snprintf(path, bytes, "%s/vmpi-xfer.table", config);
	else if (home && home[0])
		n = snprintf(path, bytes, "%s/.config/vmpi-xfer.table", home);
	else
		return -VMPI_ENOENT;
	return n > 0 && (size_t)n < bytes ? 0 : -VMPI_ENOENT;
}
