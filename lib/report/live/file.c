/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head, the rows and the texts are copies, checked once.  Later reads of
 * the file itself are only of words whose places follow from these.
 */
#include "report/live/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "introspect/export/alive.h"
#include "report/live/total.h"

/* A longer span than this is not plausible. */
#define COPY_BYTES_MAX (UINT64_C(64) << 20)
#define RANKS_MAX 1000000
#define WORDS_MAX 4096
#define WAIT_BYTES (sizeof(struct vm_export_wait) + sizeof(uint64_t))

struct vm_live_file {
	int fd;
	const char *map; /* all of it */
	uint64_t bytes;
	struct vm_export_head head;
	struct vm_export_pvar *pvars;
	struct vm_export_cvar *cvars;
	char *texts;
	uint32_t *where; /* NULL: all ranks are here */
	uint32_t *calls;
	unsigned pvar_count, cvar_count, call_count;
};

static int refuse(char *why, const char *what)
{
	snprintf(why, VM_LIVE_WHY_MAX, "%s", what);
	return -VMPI_EINVAL;
}

static bool span_fits(const struct vm_live_file *file,
		      const struct vm_export_span *span, size_t unit)
{
	return span->offset % 4 == 0 && span->offset <= file->bytes &&
	       span->bytes <= file->bytes - span->offset &&
	       span->bytes % unit == 0 && span->bytes <= COPY_BYTES_MAX;
}

static int copy_read(const struct vm_live_file *file, void *to, uint64_t offset,
		     size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = pread(file->fd, (char *)to + got, bytes - got,
				  (off_t)(offset + got));

		if (n <= 0)
			return -VMPI_EINVAL;
		got += (size_t)n;
	}
	return 0;
}

/* A copy of the span, with a zero behind it. */
static int span_copy(const struct vm_live_file *file, void *copy,
		     const struct vm_export_span *span, size_t unit, char *why)
{
	char *bytes;

	if (!span_fits(file, span, unit))
		return refuse(why, "its tables lie outside of it");
	bytes = malloc(span->bytes + 1);
	if (!bytes) {
		refuse(why, "out of memory");
		return -VMPI_ENOMEM;
	}
	bytes[span->bytes] = '\0';
	if (copy_read(file, bytes, span->offset, span->bytes)) {
		free(bytes);
		return refuse(why, "it ends too early");
	}
	memcpy(copy, &bytes, sizeof(bytes));
	return 0;
}

static int head_check(struct vm_live_file *file, char *why)
{
	struct vm_export_head *head = &file->head;

	if (file->bytes < sizeof(*head) ||
	    copy_read(file, head, 0, sizeof(*head)))
		return refuse(why, "it is too short");
	if (memcmp(head->magic, VM_EXPORT_MAGIC, sizeof(head->magic)) != 0)
		return refuse(why, "it is not a file of vmpi");
	head->library[sizeof(head->library) - 1] = '\0';
	if (head->version != VM_EXPORT_VERSION ||
	    head->head_bytes != sizeof(*head)) {
		snprintf(
			why, VM_LIVE_WHY_MAX,
			"it is from another version of vmpi (%.31s), or damaged",
			head->library);
		return -VMPI_EINVAL;
	}
	if (head->ready != 1) {
		refuse(why, "its process has not finished starting");
		return -VMPI_EAGAIN;
	}
	/* Everything that was written before `ready` is visible now. */
	if (copy_read(file, head, 0, sizeof(*head)))
		return refuse(why, "it is too short");
	head->job[sizeof(head->job) - 1] = '\0';
	head->host[sizeof(head->host) - 1] = '\0';
	head->program[sizeof(head->program) - 1] = '\0';
	head->library[sizeof(head->library) - 1] = '\0';
	if (head->ranks > RANKS_MAX || head->node >= RANKS_MAX ||
	    head->nodes > RANKS_MAX || head->ranks_here > head->ranks ||
	    head->workers > RANKS_MAX)
		return refuse(why, "its counts are inconsistent");
	return 0;
}

static bool place_fits(const struct vm_live_file *file,
		       const struct vm_export_place *place)
{
	uint64_t room;

	if (place->count == 0)
		return true;
	if (place->offset % 8 || place->stride % 8 || place->also % 8 ||
	    place->offset > file->bytes || place->count > RANKS_MAX)
		return false;
	room = file->bytes - place->offset;
	return place->also <= room &&
	       (place->count == 1 ||
		place->stride <= (room - place->also) / (place->count - 1));
}

