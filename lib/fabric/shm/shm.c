/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file: a head, then for each port the names of its rings' senders, then a
 * word for each process, then the rings, then the board, then the lanes.
 */
#include "fabric/shm/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mapfile.h"
#include "base/own.h"
#include "fabric/shm/barrier.h"
#include "fabric/shm/memfd.h"

#define MAGIC 0x35656c6966485356u /* "VSHfile5" */
#define MORE_RINGS 4  /* for processes that have more ports than we */
#define GUEST_RINGS 2 /* on average */
#define SPACE_SHARE 8 /* of limited addresses all files together may take */
#define PAGE 4096

/* Words of other processes are checked where they are used. */
struct head {
	uint64_t magic VM_ALIGNED(VM_CACHELINE);
	uint64_t job;
	uint32_t process, processes, ports, rings;
	uint32_t joined; /* barriers of others reach it, and it passes some */
	_Atomic uint32_t lanes; /* that others have opened */
	_Atomic uint32_t left;	/* vm_shm_leave() */
	_Atomic uint32_t away VM_ALIGNED(VM_CACHELINE); /* vm_shm_away() */
};

/* A ring's sender. */
struct name {
	uint32_t process, port;
	_Atomic uint32_t ready; /* the two above are there */
	uint32_t unused;
};

struct door {
	_Atomic uint32_t taken VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t bell; /* a ring that is not watched has something */
	/* The process sleeps, and wakes for what comes at this port. */
	_Atomic uint32_t sleeping VM_ALIGNED(VM_CACHELINE);
	struct name names[] VM_ALIGNED(VM_CACHELINE);
};

/* What a process says of another one that it has met. */
enum { MET = 1, MOVES = 2 };

struct file {
	char *base; /* NULL: not mapped */
	size_t bytes;
	uint32_t processes, ports, rings;
};

struct peer {
	struct file file;
	pid_t pid;
	int wake_fd;
	uint32_t there;	    /* our number, as it knows us */
	bool joined;	    /* it and we have joined the barriers */
	bool crowded;	    /* what it says */
	_Atomic bool moves; /* we can move its memory */
};

struct vm_shm {
	struct vm_shm_config config;
	struct file file;
	uint64_t space;
	struct vm_board_own board;
	int fd, wake[2];
	bool joined; /* the barriers (fabric/shm/barrier.h) */
	struct peer peers[];
};

static size_t round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) / to * to;
}

static size_t door_bytes(const struct file *file)
{
	return round_up(sizeof(struct door) + file->rings * sizeof(struct name),
			VM_CACHELINE);
}

static struct head *head_of(const struct file *file)
{
	return (struct head *)(void *)file->base;
}

static struct door *door_of(const struct file *file, uint32_t port)
{
	return (void *)(file->base + sizeof(struct head) +
			port * door_bytes(file));
}

static size_t met_at(const struct file *file)
{
	return sizeof(struct head) + file->ports * door_bytes(file);
}

static _Atomic uint32_t *met_of(const struct file *file, uint32_t process)
{
	return (_Atomic uint32_t *)(void *)(file->base + met_at(file)) +
	       process;
}

static size_t rings_at(const struct file *file)
{
	return round_up(met_at(file) + file->processes * sizeof(uint32_t),
			PAGE);
}

static struct vm_shm_ring *ring_of(const struct file *file, uint32_t port,
				   uint32_t index)
{
	size_t number = (size_t)port * file->rings + index;

	return (void *)(file->base + rings_at(file) +
			number * VM_SHM_RING_BYTES);
}

static size_t board_at(const struct file *file)
{
	return rings_at(file) +
	       (size_t)file->ports * file->rings * VM_SHM_RING_BYTES;
}

static struct vm_board *board_of(const struct file *file)
{
	return (void *)(file->base + board_at(file));
}

static size_t lanes_at(const struct file *file)
{
	return round_up(board_at(file) + sizeof(struct vm_board), PAGE);
}

static struct vm_lane *lane_of(const struct file *file, uint32_t process)
{
	return (struct vm_lane *)(void *)(file->base + lanes_at(file)) +
	       process;
}

static size_t file_bytes(const struct file *file)
{
	return lanes_at(file) + file->processes * sizeof(struct vm_lane);
}

