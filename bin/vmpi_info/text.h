/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for people and for programs.
 *
 * For people: paragraphs that fit a terminal.  For programs: lines of fields
 * with tabs between them; no field contains a tab or a newline.
 */
#ifndef VMPI_INFO_TEXT_H
#define VMPI_INFO_TEXT_H

enum form {
	FORM_BRIEF,	/* one line each, for people */
	FORM_FULL,	/* all there is, for people */
	FORM_PARSEABLE, /* all there is, for programs */
	FORM_NAMES,	/* names alone */
};

/* Prints a paragraph behind indent columns, with a full stop at its end. */
void text_paragraph(int indent, const char *text);

/* Prints a paragraph with the words as they are, without a full stop. */
void text_words(int indent, const char *words);

/* Prints one line of the NULL-terminated fields. */
void text_fields(const char *first, ...) __attribute__((sentinel));

#endif
