/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric here and one in a child process, which obeys orders from a socket.
 *
 * The child is process 1.  It polls and sleeps as a worker would, and obeys one
 * letter at a time; each is answered by the same letter.
 */
#ifndef T_FABRIC_FORK_H
#define T_FABRIC_FORK_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "pair.h"

#define CHILD_BYTES (8u << 20)
#define NEVER_NS UINT64_MAX

struct child {
	pid_t pid;
	int socket;
	struct vm_remote remote; /* CHILD_BYTES that may be read and written */
};

static inline void bytes_send(int fd, const void *bytes, size_t count)
{
	if (send(fd, bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
		bail("the other process is gone");
}

static inline void bytes_receive(int fd, void *bytes, size_t count)
{
	if (recv(fd, bytes, count, MSG_WAITALL) != (ssize_t)count)
		bail("the other process is gone");
}

/* Exchanges addresses by the socket. */
static inline void side_connect(struct side *side, int fd)
{
	unsigned char address[VM_ADDRESS_MAX];
	int n = vm_fabric_address(side->fabric, address, sizeof(address));

	if (n < 0)
		bail("no address");
	bytes_send(fd, &n, sizeof(n));
	bytes_send(fd, address, (size_t)n);
	bytes_receive(fd, &n, sizeof(n));
	bytes_receive(fd, address, (size_t)n);
	if (vm_fabric_connect(side->fabric, !side->process, address,
			      (size_t)n) < 0)
		bail("cannot connect");
}

/* One round of a worker that has nothing else to do. */
static inline void side_idle(struct side *side, uint64_t until_ns)
{
	struct vm_sleep sleep;

	if (side_poll(side))
		return;
	if (vm_fabric_sleep_begin(side->fabric, &sleep) < 0)
		return;
	vm_fabric_sleep_wait(side->fabric, &sleep, until_ns);
	vm_fabric_sleep_end(side->fabric);
}

/* Carries out a letter in the child; false: it is to end. */
static inline bool child_obey(struct side *side, char letter)
{
	static char data[20000];

	switch (letter) {
	case 's': /* sends a packet */
		while (side_send(side, 0, 0, 0, data, 100, false, NULL) < 0)
			side_poll(side);
		return true;
	case 'b': /* is busy and does not poll */
		usleep(300000);
		return true;
	case 'k':
		side->keep = true;
		return true;
	case 'r':
		side->keep = false;
		side_release(side);
		return true;
	default:
		return false;
	}
}

/* The child's life. */
static inline void child_main(int fd, unsigned ports)
{
	unsigned char *memory = malloc(CHILD_BYTES);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct side side;
	struct vm_mr mr;
	char letter;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pattern_fill(memory, 1, CHILD_BYTES);
	if (side_open(&side, 1, ports, NULL) < 0)
		_exit(1);
	side_connect(&side, fd);
	if (vm_mr_open(vm_fabric_port(side.fabric, 0), &mr, 0, memory,
		       CHILD_BYTES, VM_MR_READ | VM_MR_WRITE) < 0)
		_exit(1);
	bytes_send(fd, &mr.remote, sizeof(mr.remote));
	for (;;) {
		side_idle(&side, vm_clock_ns() + 1000000);
		if (poll(&poll_fd, 1, 0) != 1)
			continue;
		if (recv(fd, &letter, 1, 0) != 1)
			_exit(1);
		if (!child_obey(&side, letter))
			break;
		bytes_send(fd, &letter, 1);
	}
	vm_mr_close(&mr);
	if (vm_fabric_stop(side.fabric, 10000000000u) < 0 || side.faults)
		_exit(2);
	vm_fabric_close(side.fabric);
	_exit(0);
}

static inline void child_open(struct child *child, struct side *side,
			      unsigned ports)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		bail("socketpair: %s", strerror(errno));
	child->pid = fork();
	if (child->pid == 0) {
		close(fds[0]);
		child_main(fds[1], ports);
	}
	close(fds[1]);
	child->socket = fds[0];
	if (child->pid < 0 || side_open(side, 0, ports, NULL) < 0)
		bail("cannot open a fabric here and in a child");
	side_connect(side, child->socket);
	bytes_receive(child->socket, &child->remote, sizeof(child->remote));
}

static inline void child_send(struct child *child, char letter)
{
	bytes_send(child->socket, &letter, 1);
}

/* Tells and waits for the answer. */
static inline void child_do(struct child *child, char letter)
{
	char answer;

	child_send(child, letter);
	bytes_receive(child->socket, &answer, 1);
}

/* The child's exit status, or -1 when it was killed. */
static inline int child_wait(struct child *child)
{
	int status;

	close(child->socket);
	if (waitpid(child->pid, &status, 0) != child->pid)
		return -2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