/* Whether blocks of so many bytes fit. */
static bool blocks_fit(const struct vm_live_file *file,
		       const struct vm_export_place *place, size_t bytes)
{
	uint64_t last;

	if (!place_fits(file, place))
		return false;
	if (place->count == 0)
		return true;
	last = place->offset + (place->count - 1) * place->stride;
	return last <= file->bytes && bytes <= file->bytes - last;
}

/* The words of a row, in the last block of its place, are in the file, and
 * blocks do not overlap: so its size bounds how many values there are. */
static bool row_fits(const struct vm_live_file *file,
		     const struct vm_export_pvar *row)
{
	const struct vm_export_place *place;
	uint64_t last, words;

	if (row->words == 0 || row->words > WORDS_MAX ||
	    row->word > WORDS_MAX || row->fold > VM_EXPORT_LOWEST)
		return false;
	if (row->place >= VM_EXPORT_PLACES_MAX)
		return true; /* it has no blocks */
	place = &file->head.places[row->place];
	if (place->count == 0)
		return true;
	last = place->offset + (place->count - 1) * place->stride + place->also;
	words = (row->word + (uint64_t)row->words) * sizeof(uint64_t);
	return last <= file->bytes && words <= file->bytes - last &&
	       (place->count == 1 || words <= place->stride);
}

static bool texts_fit(const struct vm_live_file *file, const uint32_t *texts,
		      unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (texts[i] >= file->head.texts.bytes)
			return false;
	}
	return true;
}

/* Words of rows that are offsets of texts: they come first in both kinds. */
#define ROW_TEXTS 7

static int rows_check(const struct vm_live_file *file, char *why)
{
	const struct vm_export_head *head = &file->head;

	if (!blocks_fit(file, &head->waits, WAIT_BYTES) ||
	    !blocks_fit(file, &head->asleep, sizeof(uint32_t)) ||
	    head->waits.count > head->ranks)
		return refuse(why, "its ranks lie outside of it");
	for (unsigned i = 0; i < VM_EXPORT_PLACES_MAX; i++) {
		const struct vm_export_place *place = &head->places[i];

		if (!place_fits(file, place) ||
		    (place->ranked && place->count > head->ranks))
			return refuse(why, "its blocks lie outside of it");
	}
	if (!texts_fit(file, file->calls, file->call_count))
		return refuse(why, "its calls lie outside of it");
	for (unsigned i = 0; i < file->pvar_count; i++) {
		if (!texts_fit(file, &file->pvars[i].name, ROW_TEXTS) ||
		    !row_fits(file, &file->pvars[i]))
			return refuse(why, "a performance variable of it lies "
					   "outside of it");
	}
	for (unsigned i = 0; i < file->cvar_count; i++) {
		const struct vm_export_cvar *row = &file->cvars[i];

		if (!texts_fit(file, &row->name, ROW_TEXTS) ||
		    (row->string != VM_EXPORT_NO_STRING &&
		     (head->strings.bytes < VM_EXPORT_STRING_BYTES ||
		      row->string >
			      head->strings.bytes - VM_EXPORT_STRING_BYTES)))
			return refuse(why, "a control variable of it lies "
					   "outside of it");
	}
	return 0;
}

static int tables_read(struct vm_live_file *file, char *why)
{
	const struct vm_export_head *head = &file->head;
	int rc = span_copy(file, &file->texts, &head->texts, 1, why);

	if (!rc)
		rc = span_copy(file, &file->pvars, &head->pvars,
			       sizeof(*file->pvars), why);
	if (!rc)
		rc = span_copy(file, &file->cvars, &head->cvars,
			       sizeof(*file->cvars), why);
	if (!rc)
		rc = span_copy(file, &file->calls, &head->calls,
			       sizeof(*file->calls), why);
	if (!rc && head->where.bytes)
		rc = span_copy(file, &file->where, &head->where,
			       head->ranks ? head->ranks * sizeof(uint32_t) : 1,
			       why);
	if (rc)
		return rc;
	file->pvar_count = (unsigned)(head->pvars.bytes / sizeof(*file->pvars));
	file->cvar_count = (unsigned)(head->cvars.bytes / sizeof(*file->cvars));
	file->call_count = (unsigned)(head->calls.bytes / sizeof(*file->calls));
	if (!span_fits(file, &head->values, sizeof(int64_t)) ||
	    head->values.offset % 8 ||
	    head->values.bytes / sizeof(int64_t) != file->cvar_count ||
	    !span_fits(file, &head->strings, 1))
		return refuse(why, "its values lie outside of it");
	return rows_check(file, why);
}

