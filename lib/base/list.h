/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intrusive doubly linked list with a sentinel.
 *
 * A list is a struct vm_list that points at itself when empty; elements embed
 * another struct vm_list.  Nothing is allocated, no operation can fail.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct vm_list {
	struct vm_list *next, *prev;
};

/* The struct of `type` whose `member` is at `pointer`. */
#define vm_container_of(pointer, type, member) \
	((type *)((char *)(pointer)-offsetof(type, member)))

static inline void vm_list_init(struct vm_list *list)
{
	list->next = list->prev = list;
}

static inline bool vm_list_empty(const struct vm_list *list)
{
	return list->next == list;
}

/* Puts link at the end of list. */
static inline void vm_list_append(struct vm_list *list, struct vm_list *link)
{
	link->next = list;
	link->prev = list->prev;
	list->prev->next = link;
	list->prev = link;
}

/* Takes link out of whatever list it is in. */
static inline void vm_list_remove(struct vm_list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* Takes the first link out and returns it, or NULL. */
static inline struct vm_list *vm_list_pop(struct vm_list *list)
{
	struct vm_list *link = list->next;

	if (link == list)
		return NULL;
	vm_list_remove(link);
	return link;
}

#define vm_list_each(link, list) \
	for ((link) = (list)->next; (link) != (list); (link) = (link)->next)

#endif
