# SPDX-License-Identifier: BSD-3-Clause
#
# Tables of medians.  Reads the raw file twice (first for the fastest cache
# line); -v section= says which table.  Lines of the raw file:
#	SECTION PLACE MPI LINE-BEFORE LINE-AFTER KEY VALUE
# where the lines are what a cache line took from core to core just before and
# after the run, or "-".
#
# On virtual machines two cores are near or far, and that changes while one
# looks.  Near is what is within twice the fastest line of the run; runs during
# which it changed are left out.

function state_of(before, after)
{
	if (before == "-")
		return "-"
	if (before <= 2 * fastest && after <= 2 * fastest)
		return "near"
	if (before > 2 * fastest && after > 2 * fastest)
		return "far"
	return "changed"
}

function median(key, n, i, j, t, a)
{
	n = split(values[key], a, " ")
	if (n == 0)
		return ""
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) {
			t = a[j]
			a[j] = a[j - 1]
			a[j - 1] = t
		}
	return n % 2 ? a[(n + 1) / 2] + 0 : (a[n / 2] + a[n / 2 + 1]) / 2
}

function limit(key)
{
	return median("limits - - - " key)
}

# A value of MPI `mpi` in the current table.
function got(mpi, key)
{
	return median(section " " place " " mpi " " state " " key)
}

function number(value)
{
	if (value == "")
		return "-"
	if (value >= 1e6)
		return sprintf("%.0f", value)
	return sprintf(value < 100 ? "%.1f" : "%.0f", value)
}

function ratio(value)
{
	return value == "" ? "-" : sprintf(value < 10 ? "%.1fx" : "%.0fx", value)
}

function divide(a, b)
{
	return a == "" || b == "" || b == 0 ? "" : a / b
}

# The gain of `mine` over `other`; sign -1: more is better.
function gain_of(mine, other, sign)
{
	return sign > 0 ? divide(other, mine) : divide(mine, other)
}

# The better of the peers; sign -1: more is better.
function best(key, sign, a, b)
{
	a = got("openmpi", key)
	b = got("mpich", key)
	if (a == "" || b == "")
		return a == "" ? b : a
	return sign * a < sign * b ? a : b
}

# The worse of the two.
function worst(key, a, b)
{
	a = got("openmpi", key)
	b = got("mpich", key)
	return a == "" || (b != "" && b > a) ? b : a
}

function goal(text, value, holds)
{
	return value == "" ? "" : "  " text ": " (holds ? "met" : "missed")
}

function has_rows(key)
{
	for (key in values)
		if (index(key, section " " place " ") == 1 &&
		    index(key, " " state " "))
			return 1
	return 0
}

function where()
{
	if (place == "one")
		return "on one core"
	return "on two cores" (state == "far" ? ", which are far apart" : "") \
		" (a cache line takes " number(median("line " state)) \
		" ns one way)"
}

function row(name, key, sign, lim, goals, mine, peer)
{
	mine = got("vmpi", key)
	peer = best(key, sign)
	printf "%-10s %11s %11s %11s %7s %11s%s\n", name, number(mine),
		number(got("openmpi", key)), number(got("mpich", key)),
		ratio(gain_of(mine, peer, sign)),
		number(lim), goals
}

function head(what)
{
	printf "\n%s\n%-10s %11s %11s %11s %7s %11s  %s\n", what, "", "vmpi",
		"Open MPI", "MPICH", "gain", "limit", "goals"
}

function small_goals(mine, line, peer)
{
	if (place == "one")
		return goal("<= 45 ns", mine, mine <= 45)
	line = median("line " state)
	peer = best("8", 1)
	return (state == "far" ? "" : \
		goal("<= line + 60", mine, mine <= line + 60)) \
		(peer == "" ? "" : \
		 goal("<= 0.75 of the better", mine, mine <= .75 * peer))
}

