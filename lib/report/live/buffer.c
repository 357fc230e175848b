/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be accessed is in the kernel's list of mappings.
 */
#include "report/live/buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ADDRESS_LEAST 4096
#define BYTES_MAX ((uint64_t)1 << 40)
#define DEVICE_MAX 64

/* Whether four words are a struct vm_data: address, bytes, layout, count. */
static bool is_data(pid_t pid, const uint64_t *words)
{
	struct {
		uint64_t refs, bytes;
	} layout;

	/* Two numbers of 32 bits are no size. */
	if (words[0] < ADDRESS_LEAST || !words[1] || words[1] > BYTES_MAX ||
	    !(words[1] & UINT32_MAX))
		return false;
	if (!words[2])
		return !words[3];
	return words[3] && words[3] <= words[1] &&
	       vm_snapshot_read(pid, &layout, words[2], sizeof(layout)) &&
	       layout.bytes && words[1] / layout.bytes == words[3] &&
	       words[1] % layout.bytes == 0;
}

bool vm_buffer_find(struct vm_buffer *buffer, pid_t pid, const uint64_t *words,
		    size_t count, uint64_t address)
{
	bool found = false;

	for (size_t i = 0; i + 3 < count; i++) {
		uint64_t from = words[i];
		/* Gaps make a buffer larger than its data. */
		uint64_t bytes = words[i + 2] && words[i + 1] < BYTES_MAX / 64 ?
					 words[i + 1] * 64 :
					 words[i + 1];

		if (address < from || address - from >= bytes ||
		    from < buffer->address || !is_data(pid, &words[i]))
			continue;
		*buffer = (struct vm_buffer){ from, words[i + 1] };
		if (address - from >= buffer->bytes)
			buffer->bytes = 0;
		found = true;
	}
	return found;
}

bool vm_buffer_near(uint64_t *nearest, const struct vm_buffer *hole,
		    const uint64_t *words, size_t count, uint64_t address)
{
	uint64_t before = *nearest;

	for (size_t i = 0; i < count; i++)
		if (words[i] >= hole->address && words[i] <= address &&
		    words[i] > *nearest && words[i] >= ADDRESS_LEAST)
			*nearest = words[i];
	return *nearest > before;
}

struct vm_buffer vm_buffer_hole(pid_t pid, uint64_t address)
{
	uint64_t from = 0, to = UINT64_MAX, begin, end;
	char path[64], line[4352], access[8];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end,
			   access) < 3)
			continue;
		if (access[0] == 'r' && access[1] == 'w' && end <= address)
			from = end;
		if (access[0] == 'r' && access[1] == 'w' && begin > address &&
		    to == UINT64_MAX)
			to = begin;
	}
	if (maps)
		fclose(maps);
	return (struct vm_buffer){ from, to - from };
}

/* What the mappings say about a buffer. */
struct extent {
	uint64_t from, to; /* the first bytes that cannot be accessed so */
	uint64_t seen;	   /* up to here */
	char device[DEVICE_MAX];
	bool gpu; /* a library that allocates such memory is loaded */
};

/* Takes the next mapping; need: 'r' or 'w'. */
static void mapping_take(struct extent *view, uint64_t begin, uint64_t end,
			 bool accessible)
{
	/* Nothing that is bad has begun, or it goes on. */
	if (view->from == UINT64_MAX && begin > view->seen)
		view->from = view->seen;
	if (view->from != UINT64_MAX && view->to == UINT64_MAX && accessible)
		view->to = begin;
	if (view->from == UINT64_MAX && !accessible)
		view->from = begin > view->seen ? begin : view->seen;
	if (end > view->seen)
		view->seen = end;
}

static bool is_device(const char *name)
{
	return !strncmp(name, "/dev/", 5) && strncmp(name, "/dev/shm/", 9) &&
	       strcmp(name, "/dev/zero");
}

static bool is_gpu_library(const char *name)
{
	static const char *const libraries[] = { "/libcuda.so",
						 "/libamdhip64.so",
						 "/libze_loader.so" };

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (strstr(name, libraries[i]))
			return true;
	return false;
}

static void line_take(struct extent *view, const struct vm_buffer *buffer,
		      const char *line, int need)
{
	uint64_t begin, end, last = buffer->address + buffer->bytes;
	char access[8];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &begin,
		   &end, access, &name) < 3)
		return;
	view->gpu |= name && is_gpu_library(line + name);
	if (end <= buffer->address || begin >= last)
		return;
	if (name && is_device(line + name))
		snprintf(view->device, sizeof(view->device), "%.*s",
			 (int)strcspn(line + name, "\n"), line + name);
	mapping_take(view, begin, end, strchr(access, need) != NULL);
}

/* false: all of it is accessible. */
static bool view_read(struct extent *view, const struct vm_buffer *buffer,
		      pid_t pid, int need)
{
	uint64_t last = buffer->address + buffer->bytes;
	char path[64], line[4352];
	FILE *maps;

	*view = (struct extent){ UINT64_MAX, UINT64_MAX, buffer->address,
				 .gpu = false };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return false;
	while (fgets(line, sizeof(line), maps))
		line_take(view, buffer, line, need);
	fclose(maps);
	if (view->from == UINT64_MAX && view->seen < last)
		view->from = view->seen;
	if (view->to > last)
		view->to = last;
	return view->from < last;
}

void vm_buffer_say(const struct vm_buffer *buffer, const char *whose,
		   char *text, size_t bytes, pid_t pid, uint64_t address)
{
	const struct vm_buffer one = { address, 1 };
	const struct vm_buffer *what = buffer->bytes ? buffer : &one;
	struct extent view;
	bool none = view_read(&view, what, pid, 'r');
	bool fixed = !none && view_read(&view, what, pid, 'w');
	const char *how = fixed ? "read-only" : "not accessible";
	int n;

	/* A file that is shorter than its mapping, for example. */
	if (!none && !fixed) {
		view.from = address;
		view.to = buffer->address + buffer->bytes;
	}
	if (buffer->bytes)
		n = snprintf(text, bytes,
			     "bytes %" PRIu64 " to %" PRIu64
			     " of %s buffer of %" PRIu64 " bytes at %#" PRIx64
			     " are %s",
			     view.from - buffer->address,
			     view.to - buffer->address - 1, whose,
			     buffer->bytes, buffer->address, how);
	else
		n = snprintf(text, bytes,
			     "byte %" PRIu64 " of %s buffer at %#" PRIx64
			     " is %s",
			     address - buffer->address, whose, buffer->address,
			     how);
	if (n < 0 || (size_t)n >= bytes)
		return;
	if (view.device[0])
		snprintf(text + n, bytes - (size_t)n,
			 "; this is memory of a device (%s), which vmpi does "
			 "not copy",
			 view.device);
	else if (view.gpu && !fixed)
		snprintf(text + n, bytes - (size_t)n,
			 "; if it is memory of a GPU, whose library is loaded, "
			 "copy it to the host before");
}
