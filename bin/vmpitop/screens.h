/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The screens, each drawn into what is left of the page.
 */
#ifndef VMPITOP_SCREENS_H
#define VMPITOP_SCREENS_H

#include "view.h"

/* The inputs of a screen. */
struct page {
	struct view *view;
	struct canvas *canvas;
	const struct model *model;
	struct box box; /* what is left of the page */
};

/* Whether the user wants to see this node. */
static inline bool page_shows(const struct page *page, int node)
{
	return page->view->node < 0 || page->view->node == node;
}

void screen_overview(const struct page *page);
/* Workers or ports; title: of the column with their numbers. */
void screen_blocks(const struct page *page, const char *title,
		   enum group group);
void screen_ranks(struct page *page);
void screen_variables(struct page *page);
void screen_plot(struct page *page);

#endif
