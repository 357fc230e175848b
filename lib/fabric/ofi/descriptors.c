/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting descriptors by opening them.
 */
#include "fabric/ofi/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

/* So many at least for each port, each connection, and the rest. */
#define FILES_PORT 6
#define FILES_PEER 2
#define FILES_MORE 8
#define FILES_MAX 256

int vm_descriptors_open(int *kick_fd)
{
	*kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (*kick_fd >= 0)
		return 0;
	vm_log(VM_ERROR, "no descriptor to sleep on: %s", strerror(errno));
	return -VMPI_ELIMIT;
}

int vm_descriptors_count(int fd, unsigned ports, uint32_t peers)
{
	unsigned wanted = FILES_MORE + FILES_PORT * ports +
			  FILES_PEER * (peers < 8 ? peers : 8);
	unsigned found = 0;
	int fds[FILES_MAX];

	if (wanted > FILES_MAX)
		wanted = FILES_MAX;
	while (found < wanted &&
	       (fds[found] = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0)
		found++;
	for (unsigned i = 0; i < found; i++)
		close(fds[i]);
	if (found == wanted)
		return 0;
	vm_log(VM_ERROR,
	       "the network needs about %u descriptors, and all but %u of this "
	       "process are in use; raise ulimit -n",
	       wanted, found);
	return -VMPI_ELIMIT;
}

void vm_descriptors_check(uint32_t process)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	else if (errno == EMFILE || errno == ENFILE)
		vm_log(VM_ERROR,
		       "no connection to process %u: all descriptors %s are in "
		       "use; %s",
		       process,
		       errno == EMFILE ? "of this process" : "of the machine",
		       errno == EMFILE ? "raise ulimit -n" :
					 "raise fs.file-max");
}
