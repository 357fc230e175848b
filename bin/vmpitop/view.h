/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's choices for the display, and the effects of keys on them.
 *
 * It neither reads keys nor the job: main.c passes both in, and carries out the
 * user's wish (`set`).  So a test can press keys and read the page.
 */
#ifndef VMPITOP_VIEW_H
#define VMPITOP_VIEW_H

#include <stdbool.h>

#include "busy.h"
#include "canvas.h"
#include "keys.h"
#include "model.h"
#include "plot.h"
#include "table.h"
#include "diagnosis.h"

/* The screens: name, key, title. */
#define VIEW_SCREENS(X)                \
	X(OVERVIEW, 'o', "overview")   \
	X(WORKERS, 'w', "workers")     \
	X(RANKS, 'r', "ranks")         \
	X(FABRIC, 'f', "fabric")       \
	X(VARIABLES, 'v', "variables") \
	X(PLOT, 'p', "plot")

enum screen {
#define VIEW_SCREEN_ENUM(name, key, title) SCREEN_##name,
	VIEW_SCREENS(VIEW_SCREEN_ENUM)
#undef VIEW_SCREEN_ENUM
		SCREENS
};

enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_SET };

#define VIEW_TEXT_MAX 256

struct view {
	enum screen screen;
	struct listing listings[SCREENS];
	struct table table; /* of the last picture */
	int node;	    /* the one that is shown; -1: all */
	bool paused, help, quit;
	bool zeros;	   /* variables that are 0 are listed, too */
	bool bare;	   /* a page to be printed: without the line of keys */
	double interval_s; /* between readings */
	double hang_s;	   /* diagnosis_find() */
	char filter[VIEW_TEXT_MAX];
	enum prompt prompt;
	char typed[VIEW_TEXT_MAX];
	char message[VIEW_TEXT_MAX]; /* until the next key; "" for none */
	enum style message_style;
	char plotted[96]; /* the variable; "" for none */
	bool plot_level;  /* its value, not its change per second */
	enum plot_how how;
	struct series rates, levels, messages;
	bool map; /* ranks: over time, not as a list */
	struct busy busy;
	/* A setting that the user wants changed; main.c clears it. */
	bool set_wanted;
	char set_name[96], set_value[VIEW_TEXT_MAX];
	int set_rank; /* -1: of the whole node */
};

void view_init(struct view *view, enum plot_how how);
void view_fini(struct view *view);

/* The model is of a new look.  0, -VMPI_ENOMEM. */
int view_look(struct view *view, const struct model *model);

/* A key: a character or one of keys.h. */
void view_key(struct view *view, const struct model *model, int key);

/* A line at the bottom, until the next key. */
void view_say(struct view *view, enum style style, const char *format, ...)
	VM_PRINTF(3, 4);

/* Draws the page (draw.c). */
void view_draw(struct view *view, struct canvas *canvas,
	       const struct model *model);

/* Whether the filter lets a variable through: part of its name, category or
 * kind. */
bool view_lets(const struct view *view, const struct variable *variable);

#endif
