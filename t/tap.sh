# SPDX-License-Identifier: BSD-3-Clause
#
# TAP for shell tests, in the words of tap.h:
#
#	. "$VMPI_SRC/t/tap.sh"
#	plan 2				(or done_testing at the end)
#	ok "true is true" true		(name, then a command)
#	is "$(echo hi)" hi "echo says it"
#
# Each check returns whether it held: is $? 0 "it ran" || diag "$output".
#
# $scratch is a directory of the test's own, removed at its end.

# comm and sort agree on the order of letters.
export LC_ALL=C

tap_run=0
tap_failed=0
tap_plan=
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

plan() {
	tap_plan=$1
	echo "1..$1"
}

done_testing() {
	[ -n "$tap_plan" ] || echo "1..$tap_run"
	[ $tap_failed -eq 0 ]
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

pass() {
	tap_run=$((tap_run + 1))
	echo "ok $tap_run - $*"
}

fail() {
	tap_run=$((tap_run + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_run - $*"
}

# ok NAME COMMAND...: what the command prints becomes a diagnostic if it fails.
ok() {
	tap_name=$1
	shift
	if "$@" >"$scratch/.ok" 2>&1; then
		pass "$tap_name"
	else
		fail "$tap_name"
		sed 's/^/# /' "$scratch/.ok"
		return 1
	fi
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3"
		diag "got '$1', want '$2'"
		return 1
	fi
}

# like TEXT REGEX NAME: some line of TEXT matches the extended REGEX.
like() {
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		pass "$3"
	else
		fail "$3"
		diag "no line matches '$2' in: $1"
		return 1
	fi
}

# none LIST NAME: passes when LIST is empty, else shows it.
none() {
	if [ -z "$1" ]; then
		pass "$2"
	else
		fail "$2"
		diag "$1"
		return 1
	fi
}

skip() {
	tap_skips=$1
	shift
	while [ "$tap_skips" -gt 0 ]; do
		tap_run=$((tap_run + 1))
		tap_skips=$((tap_skips - 1))
		echo "ok $tap_run # SKIP $*"
	done
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# need TOOL...: skips the whole test when one is missing.
need() {
	for tap_tool; do
		command -v "$tap_tool" >/dev/null 2>&1 ||
			skip_all "$tap_tool is not installed"
	done
}

# still PATTERN: the processes whose command line matches (pgrep -f) and which do
# not end within 20 seconds.  One that was killed may take a moment.
still() {
	tap_looks=0
	while [ $tap_looks -lt 200 ] && pgrep -f "$1" >/dev/null; do
		sleep 0.1
		tap_looks=$((tap_looks + 1))
	done
	pgrep -f "$1"
}

# What a program is compiled with that uses the libraries of this build.
# shellcheck disable=SC2034
case ${VMPI_SANITIZE:-none} in
none) sanitize= ;;
*) sanitize=-fsanitize=$VMPI_SANITIZE ;;
esac
