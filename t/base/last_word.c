/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The word: of several processes one speaks, the others wait until it has.
 */
#include "base/last_word.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "tap.h"

#define PROCESSES 8

/* In a child: writes '<' and '>' with a pause between, if it has the word. */
static _Noreturn void speak(int out)
{
	bool took = vm_last_word_take();

	if (took && (write(out, "<", 1) != 1 || usleep(20000) ||
		     write(out, ">", 1) != 1))
		_exit(2);
	if (took)
		vm_last_word_give();
	if (!took && write(out, ".", 1) != 1)
		_exit(2);
	_exit(vm_last_word_take() != took);
}

static void among_test(void)
{
	char text[2 * PROCESSES + 1] = "";
	int ends[2], wrong = 0, status;
	size_t got = 0;
	ssize_t n;

	vm_last_word_set(vm_last_word_new());
	ok(!vm_last_word_said() && !vm_last_word_said(),
	   "nobody has said anything, however often one looks");
	if (pipe(ends))
		bail("no pipe");
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0)
			speak(ends[1]);
	close(ends[1]);
	while ((n = read(ends[0], text + got, sizeof(text) - 1 - got)) > 0)
		got += (size_t)n;
	while (wait(&status) > 0)
		wrong += status != 0;
	is_int(wrong, 0, "who had the word has it again, and nobody else");
	is_string(text, "<>.......", "one speaks, then the others know");
	ok(vm_last_word_said() && vm_last_word_said(), "one has said it");
	ok(!vm_last_word_take(), "who comes later may not");
}

/* The length of what an error writes. */
static size_t logged(void)
{
	char text[64];
	int ends[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	if (saved < 0 || pipe(ends))
		bail("no pipe");
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	vm_log(VM_ERROR, "text");
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = read(ends[0], text, sizeof(text));
	close(ends[0]);
	return n > 0 ? (size_t)n : 0;
}

int main(void)
{
	ok(vm_last_word_take() && vm_last_word_take(),
	   "alone one always has the word");
	among_test();
	ok(logged() > 0, "an error is logged even so");
	vm_last_word_start(true);
	is_int((intmax_t)logged(), 0, "but not one by which all end");
	vm_last_word_set(-1);
	ok(logged() > 0, "unless nobody else can have said it");
	return done_testing();
}
