/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement of the members of a file.
 */
#include "mpi/io/agree.h"

#include <stdio.h>
#include <string.h>

#include "mpi/call/errh.h"
#include "mpi/io/disk.h"

static const struct vm_io_word *word_of(const struct vm_meet *meet, size_t i)
{
	return vm_comm_coll_brought(vm_coll_of(meet, i));
}

static void all_fail(struct vm_meet *meet, int error, const char *text)
{
	for (size_t i = 0; i < meet->size; i++)
		vm_coll_fail(vm_coll_of(meet, i), error, "%s", text);
}

/* Tells whether all can and say the same; otherwise all fail. */
static bool agreed(struct vm_meet *meet)
{
	const struct vm_io_word *first = word_of(meet, 0);
	char text[sizeof(((struct vm_coll *)0)->what)];

	for (size_t i = 0; i < meet->size; i++) {
		const struct vm_io_word *word = word_of(meet, i);

		if (word->error) {
			snprintf(text, sizeof(text), "rank %zu: %s", i,
				 word->what);
			all_fail(meet, word->error, text);
			return false;
		}
	}
	for (size_t i = 1; i < meet->size; i++) {
		const struct vm_io_word *word = word_of(meet, i);

		if (word->value == first->value)
			continue;
		snprintf(text, sizeof(text),
			 "rank %zu has %s %lld, rank 0 %lld", i, word->name,
			 (long long)word->value, (long long)first->value);
		all_fail(meet, MPI_ERR_NOT_SAME, text);
		return false;
	}
	return true;
}

static void agree_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		       size_t last)
{
	bool yes = true;

	if (!agreed(meet))
		return;
	for (size_t i = 0; i < meet->size; i++)
		yes = yes && word_of(meet, i)->yes;
	for (size_t i = 0; i < meet->size; i++)
		if (vm_coll_of(meet, i)->owner)
			((struct vm_io_agree *)vm_coll_of(meet, i))->yes = yes;
}

static void disk_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last)
{
	struct vm_disk *disk = NULL;

	if (!agreed(meet))
		return;
	for (size_t i = 0; i < meet->size; i++) {
		struct vm_io_agree *agree = (void *)vm_coll_of(meet, i);

		if (!agree->coll.owner)
			continue;
		if (!disk) {
			disk = agree->file->disk;
			continue;
		}
		agree->file->disk = disk;
		atomic_fetch_add_explicit(&disk->refs, 1, memory_order_relaxed);
	}
}

static const struct vm_coll_kind kind_agree = {
	.part = agree_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.plain = true,
	.flow = VM_FLOW_ALL,
};
static const struct vm_coll_kind kind_disk = {
	.part = disk_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.plain = true,
	.flow = VM_FLOW_ALL,
};

static int meet(struct vm_call *call, struct vm_io_agree *agree,
		const struct vm_coll_kind *kind, struct vm_io_word *word,
		int rc)
{
	int met;

	vm_file_turns_wait(agree->file);
	word->error = vm_mpi_error(rc);
	if (rc != 0)
		snprintf(word->what, sizeof(word->what), "%s",
			 call->what ? call->what : vm_error_text(word->error));
	vm_comm_coll_init(&agree->coll, kind, call, &agree->file->comm, word,
			  sizeof(*word));
	met = vm_coll_run(call, &agree->coll);
	return rc ? rc : met;
}

int vm_io_agree(struct vm_call *call, struct vm_file *file, int64_t value,
		const char *name, int rc)
{
	struct vm_io_agree agree = { .file = file };
	struct vm_io_word word = { .value = value };

	snprintf(word.name, sizeof(word.name), "%s", name);
	return meet(call, &agree, &kind_agree, &word, rc);
}

int vm_io_agree_all(struct vm_call *call, struct vm_file *file, bool yes,
		    bool *all, int rc)
{
	struct vm_io_agree agree = { .file = file };
	struct vm_io_word word = { .yes = yes };

	rc = meet(call, &agree, &kind_agree, &word, rc);
	if (rc == 0)
		*all = agree.yes;
	return rc;
}

int vm_io_agree_disk(struct vm_call *call, struct vm_file *file, int rc)
{
	struct vm_io_agree agree = { .file = file };
	struct vm_io_word word = { 0 };

	return meet(call, &agree, &kind_disk, &word, rc);
}