function large_goals(mine, copy, least)
{
	least = place == "one" ? 95 : 75
	return goal(">= " least " % of memcpy", mine,
		    copy >= least / 100 * mine) \
		(place == "one" ? "" : goal(">= 3x both", mine,
		 (got("openmpi", "1048576") == "" ||
		  got("openmpi", "1048576") >= 3 * mine) && \
		 (got("mpich", "1048576") == "" ||
		  got("mpich", "1048576") >= 3 * mine)))
}

function bytes_row(name, bytes, goals)
{
	row(name, bytes, 1, place == "one" ? limit("copy-" bytes) : \
		got("limit", "across-" bytes), goals)
}

# Messages per second in windows of 64.
function window_row(name, bytes, least, key, mine, peer, goals)
{
	key = "window-" bytes
	mine = got("vmpi", key)
	peer = best(key, -1)
	if (least)
		goals = goal(">= " least " M/s", mine, mine >= least * 1e6)
	if (bytes <= 8192 && peer != "")
		goals = goals goal("ahead of both", mine, mine > peer)
	row(name, key, -1, "", goals)
}

function table_pingpong()
{
	head("pingpong, 2 ranks " where() ": half round trip in ns")
	row("8 B", "8", 1, place == "one" ? limit("switch-16") : \
		median("line " state), small_goals(got("vmpi", "8")))
	bytes_row("1 KiB", "1024")
	bytes_row("64 KiB", "65536")
	bytes_row("1 MiB", "1048576", large_goals(got("vmpi", "1048576"),
						  limit("copy-1048576")))
	row("stream", "stream", 1, "")
	print "messages/s, windows of 64"
	window_row("8 B", 8, place == "one" ? 25 : 20)
	window_row("1 KiB", 1024)
	window_row("8 KiB", 8192)
	window_row("64 KiB", 65536)
	print "stream: 4 B, one way, no answers"
	if (place == "one") {
		print "limit: a bare switch (16 contexts); memcpy()"
		return
	}
	print "limit: the cache line; memcpy() of what the other core has" \
		" copied (on one core\n1 MiB takes " \
		number(limit("copy-1048576")) " ns).  With a line for each" \
		" direction 8 B take " number(got("limit", "slot")) " ns."
}

# Beside a program that computes.
function busy_row(name, key, sign, mine, peer)
{
	mine = got("vmpi", key)
	peer = best(key, sign)
	row(name, key, sign, "", peer == "" ? "" : \
	    goal("ahead of both", mine, sign * mine < sign * peer))
}

function table_busy()
{
	head("busy, 2 ranks on two cores, beside a program that computes: " \
		"half round trip in ns")
	busy_row("8 B", "8", 1)
	busy_row("1 KiB", "1024", 1)
	busy_row("64 KiB", "65536", 1)
	busy_row("1 MiB", "1048576", 1)
	print "messages/s, windows of 64"
	busy_row("8 B", "window-8", -1)
	busy_row("8 KiB", "window-8192", -1)
}

function match_row(kind, n, key, mine, goals)
{
	key = kind "-" n
	mine = got("vmpi", key)
	goals = "  vmpi is at " ratio(divide(mine, got("vmpi", kind "-1"))) \
		" of N = 1"
	if (kind == "posted" && n == 10000)
		goals = goals goal("(<= 2x)", mine,
				   mine <= 2 * got("vmpi", kind "-1"))
	row("N = " n, key, 1, "", goals)
}

function table_match(kinds, texts, counts, i, j)
{
	split("posted unexpected wildcard", kinds, " ")
	texts[1] = "behind N posted receives"
	texts[2] = "beside N unexpected messages"
	texts[3] = texts[2] ", receive from any source"
	split("0 1 10 100 1000 10000", counts, " ")
	for (i = 1; i <= 3; i++) {
		head("match, 8 B " texts[i] ", 2 ranks " where() \
			": half round trip in ns")
		for (j = 1; j <= 6; j++)
			match_row(kinds[i], counts[j])
	}
}

