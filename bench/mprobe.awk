# SPDX-License-Identifier: BSD-3-Clause
#
# The tables of bench/mprobe; with table.awk, whose functions they use.

# Of locked, polled and outside the best; sign -1: more is better.
function mprobe_other(mpi, key, size, sign, ways, i, value, least)
{
	split("locked polled outside", ways, " ")
	for (i = 1; i <= 3; i++) {
		value = got(mpi, key ways[i] size)
		if (value != "" && (least == "" || sign * value < sign * least))
			least = value
	}
	return least
}

function mprobe_cell(value)
{
	return value == "" ? "-" : number(value / 1000)
}

function mprobe_goals(kind, ours, gain)
{
	mprobe_count[kind " rows"]++
	mprobe_count[kind " fastest"] += ours >= 1
	mprobe_count[kind " thrice"] += gain >= 3
	mprobe_count[kind " peers"] += gain != ""
}

# One library's row; `native`: of the ways of tasks, which.
function mprobe_row(name, mpi, native, key, size, sign, mine, ours, gain, i,
		    ways)
{
	mine = got(mpi, key (native == "" ? "matched" : native) size)
	if (mine == "")
		return
	ours = native == "" ? \
		gain_of(mine, mprobe_other(mpi, key, size, sign), sign) : ""
	gain = mpi == "openmpi" || mpi == "mpich" ? "" : \
		gain_of(mine, best(key "matched" size, sign), sign)
	printf "%-8s %-9s %9s", mprobe_size, name, mprobe_cell(mine)
	mprobe_size = ""
	split("locked polled outside unsafe", ways, " ")
	for (i = 1; i <= 4; i++)
		printf " %8s", native != "" ? "" : \
			mprobe_cell(got(mpi, key ways[i] size))
	printf " %7s %7s\n", native == "" ? ratio(ours) : "",
		gain == "" ? "" : ratio(gain)
	if (mpi == "vmpi" && native == "")
		mprobe_goals(key, ours, gain)
}

function mprobe_rows(text, key, size, sign)
{
	mprobe_size = text
	mprobe_row("vmpi", "vmpi", "", key, size, sign)
	mprobe_row("  tasks", "native", "matched", key, size, sign)
	mprobe_row("  borrow", "native", "borrowed", key, size, sign)
	mprobe_row("Open MPI", "openmpi", "", key, size, sign)
	mprobe_row("MPICH", "mpich", "", key, size, sign)
}

function mprobe_head(text)
{
	printf "\n%s\n%-8s %-9s %9s %8s %8s %8s %8s %7s %7s\n", text, "", "",
		"matched", "locked", "polled", "outside", "unsafe", "ours",
		"gain"
}

function mprobe_verdict(key, rows)
{
	rows = mprobe_count[key " rows"]
	if (rows)
		printf "vmpi: matched is the fastest of its safe ways in %d " \
			"of %d rows; >= 3x its better\npeer in %d of %d.\n",
			mprobe_count[key " fastest"], rows,
			mprobe_count[key " thrice"],
			mprobe_count[key " peers"]
}

function mprobe_caught(mpis, kinds, i, k, all)
{
	printf "\nmprobe: messages that came to a receiver which was promised" \
		" another one\n%-10s %14s %14s %14s %14s\n", "", "matched,",
		"probe + recv,", "matched,", "probe + recv,"
	printf "%-10s %14s %14s %14s %14s\n", "", "held", "held", "free", "free"
	split("vmpi openmpi mpich", mpis, " ")
	split("held-matched held-unsafe free-matched free-unsafe", kinds, " ")
	for (i = 1; i <= 3; i++) {
		if (got(mpis[i], "held-matched-messages") == "")
			continue
		printf "%-10s", mprobe_titles[mpis[i]]
		for (k = 1; k <= 4; k++) {
			all = got(mpis[i], kinds[k] "-messages")
			printf " %14s", all == "" ? "-" : \
				got(mpis[i], kinds[k] "-wrong") " of " all
		}
		printf "\n"
	}
}

function table_mprobe(patterns, sizes, trips, text, i, j, count, pair)
{
	mprobe_titles["vmpi"] = "vmpi"
	mprobe_titles["openmpi"] = "Open MPI"
	mprobe_titles["mpich"] = "MPICH"
	split("directed any", patterns, " ")
	count = split("1 64 1024 8192 65536", sizes, " ")
	for (i = 1; i <= 2; i++) {
		mprobe_head("mprobe, " patterns[i] ": 8 ranks send to one " \
			"with 8 receivers: thousand messages/s")
		for (j = 1; j <= count; j++)
			mprobe_rows(sizes[j] " B", "rate-" patterns[i] "-",
				    "-" sizes[j], -1)
		mprobe_verdict("rate-" patterns[i] "-")
	}
	count = split("1-1 4-1 8-1 4-64 4-1024 4-8192 4-65536", trips, " ")
	for (i = 1; i <= 2; i++) {
		mprobe_head("mprobe, " patterns[i] ": t threads on each of " \
			"two ranks: round trip in us")
		for (j = 1; j <= count; j++) {
			split(trips[j], pair, "-")
			text = "t=" pair[1] " " \
				(pair[2] >= 1024 ? pair[2] / 1024 "K" : pair[2])
			mprobe_rows(text, "trip-" patterns[i] "-",
				    "-" trips[j], 1)
		}
		mprobe_verdict("trip-" patterns[i] "-")
	}
	mprobe_caught()
}
