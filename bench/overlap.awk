# SPDX-License-Identifier: BSD-3-Clause
#
# Draws the table of overlap.sh as an SVG: a panel for each setup, protocol and
# pair of calls.  To the right goes the computing; upwards the bounds of the rank
# in percent, a band for who has the nonblocking call (the sender blue, the
# receiver orange), and its mean MPI_Wait as a dashed line, to 25 ms.

function x(ms) { return left + 110 * ms / (most ? most : 1) }
function y(share) { return top + 70 - 70 * share }

function band(side, colour,   forth, back, wait, i, at, v) {
	for (i = 1; i <= count; i++) {
		at = panel SUBSEP i
		split(bounds[at, side], v, /\.\./)
		forth = forth " " x(ms[at]) "," y(v[2] / 100)
		back = " " x(ms[at]) "," y(v[1] / 100) back
		v[3] = waits[at, side] / 25
		wait = wait " " x(ms[at]) "," y(v[3] < 1 ? v[3] : 1)
	}
	printf "<polygon points=\"%s%s\" fill=\"%s\" fill-opacity=\".35\" " \
		"stroke=\"%s\"/>\n", forth, back, colour, colour
	printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" " \
		"stroke-dasharray=\"4 3\"/>\n", wait, colour
}

function label(at_x, at_y, words) {
	printf "<text x=\"%d\" y=\"%d\">%s</text>\n", at_x, at_y, words
}

# "1.0.. 2.0" may be two words.
function words(from,   i, line) {
	line = $0
	gsub(/\.\. +/, "..", line)
	return split(line, field, / +/)
}

NR > 1 {
	words()
	if (!($1 in row_of)) {
		row_of[$1] = rows++
		row_name[rows - 1] = $1
	}
	column = $2 " " $3
	if (!(column in column_of)) {
		column_of[column] = columns++
		column_name[columns - 1] = column
	}
	cell = row_of[$1] SUBSEP column_of[column]
	n = cell SUBSEP ++points[cell]
	ms[n] = field[4]
	bounds[n, "send"] = field[5]
	waits[n, "send"] = field[7]
	bounds[n, "receive"] = field[8]
	waits[n, "receive"] = field[10]
	if (field[4] > most)
		most = field[4]
}

END {
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" " \
		"height=\"%d\" font-family=\"sans-serif\" font-size=\"10\">\n",
		60 + 130 * columns, 40 + 100 * rows
	print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
	for (c = 0; c < columns; c++)
		label(60 + 130 * c, 14, column_name[c])
	for (r = 0; r < rows; r++)
		label(4, 60 + 100 * r, row_name[r])
	label(60, 34 + 100 * rows, "to the right: computing, 0 to " most \
		" ms; bands: minimum to maximum overlap of the sender (blue), " \
		"the receiver (orange), to 100 %; dashed: MPI_Wait, to 25 ms")
	for (r = 0; r < rows; r++)
		for (c = 0; c < columns; c++) {
			panel = r SUBSEP c
			count = points[panel]
			left = 60 + 130 * c
			top = 24 + 100 * r
			printf "<rect x=\"%d\" y=\"%d\" width=\"110\" " \
				"height=\"70\" fill=\"none\" " \
				"stroke=\"#999\"/>\n", left, top
			if (!count)
				continue
			if (column_name[c] ~ / i.$/)
				band("send", "#1f77b4")
			if (column_name[c] ~ /i$/)
				band("receive", "#ff7f0e")
		}
	print "</svg>"
}