function table_switch(counts, i, n, plain, image)
{
	printf "\nswitch, N ranks that yield on one core: ns per switch\n" \
		"%-10s %9s %9s %9s %9s %9s\n%-10s %9s %9s %9s %9s %9s\n", "",
		"", "one", "copy of", "a copy", "per rank", "", "bare",
		"no clock", "clock", "no clock", "clock"
	split("2 16 64 256 1024", counts, " ")
	for (i = 1; i <= 5; i++) {
		n = counts[i]
		plain = got("vmpi", "plain-1-" n)
		image = got("vmpi", "image-1-" n)
		printf "%-10s %9s %9s %9s %9s %9s%s\n", "N = " n,
			number(limit("switch-" n)),
			number(got("vmpi", "plain-0-" n)), number(plain),
			number(got("vmpi", "image-0-" n)), number(image),
			goal("<= 30 ns with clock, one", plain, plain <= 30) \
			goal("per rank", image, image <= 30)
	}
	printf "Two processes on one core hand over by sched_yield() in %s ns" \
		".\n", number(limit("handoff"))
}

function start_goals(n, wall)
{
	if (n == 1)
		return goal("<= 20 ms", wall, wall <= 20)
	return n == 4096 ? goal("<= 1500 ms", wall, wall <= 1500) : ""
}

function per_rank(mpi, n, kib)
{
	kib = got(mpi, "kib-" n)
	return kib == "" ? "" : kib / n
}

function table_start(counts, i, n, own, mine)
{
	split("1 64 256 1024 4096", counts, " ")
	head("start: N ranks, Init, Barrier, Finalize, all cores: wall in ms")
	for (i = 1; i <= 5; i++) {
		n = counts[i]
		row("N = " n, "wall-" n, 1, "", start_goals(n, got("vmpi",
			"wall-" n)))
	}
	own = got("vmpi", "own")
	printf "\nmemory (PSS) in KiB per rank, of it %d the program's own\n" \
		"%-10s %11s %11s %11s %7s\n", own, "", "vmpi", "Open MPI",
		"MPICH", "gain"
	for (i = 1; i <= 5; i++) {
		n = counts[i]
		for (mpi in titles)
			if ((mine = per_rank(mpi, n)) != "")
				values[section " " place " " mpi " " state \
					" rank-" n] = mine
		mine = per_rank("vmpi", n)
		printf "%-10s %11s %11s %11s %7s%s\n", "N = " n, number(mine),
			number(per_rank("openmpi", n)),
			number(per_rank("mpich", n)),
			ratio(divide(best("rank-" n, 1), mine)),
			n == 4096 ? goal("<= 40 KiB beyond its own", mine,
					 mine - own <= 40) : ""
	}
}

function us(ns)
{
	if (ns == "")
		return "-"
	if (ns < 0)
		return "memory"
	return sprintf(ns < 9995 ? "%.2f" : ns < 99950 ? "%.1f" : "%.0f",
		       ns / 1000)
}

# One size of a collective: vmpi, the better peer, gain.
function coll_cell(name, bytes, ranks, key, mine, peer, gain)
{
	key = name "-" bytes "-" ranks
	mine = got("vmpi", key)
	peer = best(key, 1)
	if (mine == "" || mine < 0 || peer < 0)
		peer = ""
	gain = divide(peer, mine)
	if (gain != "") {
		compared++
		if (gain < 1)
			slower[++slow] = sprintf("%-34s %9s %9s %6.2fx", \
				name " " bytes " B, " ranks " on " place, \
				us(mine), us(peer), gain)
	}
	return sprintf(" %8s %8s %6s", us(mine), us(peer), ratio(gain))
}

