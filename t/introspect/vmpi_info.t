#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpi_info: what it shows, in which form, and how it answers mistakes.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"

info=$VMPI_BUILD/vmpi_info
[ -x "$info" ] || skip_all "vmpi_info is not built"
XDG_CONFIG_HOME=$scratch
VMPI_CONFIG=/dev/null
export XDG_CONFIG_HOME VMPI_CONFIG
tab=$(printf '\t')

# says STATUS NAME COMMAND...: its output, errors included, is in $said.
says() {
	tap_want=$1
	tap_name=$2
	shift 2
	said=$("$@" 2>&1)
	is $? "$tap_want" "$tap_name"
}

says 0 "vmpi_info works without arguments" "$info"
like "$said" '^version +[0-9]+\.[0-9]+\.[0-9]+$' "the version is a fact"
like "$said" '^stack guard +[a-z]' "so is the guard below stacks"
like "$(
	ulimit -S -s 4096
	"$info"
)" '^stack of a rank +4096 KiB of few ranks, 1024 KiB of 8192' \
	"and what ulimit -s gives ranks"
like "$said" '^clock +.*, [0-9.]+ ns per tick \(.+\)$' \
	"so is where times come from, and why"
like "$said" "^user file +$scratch/vmpi.conf \\(does not exist\\)$" \
	"so is the user file, which need not be there"
like "$said" '^sched_stack_bytes +8M bytes +default$' \
	"control variables have value and source"

like "$said" '^counters +(none|[A-Z_]+ \()' "so is what can be counted"
says 0 "the source of times can be chosen" \
	env VMPI_SCHED_CLOCK=monotonic "$info"
like "$said" '^clock +CLOCK_MONOTONIC, 1 ns per tick \(asked for by' \
	"then the facts say so"
says 0 "so can the means of counting" env VMPI_SCHED_COUNTERS=usage "$info"
like "$said" '^counters +PAGE_FAULTS \(getrusage\) .*; not available: CYCLES ' \
	"which may leave little"

says 0 "a variable is shown by name" "$info" sched_stack_bytes
like "$said" '^sched_stack_bytes = 8M bytes  \(default\)$' "with its value"
like "$said" 'VMPI_SCHED_STACK_BYTES' "and its environment variable"
says 0 "and by pattern" "$info" 'sched_*' --names
like "$said" '^sched_workers$' "a pattern fits control variables"
like "$said" '^sched_switches$' "and performance variables"
is "$(echo "$said" | grep -cv ^sched_)" 0 "and nothing else"

echo 'sched_stack_bytes = 64K # small' >"$scratch/vmpi.conf"
says 0 "a user file is read" "$info" --parseable sched_stack_bytes
is "$(echo "$said" | cut -f 1-11)" "cvar${tab}sched_stack_bytes${tab}65536${tab}8388608${tab}16384${tab}1099511627776${tab}bytes${tab}size${tab}startup${tab}user file${tab}$scratch/vmpi.conf:1" \
	"--parseable tells all, with the place of the value"
says 0 "the environment is read" \
	env VMPI_SCHED_STACK_BYTES=32K "$info" sched_stack_bytes
like "$said" '^sched_stack_bytes = 32K bytes  \(environment\)$' \
	"and comes before the file"

echo 'sched_stack_bites = 64K' >"$scratch/vmpi.conf"
says 2 "a mistake in a file ends with status 2" "$info" sched_bind
like "$said" "^vmpi: $scratch/vmpi.conf:1: .* did you mean sched_stack_bytes" \
	"and one line with its place"
like "$said" '^sched_bind = on' "after the answer"
rm "$scratch/vmpi.conf"

says 2 "an unknown name ends with status 2" "$info" sched_stack_bites
is "$said" "vmpi_info: no variable is called 'sched_stack_bites'; did you mean sched_stack_bytes?" \
	"and one line with the nearest name"
says 2 "an unknown option ends with status 2" "$info" --cvras
is "$said" "vmpi_info: --cvras: no such option; did you mean --cvars?" \
	"and one line with the nearest option"
