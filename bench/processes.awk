# SPDX-License-Identifier: BSD-3-Clause
#
# The table of two processes of one host; read with table.awk.

# nodes: two node processes; processes: a rank each; ordinary: executables that
# are linked with libvmpi.
function processes_row(name, key, sign, factor, nodes, ranks, peer)
{
	nodes = got("vmpi:nodes", key)
	ranks = got("vmpi:processes", key)
	peer = best(key, sign)
	printf "%-10s %11s %11s %11s %11s %11s %11s %6s %6s%s\n", name,
		number(nodes), number(ranks),
		number(got("vmpi:ordinary", key)), number(got("openmpi", key)),
		number(got("mpich", key)), number(got("vmpi:helped", key)),
		fine(divide(nodes, peer)), fine(divide(ranks, peer)),
		factor == "" || peer == "" ? "" : \
		processes_goal(nodes, factor * peer, factor, sign, "nodes") \
		processes_goal(ranks, factor * peer, factor, sign, "ranks")
}

function processes_goal(mine, most, factor, sign, who)
{
	return goal(who (sign > 0 ? " <= " : " >= ") factor, mine,
		    sign * mine <= sign * most)
}

function table_processes(alone, helped)
{
	printf "\nprocesses, 2 ranks in 2 processes %s: half round trip in ns" \
		"\n%-10s %11s %11s %11s %11s %11s %11s %6s %6s  %s\n", where(), "",
		"nodes", "ranks", "ordinary", "Open MPI", "MPICH", "2 workers", "nodes",
		"ranks", "against the better peer; goals"
	processes_row("8 B", "8", 1, .9)
	processes_row("1 KiB", "1024", 1)
	processes_row("64 KiB", "65536", 1)
	processes_row("1 MiB", "1048576", 1, 1)
	processes_row("stream", "stream", 1)
	print "messages/s, windows of 64"
	processes_row("8 B", "window-8", -1, 1)
	processes_row("1 KiB", "window-1024", -1)
	processes_row("8 KiB", "window-8192", -1)
	processes_row("64 KiB", "window-65536", -1)
	alone = got("vmpi:nodes", "stream")
	helped = got("vmpi:helped", "stream")
	print "nodes: --nodes 2; ranks: --processes; ordinary: these, linked" \
		" with libvmpi; 2 workers: --nodes 2."
	if (alone != "" && helped != "")
		printf "A stream with a second worker in each process takes" \
			" %.2f of one without%s\n", helped / alone,
			goal("<= 1.05", helped, helped <= 1.05 * alone)
}
