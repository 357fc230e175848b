#compdef vmpicc vmpicxx vmpic++
# zsh completion for vmpicc and vmpicxx: their options and gcc's
local -a options
options=(-show -showme -showme:{command,compile,link,incdirs,libdirs,libs,version,help}
	-compile-info -link-info -cc= -cxx=)
[[ $PREFIX != -* ]] || compadd -a options
service=gcc _gcc