says 2 "a value where none belongs is a mistake" "$info" --all=yes
is "$said" "vmpi_info: --all=yes: this option takes no value" "and is said in one line"
if [ -c /dev/full ]; then
	"$info" >/dev/full 2>"$scratch/err"
	is $? 1 "output that cannot be written is an error"
fi

says 0 "--names prints names" "$info" --names
none "$(echo "$said" | grep -Ev '^[a-z]+_[a-z_]+$')" "and nothing else"
none "$(echo "$said" | sort | uniq -d)" "each once"
none "$("$info" --parseable --cvars | awk -F'\t' 'NF != 14 || $12 == ""')" \
	"a control variable has 14 fields and a description"
none "$("$info" --parseable --pvars | awk -F'\t' 'NF != 9 || $6 == ""')" \
	"a performance variable has 9 fields and a description"
categories=$("$info" --categories --names)
none "$("$info" --parseable --cvars | cut -f 14 | sort -u |
	grep -Fxv "$categories")" "it is in a category that there is"
none "$("$info" --parseable --pvars | cut -f 8 | sort -u |
	grep -Fxv "$categories")" "so is a performance variable"
is "$("$info" --parseable --categories | cut -f 5,6 | tr '\t ' '\n\n' |
	grep . | sort)" "$("$info" --names | sort)" \
	"each variable is in one category"
says 0 "--categories lists them" "$info" --categories
like "$said" '^rndv, in p2p$' "with what they are part of"
says 0 "--category chooses one" "$info" --category=p2p --cvars --names
like "$said" '^core_eager_limit$' "with its variables"
like "$said" '^core_rndv_protocol$' "and those of the categories below"
none "$(echo "$said" | grep -E '^(sched_bind|fabric_credits)$')" \
	"and no others"
says 2 "an unknown category ends with status 2" "$info" --category=p3p
is "$said" "vmpi_info: no category is called 'p3p'; did you mean p2p?" \
	"and one line with the nearest"
says 2 "a variable is looked for in the category" \
	"$info" --category=coll sched_bind
is "$said" "vmpi_info: no variable of category coll is called 'sched_bind'; it is in another one" \
	"and the answer says so"
says 0 "--fabric asks for networks" "$info" --fabric --parseable
is "$(echo "$said" | grep -c "^provider${tab}one host${tab}.*${tab}taken${tab}")" 1 \
	"one of them is taken on one host"
like "$said" "^provider${tab}one host${tab}[^${tab}]*${tab}[^${tab}]*${tab}127.0.0.1${tab}taken${tab}" \
	"on the loopback interface"
says 0 "--fabric is for people too" "$info" --fabric
like "$said" '^  \* [a-z]+' "with an asterisk at what is taken"
says 1 "a provider that is not there ends with status 1" \
	env VMPI_FABRIC_PROVIDER=none "$info" --fabric
like "$said" "^vmpi: fabric_provider = none: libfabric offers no such provider" \
	"and one line with what was asked for"
says 0 "--calls prints calls" "$info" --calls --parseable
like "$said" "^call${tab}MPI_Send${tab}full$" "MPI_Send is one of them"
none "$(echo "$said" | sort | uniq -d)" "each once"

says 0 "--man prints a manual page" "$info" --man
printf '%s\n' "$said" >"$scratch/vmpi-variables.7"
none "$("$info" --names | while read -r name; do
	grep -q "^\.It Va $name " "$scratch/vmpi-variables.7" || echo "$name"
done)" "with every variable"
is "$(env VMPI_SCHED_STACK_BYTES=32K "$info" --man)" "$said" \
	"the same whatever is set"
if command -v mandoc >/dev/null 2>&1; then
	none "$(cd "$scratch" &&
		mandoc -T lint -W warning vmpi-variables.7 2>&1)" \
		"which is clean"
else
	skip 1 "mandoc is not installed"
fi
done_testing
