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

function fabric_goals(bytes, mine, raw, goals)
{
	if (raw == "" || mine == "")
		return ""
	if (bytes == 8)
		goals = goal("<= raw + 300", mine, mine <= raw + 300) \
			goal("ahead of Open MPI", mine,
			     got("openmpi", 8) != "" &&
			     mine < got("openmpi", 8))
	if (bytes >= 1048576)
		goals = goal(">= 95 % of raw", mine, raw >= .95 * mine) \
			goal("ahead of MPICH", mine, got("mpich", bytes) != "" &&
			     mine < got("mpich", bytes))
	return goals
}

function fabric_row(name, bytes, raw, mine)
{
	raw = raw_best(bytes)
	mine = got("vmpi:auto", bytes)
	printf "%-6s %9s %9s %9s %9s %9s %9s %9s  %s %s %s  %s%s\n", name,
		number(raw), number(mine), number(got("vmpi:read", bytes)),
		number(got("vmpi:write", bytes)),
		number(got("vmpi:pipeline", bytes)),
		number(got("openmpi", bytes)), number(got("mpich", bytes)),
		fine(divide(raw, mine)),
		fine(divide(got("openmpi", bytes), mine)),
		fine(divide(got("mpich", bytes), mine)), raw_way,
		fabric_goals(bytes, mine, raw)
}

function fine(value)
{
	return value == "" ? "   -" : sprintf("%4.2f", value)
}

function rate_row(mine, raw)
{
	mine = got("vmpi:auto", "rate")
	raw = got("raw", "rate")
	if (got("raw", "wait+rate") > raw)
		raw = got("raw", "wait+rate")
	printf "%-6s %9s %9s %9s %9s %9s %9s %9s  %s %s %s\n", "rate",
		number(raw), number(mine),
		number(got("vmpi:read", "rate")),
		number(got("vmpi:write", "rate")),
		number(got("vmpi:pipeline", "rate")),
		number(got("openmpi", "rate")), number(got("mpich", "rate")),
		fine(divide(mine, raw)),
		fine(divide(mine, got("openmpi", "rate"))),
		fine(divide(mine, got("mpich", "rate")))
}

function table_fabric()
{
	printf "\nfabric, 2 ranks in 2 processes, TCP over loopback: half " \
		"round trip in ns; 8 B msg/s\n" \
		"%-6s %9s %9s %9s %9s %9s %9s %9s  %s\n", "", "raw", "vmpi",
		"read", "write", "pipeline", "Open MPI", "MPICH",
		"vmpi against raw, Open MPI, MPICH; the raw way"
	fabric_row("8 B", 8)
	fabric_row("1 KiB", 1024)
	fabric_row("64 KiB", 65536)
	fabric_row("1 MiB", 1048576)
	fabric_row("4 MiB", 4194304)
	rate_row()
	print "raw: the fastest of libfabric's ways (name:chunk:in flight), by" \
		" raw_fabric.c.  The\nfigures after the times are ratios; " \
		"above 1 vmpi is ahead."
}
