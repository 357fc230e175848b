# SPDX-License-Identifier: BSD-3-Clause
#
# The tables of one-sided communication; read with table.awk.

function onesided_gain(way, key, name, peer, mine)
{
	mine = got(way, key)
	if (mine == "" || peer == "")
		return "-"
	compared++
	if (mine > peer)
		slower[++slow] = sprintf("%-12s %-26s %9s %9s %6.2fx", \
			way == "vmpi" ? "vmpi, " place : substr(way, 6), key, \
			number(mine), number(peer), peer / mine)
	return ratio(peer / mine)
}

function onesided_row(kind, name, goals, key, peer)
{
	key = kind "-" name
	peer = best(key, 1)
	printf "%-18s %8s %8s %8s %9s %9s %6s %6s %6s%s\n", name,
		number(got("vmpi", key)), number(got("vmpi:nodes", key)),
		number(got("vmpi:processes", key)),
		number(got("openmpi", key)), number(got("mpich", key)),
		onesided_gain("vmpi", key, name, peer),
		onesided_gain("vmpi:nodes", key, name, peer),
		onesided_gain("vmpi:processes", key, name, peer), goals
}

# A row of 8-byte accesses takes a store and 30 ns each.
function onesided_goal(kind, name, mine, store)
{
	mine = got("vmpi", kind "-" name)
	store = got("vmpi", "store-8")
	return store == "" ? "" : \
		goal("<= store + 30", mine, mine <= store + 30)
}

function onesided_head(kind, unit)
{
	printf "\nonesided, 2 ranks %s, MPI_Win_%s: %s\n" \
		"%-18s %8s %8s %8s %9s %9s %6s %6s %6s%s\n", where(),
		kind, unit, "", "vmpi", "nodes", "ranks", "Open MPI", "MPICH",
		"gain", "nodes", "ranks", unit == "ns" ? "  goals" : ""
}

function onesided_kind(kind, names, n, i)
{
	onesided_head(kind, "ns")
	n = split("put-8 put64-8 get-8 get64-8 accumulate-8 accumulate64-8 " \
		"getacc-8 fetch-8 swap-8 put-lock-8 put-fence-8 put-pscw-8 " \
		onesided_sizes("put get accumulate getacc",
			"1024 4096 8192 16384 65536 1048576"), names, " ")
	for (i = 1; i <= n; i++)
		onesided_row(kind, names[i], names[i] ~ /[pg].t64/ ? \
			onesided_goal(kind, names[i]) : "")
}

# Each name with each size.
function onesided_sizes(names, sizes, name, size, n, m, i, k, all)
{
	n = split(names, name, " ")
	m = split(sizes, size, " ")
	for (k = 1; k <= m; k++)
		for (i = 1; i <= n; i++)
			all = all " " name[i] "-" size[k]
	return substr(all, 2)
}

function onesided_speed(way, key, bytes, ns)
{
	ns = got(way, key)
	return ns == "" ? "-" : sprintf("%.0f", 1000 * bytes / ns)
}

# Rows of accesses: what is moved in a time.
function onesided_speeds(kind, names, n, i, key, bytes, peer)
{
	onesided_head(kind, "MB/s")
	n = split(onesided_sizes("put64 get64 both64",
		"1024 4096 8192 16384 65536"), names, " ")
	for (i = 1; i <= n; i++) {
		key = kind "-" names[i]
		bytes = substr(names[i], index(names[i], "-") + 1)
		if (names[i] ~ /^both/)
			bytes *= 2
		peer = best(key, 1)
		printf "%-18s %8s %8s %8s %9s %9s %6s %6s %6s\n", names[i],
			onesided_speed("vmpi", key, bytes),
			onesided_speed("vmpi:nodes", key, bytes),
			onesided_speed("vmpi:processes", key, bytes),
			onesided_speed("openmpi", key, bytes),
			onesided_speed("mpich", key, bytes),
			onesided_gain("vmpi", key, names[i], peer),
			onesided_gain("vmpi:nodes", key, names[i], peer),
			onesided_gain("vmpi:processes", key, names[i], peer)
	}
}

function table_onesided()
{
	onesided_kind("allocate")
	onesided_speeds("allocate")
	onesided_kind("create")
	onesided_speeds("create")
	if (place == "two")
		print "nodes: --nodes 2; ranks: --processes; 64: a flush" \
			" behind 64 accesses, the time of one; both64: of both" \
			" ranks.  A store takes " \
			number(got("vmpi", "store-8")) " ns."
}

# After all tables: what is behind.
function onesided_end(i)
{
	printf "\n"
	for (i = 1; i <= slow; i++)
		print slower[i]
	printf "%d of %d rows are slower than the better peer%s\n", slow,
		compared, goal("none", compared, !slow)
}
