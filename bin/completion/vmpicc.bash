# bash completion for vmpicc, vmpicxx and vmpifort: their options and the compiler's
_vmpicc()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local options='-show -showme -showme: -compile-info -link-info -cc= -cxx= -fc='

	COMPREPLY=()
	if [[ $cur == : ]]; then
		prev=: cur=
	fi
	if [[ $prev == : && ${COMP_WORDS[*]} == *-showme\ :* ]]; then
		COMPREPLY=($(compgen -W 'command compile link incdirs libdirs
			libs version help' -- "$cur"))
	elif [[ $cur == -* ]]; then
		# gcc lists its options; clang by another name, with a tab
		# before what they are for.
		COMPREPLY=($(compgen -W "$options
			$("$1" --completion="$cur" 2>/dev/null ||
			"$1" --autocomplete="$cur" 2>/dev/null | cut -f1)" \
			-- "$cur"))
		[[ ${COMPREPLY[*]} != *[=:] ]] || compopt -o nospace
	fi
}
complete -o bashdefault -o default -F _vmpicc vmpicc vmpicxx vmpic++ vmpifort
