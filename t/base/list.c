/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists: order, removal from anywhere, moving between lists; against an array.
 */
#include "base/list.h"

#include <string.h>

#include "tap.h"

struct item {
	int value;
	struct vm_list link;
};

static struct vm_list list;

/* The values in the list as a string of digits, forwards. */
static const char *values(void)
{
	static char text[32];
	struct vm_list *link;
	size_t n = 0;

	vm_list_each(link, &list)
		text[n++] =
			(char)('0' +
			       vm_container_of(link, struct item, link)->value);
	text[n] = '\0';
	return text;
}

/* The same, backwards. */
static const char *values_back(void)
{
	static char text[32];
	size_t n = 0;

	for (struct vm_list *link = list.prev; link != &list; link = link->prev)
		text[n++] =
			(char)('0' +
			       vm_container_of(link, struct item, link)->value);
	text[n] = '\0';
	return text;
}

int main(void)
{
	struct item items[6];
	struct vm_list other;

	plan(14);
	vm_list_init(&list);
	ok(vm_list_empty(&list), "a new list is empty");
	ok(!vm_list_pop(&list), "and gives nothing");
	for (int i = 0; i < 6; i++) {
		items[i].value = i;
		vm_list_append(&list, &items[i].link);
	}
	ok(!vm_list_empty(&list), "a list with elements is not empty");
	is_string(values(), "012345", "elements stand in the order they came");
	is_string(values_back(), "543210", "backwards as well");
	vm_list_remove(&items[0].link);
	is_string(values(), "12345", "the first can be removed");
	vm_list_remove(&items[5].link);
	is_string(values(), "1234", "the last can be removed");
	vm_list_remove(&items[2].link);
	is_string(values(), "134", "one in the middle can be removed");
	is_string(values_back(), "431", "and both directions know");
	ok(vm_list_pop(&list) == &items[1].link, "pop takes the first");
	vm_list_append(&list, &items[0].link);
	is_string(values(), "340", "a removed element can come again");
	vm_list_init(&other);
	vm_list_append(&other, vm_list_pop(&list));
	ok(other.next == &items[3].link && other.prev == &items[3].link,
	   "an element can change to another list");
	vm_list_pop(&list);
	vm_list_pop(&list);
	ok(vm_list_empty(&list), "when the last one goes the list is empty");
	ok(list.next == &list && list.prev == &list, "and points at itself");
	return done_testing();
}
