/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of memory that several processes map.
 */
#include "core/window/share.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static const size_t bytes = 3 * 4096;

/* Whether another process finds what we write, and we what it writes. */
static bool other_writes(const struct vm_window_share *share, char *memory)
{
	pid_t pid;
	int status;

	memory[1] = 'a';
	pid = fork();
	if (pid == 0) {
		const char *why;
		char *there = vm_window_share_map(share, bytes, &why);

		if (!there || there[1] != 'a')
			_exit(1);
		there[bytes - 1] = 'b';
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status == 0 && memory[bytes - 1] == 'b';
}

int main(void)
{
	struct vm_window_share share = { 0 }, wrong;
	const char *why = NULL;
	char *memory, *again;
	int fd = vm_window_share_make(&share, &why);

	ok(fd >= 0, "a file is made");
	memory = vm_window_share_map(&share, bytes, &why);
	ok(memory != NULL, "its process maps it");
	again = vm_window_share_map(&share, bytes, &why);
	ok(again && again != memory, "and maps it again");
	ok(other_writes(&share, memory), "another process has the same memory");
	ok(again[bytes - 1] == 'b', "and so has the second mapping");
	wrong = share;
	wrong.space++;
	ok(!vm_window_share_map(&wrong, bytes, &why), "not on another host");
	ok(strstr(why, "host") != NULL, "which is said");
	wrong = share;
	wrong.number++;
	ok(!vm_window_share_map(&wrong, bytes, &why), "not another file");
	wrong = share;
	wrong.fd = 9999;
	ok(!vm_window_share_map(&wrong, bytes, &why), "nor none");
	ok(!vm_window_share_map(&share, (size_t)1 << 62, &why),
	   "nor more memory than there can be");
	close(fd);
	ok(!vm_window_share_map(&share, bytes, &why), "nor after the end");
	memory[0] = 'c';
	is_int(again[0], 'c', "but what is mapped stays");
	munmap(memory, bytes);
	munmap(again, bytes);
	return done_testing();
}
