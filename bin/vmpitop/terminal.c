/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ncurses, with its own handlers for SIGTSTP and SIGWINCH.  For signals that
 * end the program endwin() is no function to call: what gives the terminal back
 * is made ready at the start, and the handler writes it.
 */
#include "terminal.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "keys.h"

static struct {
	bool open;
	SCREEN *screen;
	struct termios before;
	char restore[256]; /* what is written to give the terminal back */
	size_t restore_bytes;
	attr_t attributes[STYLES];
	short pairs[STYLES];
} terminal;

static const int fatal_signals[] = { SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
				     SIGABRT, SIGBUS,  SIGFPE, SIGILL };

static void fatal(int number)
{
	const char *text = terminal.restore;
	size_t left = terminal.restore_bytes;

	while (left) {
		ssize_t n = write(STDOUT_FILENO, text, left);

		if (n <= 0)
			break;
		text += n;
		left -= (size_t)n;
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
	signal(number, SIG_DFL);
	raise(number);
}

/* Signals that the parent has set to be ignored (nohup) stay ignored. */
static void signals_take(void)
{
	struct sigaction action = { .sa_handler = fatal }, before;

	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(int); i++)
		if (!sigaction(fatal_signals[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(fatal_signals[i], &action, NULL);
}

static void signals_give(void)
{
	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(int); i++) {
		struct sigaction now;

		if (!sigaction(fatal_signals[i], NULL, &now) &&
		    now.sa_handler == fatal)
			signal(fatal_signals[i], SIG_DFL);
	}
}

/* A capability without arguments, if it is there and has none of the delays
 * that only tputs() can make. */
static void restore_add(const char *name)
{
	const char *text = tigetstr(name);
	size_t bytes;

	if (!text || text == (const char *)-1 || strstr(text, "$<"))
		return;
	bytes = strlen(text);
	if (bytes > sizeof(terminal.restore) - terminal.restore_bytes)
		return;
	memcpy(terminal.restore + terminal.restore_bytes, text, bytes);
	terminal.restore_bytes += bytes;
}

static void restore_prepare(void)
{
	static const char *const names[] = { "sgr0", "op",    "cnorm",
					     "rmkx", "rmcup", "cr" };

	terminal.restore_bytes = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		restore_add(names[i]);
}

static void styles_make(void)
{
	static const struct {
		enum style style;
		attr_t attribute;
		short color;
	} rows[] = {
		{ STYLE_BOLD, A_BOLD, -1 },
		{ STYLE_DIM, A_DIM, -1 },
		{ STYLE_HEAD, A_REVERSE, -1 },
		{ STYLE_CHOSEN, A_REVERSE | A_BOLD, -1 },
		{ STYLE_GOOD, A_NORMAL, COLOR_GREEN },
		{ STYLE_WARN, A_BOLD, COLOR_YELLOW },
		{ STYLE_BAD, A_BOLD, COLOR_RED },
	};
	bool colors = has_colors() && start_color() == OK &&
		      use_default_colors() == OK;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum style style = rows[i].style;

		terminal.attributes[style] = rows[i].attribute;
		terminal.pairs[style] = 0;
		if (colors && rows[i].color >= 0 &&
		    init_pair((short)style, rows[i].color, -1) == OK)
			terminal.pairs[style] = (short)style;
	}
}

/* The reason why the terminal cannot be used; NULL: it can. */
static const char *unusable(char *why, size_t bytes)
{
	const char *name = getenv("TERM");
	int error;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "standard input and output are not a terminal; --batch N "
		       "prints N pages as text";
	if (!name || !name[0])
		return "TERM is not set; --batch N prints N pages as text";
	if (setupterm(NULL, STDOUT_FILENO, &error) == OK) {
		if (tigetstr("cup") && tigetstr("cup") != (char *)-1)
			return NULL;
		snprintf(why, bytes,
			 "a terminal of type '%.40s' (TERM) cannot place the "
			 "cursor; --batch N prints N pages as text",
			 name);
		return why;
	}
	snprintf(why, bytes,
		 "unknown terminal type '%.40s' (TERM); --batch N prints N "
		 "pages as text",
		 name);
	return why;
}

int term_open(char *why, size_t bytes)
{
	const char *reason;

	setlocale(LC_CTYPE, "");
	reason = unusable(why, bytes);
	if (!reason && (tcgetattr(STDIN_FILENO, &terminal.before) ||
			!(terminal.screen = newterm(NULL, stdout, stdin))))
		reason = "the terminal cannot be used; --batch N prints N "
			 "pages as text";
	if (reason) {
		if (reason != why)
			snprintf(why, bytes, "%s", reason);
		return -1;
	}
	terminal.open = true;
	restore_prepare();
	signals_take();
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	styles_make();
	return 0;
}

void term_close(void)
{
	if (!terminal.open)
		return;
	endwin();
	signals_give();
	delscreen(terminal.screen);
	terminal.open = false;
}

void term_size(int *rows, int *cols)
{
	getmaxyx(stdscr, *rows, *cols);
}

enum plot_how term_plot_how(void)
{
	const char *name = getenv("TERM");

	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		return PLOT_ASCII;
	/* The console's fonts have no braille. */
	return name && !strcmp(name, "linux") ? PLOT_BLOCK : PLOT_BRAILLE;
}

static void row_show(const struct canvas *canvas, int row, int cols)
{
	for (int col = 0; col < cols; col++) {
		const struct cell *cell =
			&canvas->cells[(size_t)row * (size_t)canvas->cols +
				       (size_t)col];
		wchar_t text[2] = {
			(wchar_t)(cell->character ? cell->character : ' '), 0
		};
		cchar_t wide;

		if (setcchar(&wide, text, terminal.attributes[cell->style],
			     terminal.pairs[cell->style], NULL) == OK)
			mvadd_wchnstr(row, col, &wide, 1);
	}
}

void term_show(const struct canvas *canvas)
{
	int rows, cols;

	term_size(&rows, &cols);
	erase();
	for (int row = 0; row < rows && row < canvas->rows; row++)
		row_show(canvas, row,
			 cols < canvas->cols ? cols : canvas->cols);
	refresh();
}

static int key_of(int code)
{
	static const struct {
		int code, key;
	} rows[] = {
		{ KEY_UP, KEY_OF_UP },
		{ KEY_DOWN, KEY_OF_DOWN },
		{ KEY_LEFT, KEY_OF_LEFT },
		{ KEY_RIGHT, KEY_OF_RIGHT },
		{ KEY_PPAGE, KEY_OF_PAGE_UP },
		{ KEY_NPAGE, KEY_OF_PAGE_DOWN },
		{ KEY_HOME, KEY_OF_HOME },
		{ KEY_END, KEY_OF_END },
		{ KEY_ENTER, KEY_OF_ENTER },
		{ '\r', KEY_OF_ENTER },
		{ '\n', KEY_OF_ENTER },
		{ KEY_BACKSPACE, KEY_OF_BACKSPACE },
		{ 0x7f, KEY_OF_BACKSPACE },
		{ '\b', KEY_OF_BACKSPACE },
		{ 0x1b, KEY_OF_ESCAPE },
		{ KEY_F(1), KEY_OF_HELP },
		{ KEY_F(10), KEY_OF_QUIT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == code)
			return rows[i].key;
	return code < 0x80 ? code : TERM_NONE;
}

int term_key(double wait_s)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	int ready, code;

	/* Keys that came in one read with this one are kept by ncurses. */
	timeout(0);
	code = getch();
	if (code == ERR) {
		ready = poll(&fd, 1, wait_s > 0 ? (int)(wait_s * 1000) + 1 : 0);
		if (ready < 0 && errno != EINTR)
			return TERM_GONE;
		if (ready > 0 && !(fd.revents & POLLIN))
			return TERM_GONE;
		code = getch();
		/* Readable, and nothing is there: its end. */
		if (ready > 0 && code == ERR && (fd.revents & POLLHUP))
			return TERM_GONE;
	}
	if (code == ERR || code == KEY_RESIZE)
		return TERM_NONE;
	return key_of(code);
}