function table_coll(counts, i, j, b, n)
{
	n = split("2 16 64 256 1024", counts, " ")
	for (i = 1; i <= n; i++) {
		if (!((place, counts[i]) in measured))
			continue
		printf "\ncoll, %d ranks on %s core%s: us; the better peer; " \
			"gain\n%-21s %23s %24s %24s\n", counts[i], place,
			place == "one" ? "" : "s", "", "8 B", "1 KiB", "1 MiB"
		for (j = 1; j <= colls; j++)
			printf "%-21s%s%s%s\n", coll[j],
				coll_cell(coll[j], 8, counts[i]),
				coll_cell(coll[j], 1024, counts[i]),
				coll_cell(coll[j], 1048576, counts[i])
	}
}

function coll_goal(text, key, most, ns)
{
	ns = got("vmpi", key)
	if (ns != "")
		printf "%s of 64 ranks on one core: %s us%s\n", text, us(ns),
			goal("<= " most " us", ns, ns <= 1000 * most)
}

# After all tables: what the project has set itself.
function coll_end(i)
{
	printf "\n-: not measured in time, or one of these: the others above " \
		"64 ranks, MPICH on\none core.  memory: the buffers would " \
		"need too much.\n\n"
	if (slow)
		printf "%-34s %9s %9s %7s\n", "Slower than the better peer:",
			"vmpi", "peer", "gain"
	for (i = 1; i <= slow; i++)
		print slower[i]
	printf "%d of %d rows are slower than the better peer.\n", slow,
		compared
	place = "one"
	state = "-"
	coll_goal("Barrier", "Barrier-8-64", 1.9)
	coll_goal("Allreduce of 8 B", "Allreduce-8-64", 3.8)
	coll_growth(got("vmpi", "Barrier-8-64"),
		    median("growth one vmpi - Barrier-8-4096"))
}

# A rank's share of a barrier of 4096 against one of 64.
function coll_growth(few, many)
{
	if (few == "" || many == "")
		return
	few /= 64
	many /= 4096
	printf "Barrier of 4096 ranks on one core: %.0f ns a rank, %.0f of 64" \
		"%s\n", many, few,
		goal("<= 2.5 times", many, many <= 2.5 * few)
}

# Which collectives there are, in their order, and how many ranks where.
function coll_note(key, parts)
{
	split(key, parts, "-")
	measured[$2, parts[3]] = 1
	if (!(parts[1] in known)) {
		known[parts[1]] = 1
		coll[++colls] = parts[1]
	}
}

BEGIN {
	titles["vmpi"] = titles["openmpi"] = titles["mpich"] = 1
	fastest = 1e9
}

NR == FNR {
	for (i = 4; i <= 5; i++)
		if ($i != "-" && $i < fastest)
			fastest = $i
	next
}

{
	state = state_of($4, $5)
	if (state == "changed") {
		if ($1 == section && !(($4, $5) in counted)) {
			counted[$4, $5] = 1
			changed++
		}
		next
	}
	if ($1 == "coll")
		coll_note($6)
	key = $1 " " $2 " " $3 " " state " " $6
	values[key] = values[key] " " $7
	if (state != "-" && $1 == section)
		values["line " state] = values["line " state] " " $4 " " $5
}

END {
	place = "any"
	state = "-"
	if (section == "start")
		table_start()
	if (section == "mprobe")
		table_mprobe()
	place = "one"
	if (section == "switch")
		table_switch()
	if (section == "coll") {
		table_coll()
		place = "two"
		table_coll()
		coll_end()
		exit
	}
	if (section == "fabric" || section == "busy") {
		place = "two"
		if (section == "busy")
			table_busy()
		else
			table_fabric()
		exit
	}
	for (i = 1; i <= 3; i++) {
		place = i == 1 ? "one" : "two"
		state = i == 1 ? "-" : i == 2 ? "near" : "far"
		if (!has_rows())
			continue
		if (section == "pingpong")
			table_pingpong()
		else if (section == "match")
			table_match()
		else if (section == "processes" && place == "two")
			table_processes()
		else if (section == "onesided")
			table_onesided()
	}
	if (section == "onesided")
		onesided_end()
	if (changed)
		printf "%d runs are left out: the time of a cache line was " \
			"not the same before and after.\n", changed
}
