#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Completion in bash and zsh, as the tables of options make it.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${VMPI_BUILD:=$VMPI_SRC/build}"
. "$VMPI_SRC/t/tap.sh"
[ -x "$VMPI_BUILD/vmpirun" ] || skip_all "vmpirun is not built"
cd "$scratch" || exit 1
PATH=$VMPI_BUILD:$PATH
mkdir folder
touch file

# completed WORD...: what bash offers for the last word, sorted.
cat >ask.bash <<'END'
for script in "$scripts"/*.bash; do
	. "$script"
done
_command_offset() { COMPREPLY=("command at $1"); }
compopt() { :; }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
$(complete -p "$1" | sed 's/.*-F \([^ ]*\) .*/\1/') "$1" "${@: -1}"
printf '%s\n' "${COMPREPLY[@]}" | sort
END
completed() {
	scripts=$scratch/scripts bash ask.bash "$@"
}

if command -v bash >/dev/null; then
	mkdir scripts
	for program in vmpirun vmpi_info vmpistat vmpitop; do
		[ -x "$VMPI_BUILD/$program" ] || continue
		$program --completion=bash >scripts/$program.bash
	done
	cp "$VMPI_SRC/bin/completion/vmpicc.bash" scripts

	is "$(completed vmpirun --ba)" "--balance" "the name of an option"
	for program in vmpirun vmpi_info vmpistat vmpitop; do
		[ -x "$VMPI_BUILD/$program" ] || continue
		completed $program -- >offered
		none "$($program --help | sed -n 's/^ *\(-., \)\{0,1\}\(--[-a-z]*\).*/\2/p' |
			sort -u | comm -23 - offered)" \
			"$program: every option of its help is offered"
	done
	is "$(completed vmpirun --map "")" "block
cyclic" "words that an option takes"
	is "$(completed vmpirun --map = cy)" cyclic "behind = too"
	is "$(completed vmpirun -map cy)" cyclic "and with one dash"
	is "$(completed vmpirun --tune "" | tr '\n' ' ')" "all eager pool rndv " \
		"the policies are those that are built in"
	is "$(completed vmpirun --output f)" folder "a directory"
	is "$(completed vmpirun --overlap = f)" folder \
		"of an option that needs no value"
	like "$(completed vmpirun --overlap folde)" '^$' \
		"which the next word is not"
	is "$(completed vmpirun --set sched_work)" "sched_workers=" "a variable"
	is "$(completed vmpirun -n 4 --map block ./prog --m)" \
		"command at 5" "the words of the program are its own"
	is "$(completed vmpirun --np = 4 -l ./prog x)" "command at 5" \
		"behind = too"
	is "$(completed vmpirun bas | grep -x bash | uniq)" bash "a program"
	is "$(completed vmpistat --js)" --json "vmpistat"
	is "$(completed vmpicc -showme : inc)" incdirs "vmpicc"
	is "$(completed vmpicxx -link-)" -link-info "vmpicxx"
	if vmpicc --completion=-fno-semantic-i >/dev/null 2>&1; then
		is "$(completed vmpicc -fno-semantic-i)" \
			-fno-semantic-interposition "options of the compiler"
	else
		skip 1 "the compiler does not list its options"
	fi
else
	skip_all "bash is not installed"
fi
vmpirun --completion=fish >out 2>err
is "$? $(cat err)" \
	"2 vmpirun: --completion fish: bash or zsh is needed" "another shell"

if command -v zsh >/dev/null; then
	# The specifications as _arguments gets them.
	cat >ask.zsh <<'END'
emulate -L zsh
_arguments() { print -rl -- "$@"; }
. "$1"
END
	for program in vmpirun vmpi_info vmpistat vmpitop; do
		[ -x "$VMPI_BUILD/$program" ] || continue
		$program --completion=zsh >_$program
		zsh -f ask.zsh ./_$program >out 2>err
		is "$? $(cat err)" "0 " "zsh reads the script of $program"
	done
	zsh -f ask.zsh ./_vmpirun >out
	like "$(cat out)" '^\(-n --np\)-n\+\[Start N ranks.*\]:N:$' \
		"an option with a short name"
	like "$(cat out)" '^\(-n --np\)--np=\[' "and its long one"
	like "$(cat out)" '^--map=.*:HOW:\(block cyclic\)$' "words"
	ok "the script of vmpicc" zsh -n "$VMPI_SRC/bin/completion/vmpicc.zsh"
else
	skip 8 "zsh is not installed"
fi
done_testing