static int file_map(struct file *file, int fd, const char **why)
{
	void *base;

	file->bytes = file_bytes(file);
	base = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED) {
		*why = strerror(errno);
		return -VMPI_ELIMIT;
	}
	madvise(base, file->bytes, MADV_DONTFORK);
	madvise(base, file->bytes, MADV_DONTDUMP);
	file->base = base;
	return 0;
}

static void file_unmap(struct file *file)
{
	if (file->base)
		munmap(file->base, file->bytes);
	file->base = NULL;
}

/* The rings of a port for processes that may connect later: fewer where the
 * addresses are limited, of which all processes of the job take as many. */
static uint32_t guest_rings(const struct vm_shm_config *config)
{
	size_t ports = (size_t)config->ports * config->processes;
	size_t most = vm_own_space() / SPACE_SHARE / VM_SHM_RING_BYTES / ports;
	uint32_t rings = config->guests * GUEST_RINGS;

	return rings < most ? rings : (uint32_t)most;
}

static int file_make(struct vm_shm *shm, const char **why)
{
	const struct vm_shm_config *config = &shm->config;
	struct file *file = &shm->file;

	*file = (struct file){
		.processes = config->processes + config->guests,
		.ports = config->ports,
		.rings = (config->processes - 1) * config->ports + MORE_RINGS +
			 guest_rings(config),
	};
	shm->fd = vm_memfd_make("vmpi-rings");
	if (shm->fd < 0 || pipe2(shm->wake, O_CLOEXEC | O_NONBLOCK) ||
	    /* The head is there whatever becomes of the memory. */
	    (errno = vm_mapfile_allocate(shm->fd, 0, rings_at(file))) ||
	    (errno = vm_mapfile_reserve(shm->fd, file_bytes(file)))) {
		*why = strerror(errno);
		return -VMPI_ELIMIT;
	}
	return file_map(file, shm->fd, why);
}

int vm_shm_open(struct vm_shm **shm, const struct vm_shm_config *config,
		const char **why)
{
	uint32_t count = config->processes + config->guests;
	struct vm_shm *new =
		calloc(1, sizeof(*new) + count * sizeof(struct peer));
	int rc;

	*why = "out of memory";
	if (!new)
		return -VMPI_ENOMEM;
	new->config = *config;
	new->fd = new->wake[0] = new->wake[1] = -1;
	for (uint32_t i = 0; i < count; i++)
		new->peers[i].wake_fd = -1;
	new->space = vm_memfd_space();
	*why = "/proc does not say where pids are from";
	rc = new->space ? file_make(new, why) : -VMPI_ELIMIT;
	if (rc) {
		vm_shm_close(new);
		return rc;
	}
	vm_board_open(&new->board, board_of(&new->file));
	new->joined = vm_barrier_join();
	if (!new->joined)
		vm_log(VM_INFO,
		       "messages to other processes cost a fence each, since "
		       "membarrier() is refused: %s",
		       strerror(errno));
	*head_of(&new->file) = (struct head){ .magic = MAGIC,
					      .job = config->job,
					      .process = config->process,
					      .processes = count,
					      .ports = config->ports,
					      .rings = new->file.rings,
					      .joined = new->joined };
	*shm = new;
	return 0;
}

static void fd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

void vm_shm_close(struct vm_shm *shm)
{
	if (!shm)
		return;
	for (uint32_t i = 0; i < shm->config.processes + shm->config.guests;
	     i++) {
		file_unmap(&shm->peers[i].file);
		fd_close(shm->peers[i].wake_fd);
	}
	file_unmap(&shm->file);
	fd_close(shm->fd);
	fd_close(shm->wake[0]);
	fd_close(shm->wake[1]);
	free(shm);
}

void vm_shm_place(const struct vm_shm *shm, struct vm_shm_place *place)
{
	*place = (struct vm_shm_place){ 0 };
	if (!shm)
		return;
	*place = (struct vm_shm_place){
		.space = shm->space,
		.base = (uint64_t)(uintptr_t)shm->file.base,
		.pid = (uint32_t)syscall(SYS_getpid),
		.fd = (uint32_t)shm->fd,
		.wake_fd = (uint32_t)shm->wake[1],
		.rings = shm->file.rings,
		.processes = shm->file.processes,
		.crowded = shm->config.crowded,
	};
}

