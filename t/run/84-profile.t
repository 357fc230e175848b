#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vmpirun --profile: exact counts by function and section, per rank and in total,
# in one process and several, of jobs that fail; what is refused.  No times are
# looked at.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
. "$VMPI_SRC/t/run/image.sh"
need python3
unset MPIEXEC_TIMEOUT
TMPDIR=$scratch
export TMPDIR
build known known.c

job() {
	timeout 60 "$vmpirun" "$@" </dev/null >out 2>&1
}

cat >ask.py <<'END'
# ask.py calls CALL KEY | rank R CALL SECTION KEY | sums
import json, sys
profile = json.load(open("profile.json"))
what = sys.argv[1]
key = sys.argv[-1]
def number(row):
    return row[key] if key in row else row["values"][key]
if what == "calls":
    print(sum(number(c) for c in profile["calls"] if c["call"] == sys.argv[2]))
elif what == "rank":
    r, call, section = int(sys.argv[2]), sys.argv[3], sys.argv[4]
    print(sum(number(row) for rank in profile["by_rank"] if rank["rank"] == r
              for row in rank["rows"]
              if row["call"] == call and "/".join(row["section"]) == section))
else:
    good = True
    for var in [v["name"] for v in profile["variables"]]:
        good &= (sum(c["values"][var] for c in profile["calls"]) ==
                 sum(row["values"][var] for rank in profile["by_rank"]
                     for row in rank["rows"]))
    print(len(profile["by_rank"]), good)
END
ask() {
	python3 ask.py "$@"
}

# Of 4 ranks, whatever processes they are in.
check_counts() {
	is "$(ask calls MPI_Send calls) $(ask calls MPI_Barrier calls)" \
		"40 4" "$1: calls of all ranks"
	is "$(ask calls MPI_Allreduce calls) $(ask calls MPI_Wait calls)" \
		"8 40" "$1: all of them"
	for rank in 0 1 2 3; do
		is "$(ask rank $rank MPI_Send ring calls) $(ask rank $rank \
			MPI_Barrier ring/rest calls) $(ask rank $rank \
			MPI_Allreduce '' calls)" "10 1 2" \
			"$1: rank $rank, in their sections"
		is "$(ask rank $rank MPI_Send ring core_sends) $(ask rank \
			$rank MPI_Send ring core_sent_bytes)" "10 10000" \
			"$1: rank $rank, what they have sent"
	done
	is "$(ask sums)" "4 True" "$1: functions and ranks have the same sums"
}

job -n 4 --workers 2 --profile --profile-json profile.json ./known
is $? 0 "a job with a profile ends well" || diag "$(cat out)"
check_counts "one process"
like "$(cat out)" "^vmpirun: profile of 4 ranks: " "it is printed"
like "$(cat out)" "^MPI_Send  *40 " "with functions"
like "$(cat out)" "^core_sent_bytes  *39.1 KiB " "and variables"
like "$(cat out)" "^  rest  *4 " "and sections"
none "$(awk 'length > 80' out)" "no line has more than 80 columns"
none "$(ls -d vmpi-profile.* 2>/dev/null)" "its files are gone"

job -n 4 --nodes 2 --workers 1 --profile --profile-json profile.json ./known
is $? 0 "in two processes too" || diag "$(cat out)"
check_counts "two processes"

job -n 4 --workers 1 --profile='core_sends*,core_meetings' \
	--profile-json profile.json ./known
is "$? $(ask calls MPI_Send core_sends)" "0 40" "names and patterns" ||
	diag "$(cat out)"
ok "a pattern takes what fits" \
	test "$(python3 -c 'import json
print(len(json.load(open("profile.json"))["variables"]))')" -gt 3

job -n 4 --workers 1 --profile --profile-json profile.json ./known fail
is $? 7 "a job that fails keeps its code"
is "$(ask calls MPI_Send calls)" 40 "and has a profile"

job -n 2 --profile=core_sent_byte ./known
is $? 2 "an unknown variable is refused"
like "$(cat out)" "did you mean core_sent_bytes" \
	"with the nearest one"
job -n 2 --profile='core_zzz*' ./known
is $? 2 "so is a pattern that fits none"
job -n 2 --profile=core_unexpected_max ./known
is $? 2 "and a variable that does not only grow"
like "$(cat out)" "core_unexpected_max cannot be profiled" "which it says"
job -n 2 --profile= ./known
is $? 2 "and no variable at all"
job -n 2 --profile-json profile.json ./known
is $? 2 "--profile-json alone"
like "$(cat out)" "needs --profile" "which it says"
job -n 2 --profile --profile-json no/such/dir ./known
is $? 2 "a file that cannot be written"
none "$(ls -d vmpi-profile.* 2>/dev/null)" "nothing stays"
done_testing