static int file_open(struct vm_live_file *file, const char *path, char *why)
{
	struct stat about;
	void *map;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file->fd < 0) {
		int rc = errno == ENOENT ? -VMPI_ENOENT :
			 errno == EACCES ? -VMPI_EIO :
					   -VMPI_EINVAL;

		refuse(why, strerror(errno));
		return rc;
	}
	if (fstat(file->fd, &about) < 0 || !S_ISREG(about.st_mode))
		return refuse(why, "it is not a file");
	file->bytes = (uint64_t)about.st_size;
	if (file->bytes == 0)
		return refuse(why, "it is too short");
	map = mmap(NULL, file->bytes, PROT_READ, MAP_SHARED, file->fd, 0);
	if (map == MAP_FAILED)
		return refuse(why, strerror(errno));
	file->map = map;
	return 0;
}

int vm_export_map(struct vm_live_file **file, const char *path,
		  char why[VM_LIVE_WHY_MAX])
{
	struct vm_live_file *new = calloc(1, sizeof(*new));
	int rc;

	if (!new) {
		refuse(why, "out of memory");
		return -VMPI_ENOMEM;
	}
	rc = file_open(new, path, why);
	if (!rc)
		rc = head_check(new, why);
	if (!rc)
		rc = tables_read(new, why);
	if (rc) {
		vm_live_unmap(new);
		return rc;
	}
	*file = new;
	return 0;
}

void vm_live_unmap(struct vm_live_file *file)
{
	if (!file)
		return;
	if (file->map)
		munmap((void *)(uintptr_t)file->map, file->bytes);
	if (file->fd >= 0)
		close(file->fd);
	free(file->pvars);
	free(file->cvars);
	free(file->texts);
	free(file->calls);
	free(file->where);
	free(file);
}

const struct vm_export_head *vm_export_head(const struct vm_live_file *file)
{
	return &file->head;
}

unsigned vm_export_phase(const struct vm_live_file *file)
{
	const struct vm_export_head *head =
		(const struct vm_export_head *)file->map;

	return __atomic_load_n(&head->phase, __ATOMIC_RELAXED);
}

bool vm_live_lives(const struct vm_live_file *file)
{
	return vm_export_alive_fd(file->fd);
}

unsigned vm_live_where(const struct vm_live_file *file, unsigned rank)
{
	return file->where && rank < file->head.ranks ? file->where[rank] :
							file->head.node;
}

unsigned vm_live_pvar_count(const struct vm_live_file *file)
{
	return file->pvar_count;
}

unsigned vm_live_cvar_count(const struct vm_live_file *file)
{
	return file->cvar_count;
}

static const struct vm_export_place *row_place(const struct vm_live_file *file,
					       const struct vm_export_pvar *row)
{
	static const struct vm_export_place nowhere;

	return row->place < VM_EXPORT_PLACES_MAX ?
		       &file->head.places[row->place] :
		       &nowhere;
}

void vm_live_pvar_info(const struct vm_live_file *file,
		       struct vm_live_pvar_view *view, unsigned number)
{
	const struct vm_export_pvar *row = &file->pvars[number];

	*view = (struct vm_live_pvar_view){
		.name = file->texts + row->name,
		.class_ = file->texts + row->class_,
		.of = file->texts + row->of,
		.unit = file->texts + row->unit,
		.level = file->texts + row->level,
		.category = file->texts + row->category,
		.text = file->texts + row->text,
		.words = row->words,
		.fold = (enum vm_export_fold)row->fold,
		.ranked = row_place(file, row)->ranked,
	};
}

void vm_live_cvar_info(const struct vm_live_file *file,
		       struct vm_live_cvar_view *view, unsigned number)
{
	const struct vm_export_cvar *row = &file->cvars[number];

	*view = (struct vm_live_cvar_view){
		.name = file->texts + row->name,
		.type = file->texts + row->type,
		.when = file->texts + row->when,
		.unit = file->texts + row->unit,
		.level = file->texts + row->level,
		.category = file->texts + row->category,
		.text = file->texts + row->text,
		.string = row->string != VM_EXPORT_NO_STRING,
		.min = row->min,
		.max = row->max,
	};
}

unsigned vm_live_blocks(const struct vm_live_file *file, unsigned number)
{
	return row_place(file, &file->pvars[number])->count;
}

