/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged files: whatever bytes a file holds, its reader says that it is no
 * good, or reads values from inside it.  Changes are random with a printed seed
 * (give one as the argument), and all values of a file that passes are read.
 */
#include "report/live/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "introspect/farm.h"
#include "introspect/export/export.h"
#include "tap.h"

#define ROUNDS 4000

#define FARM_HEN_PVARS(X)                               \
	X(COUNTER, laid, "eggs", RANK, UB, p2p, "Eggs") \
	X(HIGHWATERMARK, top, "eggs", RANK, UB, p2p, "Most eggs")

struct farm_hen_pvars {
	FARM_HEN_PVARS(VM_PVAR_FIELD)
};

VM_PVARS_DEFINE(farm_hen, FARM_HEN_PVARS)

#define HENS 6

static char dir[] = "/tmp/vmpi-damaged-XXXXXX";
static char path[VM_EXPORT_PATH_MAX + 16];
static uint64_t seed, sum_read;

static uint32_t draw(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) +
	       UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* A good file's bytes; *bytes is how many. */
static char *good_make(size_t *bytes)
{
	const char *why = "";
	struct farm_hen_pvars *hens;
	struct vm_pvar_place place = { .stride = sizeof(*hens), .count = HENS };
	struct vm_export_facts facts = { .nodes = 1,
					 .ranks = HENS,
					 .ranks_here = HENS,
					 .workers = 1,
					 .table_count = 1 };
	struct stat about;
	char *copy;
	int fd;

	if (vm_export_open(dir, "1", 0, &why))
		bail("no file in %s: %s", dir, why);
	hens = vm_export_alloc(HENS * sizeof(*hens), 64);
	place.base = (const char *)hens;
	facts.tables[0].table = &farm_hen_pvar_table;
	facts.tables[0].place = &place;
	if (vm_export_publish(&facts))
		bail("the file cannot be published");
	vm_export_path(path, sizeof(path), dir, "1", 0);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &about))
		bail("%s cannot be read", path);
	*bytes = (size_t)about.st_size;
	copy = malloc(*bytes);
	if (!copy || read(fd, copy, *bytes) != (ssize_t)*bytes)
		bail("%s cannot be read", path);
	close(fd);
	vm_export_free(hens);
	vm_export_close(false);
	return copy;
}

static void file_write(const char *bytes, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		bail("%s cannot be written", path);
	close(fd);
}

static size_t texts_length(const struct vm_live_pvar_view *view)
{
	return strlen(view->name) + strlen(view->class_) + strlen(view->of) +
	       strlen(view->unit) + strlen(view->level) +
	       strlen(view->category) + strlen(view->text);
}

/* Reads all there is; the sum keeps the compiler from leaving it out. */
static uint64_t all_read(const struct vm_live_file *file)
{
	uint64_t sum = vm_export_phase(file) + vm_live_lives(file), value = 0;
	char text[VM_EXPORT_STRING_BYTES];

	for (unsigned i = 0; i < vm_live_pvar_count(file); i++) {
		struct vm_live_pvar_view view;

		vm_live_pvar_info(file, &view, i);
		sum += texts_length(&view);
		for (unsigned b = 0; b < vm_live_blocks(file, i); b++) {
			for (unsigned w = 0; w < view.words; w++) {
				if (!vm_live_value(file, &value, i, b, w))
					sum += value;
			}
		}
		if (!vm_live_total(file, &value, i, 0))
			sum += value;
	}
	for (unsigned i = 0; i < vm_live_cvar_count(file); i++) {
		struct vm_live_cvar_view view;

		vm_live_cvar_info(file, &view, i);
		vm_live_cvar_text(file, text, i);
		sum += strlen(view.name) + strlen(view.text) + strlen(text) +
		       (uint64_t)vm_live_cvar_value(file, i);
	}
	return sum;
}

/* Whether the file was refused with a reason, or could be read. */
static bool survives(unsigned *refused)
{
	char why[VM_LIVE_WHY_MAX] = "";
	struct vm_live_file *file;
	int rc = vm_export_map(&file, path, why);

	if (rc) {
		++*refused;
		return why[0] != '\0';
	}
	sum_read += all_read(file);
	vm_live_unmap(file);
	return true;
}

/* Changes words or bytes; half of the changes hit the head, where it hurts. */
static void damage(char *bytes, size_t length)
{
	static const uint64_t nasty[] = {
		0,	    1,		UINT64_MAX,	   UINT64_MAX - 7,
		INT64_MAX,  UINT32_MAX, UINT64_C(1) << 63, 4096,
		0xfffffff8, 12,
	};
	unsigned changes = 1 + draw(6);

	while (changes--) {
		size_t most = draw(2) ? sizeof(struct vm_export_head) : length;
		size_t at = draw((uint32_t)(most / 8)) * 8;
		uint64_t word = nasty[draw(sizeof(nasty) / sizeof(nasty[0]))];

		if (draw(3) == 0)
			bytes[at + draw(8)] = (char)draw(256);
		else if (draw(2))
			memcpy(bytes + at, &word, 8);
		else
			memcpy(bytes + at + 4 * draw(2), &word, 4);
	}
}

static void damaged(const char *good, size_t length)
{
	char *bytes = malloc(length);
	unsigned refused = 0, bad = 0;

	for (int i = 0; bytes && i < ROUNDS; i++) {
		memcpy(bytes, good, length);
		damage(bytes, length);
		file_write(bytes, length);
		bad += !survives(&refused);
	}
	free(bytes);
	is_int(bad, 0, "%d damaged files do no harm", ROUNDS);
	ok(refused > ROUNDS / 20, "many of them are refused");
	diag("%u of %d were refused", refused, ROUNDS);
}

static void shortened(const char *good, size_t length)
{
	unsigned refused = 0, bad = 0, count = 0;

	for (size_t cut = 0; cut < length; cut += 1 + draw(300), count++) {
		file_write(good, cut);
		bad += !survives(&refused);
	}
	is_int(bad, 0, "%u shortened files do no harm", count);
	ok(refused > count / 2, "most of them are refused");
}

static void foreign(void)
{
	char why[VM_LIVE_WHY_MAX] = "", bytes[8192];
	struct vm_live_file *file;

	memset(bytes, 'A', sizeof(bytes));
	file_write(bytes, sizeof(bytes));
	is_int(vm_export_map(&file, path, why), -VMPI_EINVAL,
	       "another file is refused");
	is_string(why, "it is not a file of vmpi", "with the reason");
	is_int(vm_export_map(&file, dir, why), -VMPI_EINVAL,
	       "a directory is refused");
	unlink(path);
	if (mkfifo(path, 0600) == 0)
		is_int(vm_export_map(&file, path, why), -VMPI_EINVAL,
		       "a pipe is refused, and not waited for");
	unlink(path);
	if (symlink("/etc/passwd", path) == 0)
		is_int(vm_export_map(&file, path, why), -VMPI_EINVAL,
		       "links are not followed");
}

int main(int argc, char **argv)
{
	size_t length;
	char *good;

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
	diag("seed %llu", (unsigned long long)seed);
	if (!mkdtemp(dir))
		bail("no directory");
	vm_vars_add(&farm_cvar_table);
	vm_pvars_add(&farm_hen_pvar_table);
	good = good_make(&length);
	damaged(good, length);
	shortened(good, length);
	foreign();
	free(good);
	unlink(path);
	rmdir(dir);
	return done_testing();
}
