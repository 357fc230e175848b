/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checking whether a process is there: one that lives, busy or not, is left
 * alone; one that is killed is given up although no process sends to it.
 */
#include "fork.h"

static void run(const char *provider)
{
	struct vm_look look = { 0 }, own = { 0 };
	struct side side;
	struct child child;
	uint64_t end;

	child_open(&child, &side, 1);
	child_do(&child, 's');
	for (int i = 0; i < 20; i++) {
		vm_fabric_look(side.fabric, 1, &look);
		vm_fabric_look(side.fabric, 0, &own);
		side_poll(&side);
	}
	ok(vm_fabric_peer_alive(side.fabric, 1), "%s: who lives is there",
	   provider);
	ok(vm_fabric_peer_alive(side.fabric, 0), "%s: so are we", provider);
	is_int((int)side.downs, 0, "%s: nobody is given up", provider);
	child_do(&child, 's');
	is_int(own.fd, 0, "%s: and nobody asks himself", provider);
	kill(child.pid, SIGKILL);
	is_int(child_wait(&child), -1, "%s: the other one is killed", provider);
	end = vm_clock_ns() + UINT64_C(20000000000);
	while (!side.downs && vm_clock_ns() < end) {
		vm_fabric_look(side.fabric, 1, &look);
		side_poll(&side);
		usleep(1000);
	}
	is_int((int)side.downs, 1, "%s: that is seen", provider);
	vm_fabric_look(side.fabric, 1, &look);
	vm_fabric_look_end(&look);
	is_int(look.fd, 0, "%s: the look has an end", provider);
	vm_fabric_close(side.fabric);
}

int main(void)
{
	vm_clock_init();
	providers_and_shm(run);
	return done_testing();
}