static uint64_t word_load(const struct vm_live_file *file, uint64_t offset)
{
	return __atomic_load_n((const uint64_t *)(file->map + offset),
			       __ATOMIC_RELAXED);
}

int vm_live_value(const struct vm_live_file *file, uint64_t *value,
		  unsigned number, unsigned block, unsigned word)
{
	const struct vm_export_pvar *row = &file->pvars[number];
	const struct vm_export_place *place = row_place(file, row);
	uint64_t at;

	if (block >= place->count || word >= row->words ||
	    (place->ranked && vm_live_where(file, block) != file->head.node))
		return -VMPI_ERANK;
	at = place->offset + block * place->stride +
	     (row->word + (uint64_t)word) * sizeof(uint64_t);
	*value = word_load(file, at);
	if (place->also)
		*value = vm_live_fold((enum vm_export_fold)row->fold, *value,
				      word_load(file, at + place->also));
	return 0;
}

int vm_live_total(const struct vm_live_file *file, uint64_t *value,
		  unsigned number, unsigned word)
{
	const struct vm_export_pvar *row = &file->pvars[number];
	unsigned count = row_place(file, row)->count;
	uint64_t sum = 0, one;
	bool any = false;

	for (unsigned i = 0; i < count; i++) {
		if (vm_live_value(file, &one, number, i, word))
			continue;
		sum = any ? vm_live_fold((enum vm_export_fold)row->fold, sum,
					 one) :
			    one;
		any = true;
	}
	if (!any)
		return -VMPI_ERANK;
	*value = sum;
	return 0;
}

int64_t vm_live_cvar_value(const struct vm_live_file *file, unsigned number)
{
	return (int64_t)word_load(file, file->head.values.offset +
						number * sizeof(int64_t));
}

void vm_live_cvar_text(const struct vm_live_file *file,
		       char text[VM_EXPORT_STRING_BYTES], unsigned number)
{
	uint32_t at = file->cvars[number].string;

	text[0] = '\0';
	if (at == VM_EXPORT_NO_STRING)
		return;
	memcpy(text, file->map + file->head.strings.offset + at,
	       VM_EXPORT_STRING_BYTES);
	text[VM_EXPORT_STRING_BYTES - 1] = '\0';
}

const char *vm_live_state_word(enum vm_export_state state)
{
	static const char *const words[] = {
#define STATE_WORD(name, word) [VM_EXPORT_##name] = word,
		VM_EXPORT_STATES(STATE_WORD)
#undef STATE_WORD
	};

	return words[state];
}

const char *vm_live_call_name(const struct vm_live_file *file, uint32_t call)
{
	return call > 0 && call < file->call_count ?
		       file->texts + file->calls[call] :
		       NULL;
}

/* Reads of a rank whose words change, until two agree. */
#define LOOKS 100

int vm_live_doing(const struct vm_live_file *file, struct vm_live_doing *doing,
		  unsigned rank)
{
	const struct vm_export_place *place = &file->head.waits;
	uint64_t at = place->offset + rank * place->stride;
	uint64_t state_at = at + sizeof(struct vm_export_wait);

	if (rank >= place->count ||
	    vm_live_where(file, rank) != file->head.node)
		return -VMPI_ERANK;
	for (int i = 0; i < LOOKS; i++) {
		/* Pair with the stores in core/rank/wait.h. */
		uint64_t state = __atomic_load_n(
			(const uint64_t *)(file->map + state_at),
			__ATOMIC_ACQUIRE);
		struct vm_export_wait wait, again;

		memcpy(&wait, file->map + at, sizeof(wait));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		memcpy(&again, file->map + at, sizeof(again));
		if (state >= VM_EXPORT_STATE_COUNT)
			return -VMPI_ERANK;
		if (word_load(file, state_at) != state ||
		    memcmp(&wait, &again, sizeof(wait)) != 0)
			continue;
		doing->state = (enum vm_export_state)state;
		doing->wait = wait;
		return 0;
	}
	return -VMPI_EAGAIN;
}

unsigned vm_live_awake(const struct vm_live_file *file)
{
	const struct vm_export_place *place = &file->head.asleep;
	unsigned awake = 0;

	for (unsigned i = 0; i < place->count; i++)
		awake += __atomic_load_n((const uint32_t *)(file->map +
							    place->offset +
							    i * place->stride),
					 __ATOMIC_RELAXED) != 1;
	return awake;
}

bool vm_live_asleep(const struct vm_live_file *file)
{
	return file->head.asleep.count > 0 && vm_live_awake(file) == 0;
}