/* Whether the mapped file is that of the process. */
static bool head_fits(const struct file *file, const struct vm_shm_guest *owner)
{
	const struct head *head = head_of(file);

	return head->magic == MAGIC && head->job == owner->job &&
	       head->process == owner->process && head->ports == file->ports &&
	       head->processes == file->processes && head->rings == file->rings;
}

static int file_open(struct file *file, const struct vm_shm_guest *owner,
		     const struct vm_shm_place *place, const char **why)
{
	int fd = vm_memfd_open((pid_t)place->pid, place->fd, S_IFREG, why);
	int rc = -VMPI_ENOTSUP;
	struct stat about;

	if (fd < 0)
		return -VMPI_ENOTSUP;
	*why = "its file has another size";
	if (fstat(fd, &about) == 0 && (size_t)about.st_size == file_bytes(file))
		rc = file_map(file, fd, why);
	close(fd);
	if (rc)
		return -VMPI_ENOTSUP;
	if (head_fits(file, owner))
		return 0;
	*why = "its file has another head";
	file_unmap(file);
	return -VMPI_ENOTSUP;
}

/* Whether the kernel lets us move its memory: tried with a word. */
static bool moves_try(const struct peer *peer, uint64_t base)
{
	uint64_t word = 0;
	struct iovec here = { &word, sizeof(word) };
	struct iovec there = { (void *)(uintptr_t)base, sizeof(word) };

	return process_vm_readv(peer->pid, &here, 1, &there, 1, 0) ==
		       sizeof(word) &&
	       word == MAGIC;
}

int vm_shm_meet(struct vm_shm *shm, uint32_t process, uint32_t ports,
		const struct vm_shm_place *place, const char **why)
{
	const struct vm_shm_guest mate = {
		.job = shm ? shm->config.job : 0,
		.process = process,
		.there = shm ? shm->config.process : 0,
		.ports = ports,
	};

	return vm_shm_meet_guest(shm, process, &mate, place, why);
}

int vm_shm_meet_guest(struct vm_shm *shm, uint32_t process,
		      const struct vm_shm_guest *guest,
		      const struct vm_shm_place *place, const char **why)
{
	struct peer *peer = shm ? &shm->peers[process] : NULL;
	int rc;

	*why = "we have no file";
	if (!shm)
		return -VMPI_ENOTSUP;
	*why = "it is elsewhere";
	if (place->space != shm->space || place->rings == 0 ||
	    place->rings > UINT16_MAX * 2 ||
	    place->processes > UINT16_MAX * 2 ||
	    guest->there >= place->processes)
		return -VMPI_ENOTSUP;
	peer->pid = (pid_t)place->pid;
	peer->there = guest->there;
	peer->crowded = place->crowded;
	peer->file = (struct file){ .processes = place->processes,
				    .ports = guest->ports,
				    .rings = place->rings };
	rc = file_open(&peer->file, guest, place, why);
	if (rc)
		return rc;
	peer->wake_fd = vm_memfd_open(peer->pid, place->wake_fd, S_IFIFO, why);
	if (peer->wake_fd < 0) {
		file_unmap(&peer->file);
		return -VMPI_ENOTSUP;
	}
	peer->joined = shm->joined && head_of(&peer->file)->joined;
	atomic_store_explicit(&peer->moves, moves_try(peer, place->base),
			      memory_order_relaxed);
	/* Pairs with the load in said(). */
	atomic_store_explicit(met_of(&peer->file, peer->there),
			      peer->moves ? MET | MOVES : MET,
			      memory_order_release);
	return 0;
}

/* What the process says of us, if we have met it. */
static uint32_t said(const struct vm_shm *shm, uint32_t process)
{
	if (!shm || !shm->peers[process].file.base)
		return 0;
	/* Pairs with the store in vm_shm_meet() there. */
	return atomic_load_explicit(met_of(&shm->file, process),
				    memory_order_acquire);
}

/* Whether all others of the job say that they have met the owner of a file. */
static bool is_met(const struct vm_shm *shm, uint32_t owner)
{
	const struct file *file = owner == shm->config.process ?
					  &shm->file :
					  &shm->peers[owner].file;

	for (uint32_t i = 0; file->base && i < shm->config.processes; i++)
		/* Pairs with the store in vm_shm_meet_guest(). */
		if (i != owner && !(atomic_load_explicit(met_of(file, i),
							 memory_order_acquire) &
				    MET))
			return false;
	return file->base;
}

