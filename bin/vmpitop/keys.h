/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys that are no characters, as terminal.h gives them and view.h takes them.
 */
#ifndef VMPITOP_KEYS_H
#define VMPITOP_KEYS_H

enum view_key {
	KEY_OF_UP = 0x10000,
	KEY_OF_DOWN,
	KEY_OF_LEFT,
	KEY_OF_RIGHT,
	KEY_OF_PAGE_UP,
	KEY_OF_PAGE_DOWN,
	KEY_OF_HOME,
	KEY_OF_END,
	KEY_OF_ENTER,
	KEY_OF_BACKSPACE,
	KEY_OF_ESCAPE,
	KEY_OF_HELP,
	KEY_OF_QUIT,
};

#endif
