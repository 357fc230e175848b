#compdef vmpicc vmpicxx vmpic++ vmpifort
# zsh completion for vmpicc, vmpicxx and vmpifort: their options and gcc's
local -a options
options=(-show -showme -showme:{command,compile,link,incdirs,libdirs,libs,version,help}
	-compile-info -link-info -cc= -cxx= -fc=)
[[ $PREFIX != -* ]] || compadd -a options
service=gcc _gcc