bool vm_shm_all_met(const struct vm_shm *shm)
{
	for (uint32_t i = 0; shm && i < shm->config.processes; i++)
		if (!is_met(shm, i))
			return false;
	return shm;
}

bool vm_shm_near(const struct vm_shm *shm, uint32_t process)
{
	return said(shm, process) & MET;
}

struct vm_board_own *vm_shm_board(struct vm_shm *shm)
{
	return shm ? &shm->board : NULL;
}

struct vm_board *vm_shm_board_of(const struct vm_shm *shm, uint32_t process)
{
	return vm_shm_near(shm, process) ? board_of(&shm->peers[process].file) :
					   NULL;
}

_Atomic uint32_t *vm_shm_away(const struct vm_shm *shm)
{
	return shm ? &head_of(&shm->file)->away : NULL;
}

bool vm_shm_is_away(const struct vm_shm *shm, uint32_t process)
{
	const struct file *file = &shm->peers[process].file;

	return !file->base ||
	       atomic_load_explicit(&head_of(file)->away, memory_order_relaxed);
}

void vm_shm_leave(struct vm_shm *shm)
{
	if (shm)
		atomic_store_explicit(&head_of(&shm->file)->left, 1,
				      memory_order_release);
}

bool vm_shm_has_left(const struct vm_shm *shm, uint32_t process)
{
	const struct file *file = shm ? &shm->peers[process].file : NULL;

	/* Pairs with the store in vm_shm_leave(). */
	return file && file->base &&
	       atomic_load_explicit(&head_of(file)->left, memory_order_acquire);
}

bool vm_shm_crowded(const struct vm_shm *shm, uint32_t process)
{
	return shm->peers[process].crowded;
}

bool vm_shm_moves_far(const struct vm_shm *shm, uint32_t process)
{
	return said(shm, process) & MOVES;
}

bool vm_shm_moves_near(const struct vm_shm *shm, uint32_t process)
{
	return vm_shm_near(shm, process) &&
	       atomic_load_explicit(&shm->peers[process].moves,
				    memory_order_relaxed);
}

static struct vm_shm_sleeper sleeper_of(const struct peer *peer, uint32_t port)
{
	return (struct vm_shm_sleeper){
		.sleeping = &door_of(&peer->file, port)->sleeping,
		.fence = !peer->joined,
	};
}

struct vm_lane *vm_shm_lane(const struct vm_shm *shm, uint32_t process)
{
	return lane_of(&shm->file, process);
}

const _Atomic uint32_t *vm_shm_lanes_open(const struct vm_shm *shm)
{
	return &head_of(&shm->file)->lanes;
}

struct vm_lane *vm_shm_lane_open(const struct vm_shm *shm, uint32_t process,
				 struct vm_shm_sleeper *reader)
{
	const struct peer *peer = &shm->peers[process];

	atomic_fetch_add_explicit(&head_of(&peer->file)->lanes, 1,
				  memory_order_relaxed);
	*reader = sleeper_of(peer, 0);
	return lane_of(&peer->file, peer->there);
}

int vm_shm_outlet(struct vm_shm_writer **writer, struct vm_shm *shm,
		  uint32_t process, uint32_t port, uint32_t from)
{
	const struct file *file = &shm->peers[process].file;
	struct door *door = door_of(file, port);
	struct vm_shm_writer *new = calloc(1, sizeof(*new));
	uint32_t index;

	if (!new)
		return -VMPI_ENOMEM;
	index = atomic_fetch_add_explicit(&door->taken, 1,
					  memory_order_relaxed);
	if (index >= file->rings) {
		free(new);
		return -VMPI_ELIMIT;
	}
	door->names[index].process = shm->peers[process].there;
	door->names[index].port = from;
	/* Pairs with the load in vm_shm_named(). */
	atomic_store_explicit(&door->names[index].ready, 1,
			      memory_order_release);
	new->ring = ring_of(file, port, index);
	new->reader = sleeper_of(&shm->peers[process], port);
	new->bell = &door->bell;
	*writer = new;
	return 0;
}

uint32_t vm_shm_rings(const struct vm_shm *shm)
{
	return shm ? shm->file.rings : 0;
}

uint32_t vm_shm_rings_of(const struct vm_shm *shm, uint32_t process)
{
	return process == shm->config.process ? shm->file.rings :
						shm->peers[process].file.rings;
}

