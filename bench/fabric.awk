# SPDX-License-Identifier: BSD-3-Clause
#
# The table of two ranks in two processes; read with table.awk.

# The fastest raw way for a size; its name is left in raw_way.
function raw_best(bytes, key, parts, way, value, least)
{
	least = raw_way = ""
	for (key in values) {
		split(key, parts, " ")
		way = parts[5]
		if (parts[1] != section || parts[3] != "raw" ||
		    way !~ ("-" bytes "$"))
			continue
		value = median(key)
		if (least == "" || value < least) {
			least = value
			sub(/-[0-9]*$/, "", way)
			raw_way = way
		}
	}
	return least
}

function fabric_goals(bytes, mine, peer)
{
	peer = best(bytes, 1)
	if (bytes == 1024 || mine == "" || peer == "")
		return ""
	return goal("<= 1.05 of the better", mine, mine <= 1.05 * peer)
}

# sign 1: less is better; tail: what else there is to say.
function fabric_row(name, key, sign, raw, tail, mine)
{
	mine = got("vmpi:auto", key)
	printf "%-6s %9s %9s %9s %9s %9s %9s %9s  %s %s %s  %s\n", name,
		number(raw), number(mine), number(got("vmpi:read", key)),
		number(got("vmpi:write", key)),
		number(got("vmpi:pipeline", key)),
		number(got("openmpi", key)), number(got("mpich", key)),
		fine(gain_of(mine, raw, sign)),
		fine(gain_of(mine, got("openmpi", key), sign)),
		fine(gain_of(mine, got("mpich", key), sign)), tail
}

function time_row(name, bytes, raw)
{
	raw = raw_best(bytes)
	fabric_row(name, bytes, 1, raw, raw_way \
		   fabric_goals(bytes, got("vmpi:auto", bytes)))
}

function fine(value)
{
	return value == "" ? "   -" : sprintf("%4.2f", value)
}

# Of the raw ways the faster, with a descriptor to wait for or without.
function raw_rate(raw)
{
	raw = got("raw", "rate")
	return got("raw", "wait+rate") > raw ? got("raw", "wait+rate") : raw
}

function table_fabric()
{
	printf "\nfabric, 2 ranks in 2 processes, TCP over loopback: half " \
		"round trip in ns\n" \
		"%-6s %9s %9s %9s %9s %9s %9s %9s  %s\n", "", "raw", "vmpi",
		"read", "write", "pipeline", "Open MPI", "MPICH",
		"vmpi against raw, Open MPI, MPICH; the raw way"
	time_row("8 B", 8)
	time_row("1 KiB", 1024)
	time_row("64 KiB", 65536)
	time_row("1 MiB", 1048576)
	time_row("4 MiB", 4194304)
	print "messages/s, windows of 64"
	fabric_row("8 B", "window-8", -1, raw_rate())
	fabric_row("1 KiB", "window-1024", -1)
	fabric_row("8 KiB", "window-8192", -1)
	fabric_row("64 KiB", "window-65536", -1)
	print "raw: the fastest of libfabric's ways (name:chunk:in flight), by" \
		" raw_fabric.c.  The\nfigures after the times are ratios; " \
		"above 1 vmpi is ahead."
}