const _Atomic uint32_t *vm_shm_taken(const struct vm_shm *shm, uint32_t port)
{
	return &door_of(&shm->file, port)->taken;
}

_Atomic uint32_t *vm_shm_bell(const struct vm_shm *shm, uint32_t port)
{
	return &door_of(&shm->file, port)->bell;
}

uint32_t vm_shm_inlets(const struct vm_shm *shm, uint32_t port)
{
	uint32_t taken = atomic_load_explicit(vm_shm_taken(shm, port),
					      memory_order_relaxed);

	return taken < shm->file.rings ? taken : shm->file.rings;
}

bool vm_shm_named(const struct vm_shm *shm, uint32_t port, uint32_t index)
{
	/* Pairs with the store in vm_shm_outlet(). */
	return atomic_load_explicit(
		&door_of(&shm->file, port)->names[index].ready,
		memory_order_acquire);
}

bool vm_shm_inlet(const struct vm_shm *shm, uint32_t port, uint32_t index,
		  struct vm_shm_reader *reader, uint32_t *process,
		  uint32_t *from)
{
	const struct name *name = &door_of(&shm->file, port)->names[index];

	if (!vm_shm_named(shm, port, index))
		return false;
	*process = name->process;
	*from = name->port;
	reader->ring = ring_of(&shm->file, port, index);
	reader->watched.told = &reader->ring->watched;
	return true;
}

int vm_shm_fd(const struct vm_shm *shm)
{
	return shm->wake[0];
}

static void sleeping_set(struct vm_shm *shm, uint32_t port, uint32_t value)
{
	atomic_store_explicit(&door_of(&shm->file, port)->sleeping, value,
			      memory_order_relaxed);
}

bool vm_shm_sleep_begin(struct vm_shm *shm, const bool *left)
{
	if (!shm)
		return true;
	for (uint32_t i = 0; i < shm->file.ports; i++)
		if (!left || !left[i])
			sleeping_set(shm, i, 1);
	/* Both pair with the fences in vm_shm_wake(). */
	if (shm->joined)
		return vm_barrier_pass();
	atomic_thread_fence(memory_order_seq_cst);
	return true;
}

void vm_shm_sleep_end(struct vm_shm *shm, bool woken)
{
	char bytes[256]; /* one for each port, at most */

	if (!shm)
		return;
	for (uint32_t i = 0; i < shm->file.ports; i++)
		sleeping_set(shm, i, 0);
	if (woken && read(shm->wake[0], bytes, sizeof(bytes)) < 0 &&
	    errno != EAGAIN)
		vm_panic("cannot read from a pipe");
}

void vm_shm_wake(struct vm_shm *shm, uint32_t process,
		 const struct vm_shm_sleeper *reader)
{
	if (!atomic_exchange_explicit(reader->sleeping, 0,
				      memory_order_relaxed))
		return;
	/* A full pipe wakes as well. */
	if (write(shm->peers[process].wake_fd, "", 1) < 0 && errno != EAGAIN)
		vm_panic("cannot write to a pipe");
}

bool vm_shm_dead(const struct vm_shm *shm, uint32_t process)
{
	return vm_memfd_owner_ended(shm->peers[process].pid, 0);
}

#define END_MS 1000 /* from the end of its memory to that of a process */

static int move_error(struct vm_shm *shm, struct peer *peer, int error)
{
	/* Its memory goes first.  The launcher is to see its end before it sees
	 * ours, which may be the consequence. */
	if (error == ESRCH && vm_memfd_owner_ended(peer->pid, END_MS))
		return -VMPI_EPEER;
	if (error == EFAULT)
		return -VMPI_EINVAL;
	/* It, or we, may have dropped privileges.  It need not ask us for what
	 * we cannot do. */
	atomic_store_explicit(&peer->moves, false, memory_order_relaxed);
	atomic_store_explicit(met_of(&peer->file, peer->there), MET,
			      memory_order_release);
	return -VMPI_ENOTSUP;
}

int vm_shm_move(struct vm_shm *shm, uint32_t process,
		const struct vm_load *load, size_t at, size_t bytes, bool write)
{
	struct peer *peer = &shm->peers[process];
	int error = vm_load_move(peer->pid, load, at, bytes, write);

	return VM_LIKELY(!error) ? 0 : move_error(shm, peer, error);
}
