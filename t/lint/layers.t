#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Layers: a file includes only what lib/LAYERS allows its folder, and a .c file
# includes its own header first, so that every header proves itself complete.
: "${VMPI_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$VMPI_SRC/t/tap.sh"
cd "$VMPI_SRC" || exit 1

# Prints each wrong include of folder $1, layer $2, allowed layers $3.
includes() {
	find "$1" -name '*.[chS]' -o -name '*.cc' | sort |
	while read -r file; do
		awk -v file="$file" -v own="$2" -v allowed=" $2 $3 " '
		/^[ \t]*#[ \t]*include[ \t]*"/ {
			split($0, part, "\"")
			name = part[2]
			slash = index(name, "/")
			layer = slash ? substr(name, 1, slash - 1) : ""
			if (name == "vmpi.h" || name == "vmpi_policy.h")
				next
			if (name == "mpi.h" && own == "mpi")
				next
			if (!slash && file ~ /^bin\//)
				next
			if (slash && index(allowed, " " layer " "))
				next
			printf "%s:%d: \"%s\"\n", file, NR, name
		}
		/^[ \t]*#[ \t]*include[ \t]*<mpi\.h>/ && own != "mpi" {
			printf "%s:%d: <mpi.h>\n", file, NR
		}' "$file"
	done
}

# Prints the .c files of folder $1 whose first include is not their own header.
own_first() {
	find "$1" -name '*.c' | sort | while read -r file; do
		header=${file%.c}.h
		[ -f "$header" ] || continue
		first=$(sed -n 's/^#[ \t]*include[ \t]*\(["<].*[">]\).*/\1/p' \
			"$file" | head -n 1)
		[ "$first" = "\"${header#lib/}\"" ] ||
			echo "$file: first includes $first"
	done
}

known=" "
while IFS=: read -r layer allowed; do
	case $layer in
	'' | '#'*) continue ;;
	bin/*) folder=$layer own=${layer#bin/} ;;
	*) folder=lib/$layer own=$layer ;;
	esac
	for lower in $allowed; do
		case $known in
		*" $lower "*) ;;
		*) fail "$lower comes before $layer in lib/LAYERS" ;;
		esac
	done
	known="$known$layer "
	[ -d "$folder" ] || continue
	none "$(includes "$folder" "$own" "$(echo $allowed)")" \
		"$folder includes only itself${allowed:+ and$allowed}"
	case $folder in
	lib/*) none "$(own_first "$folder")" \
		"$folder: each file includes its own header first" ;;
	esac
done <lib/LAYERS

for folder in lib/*/ bin/*/; do
	folder=${folder%/}
	case $known in
	*" ${folder#lib/} "*) ;;
	*) find "$folder" -name '*.[ch]' | grep -q . &&
		fail "lib/LAYERS has a line for $folder" ;;
	esac
done
done_testing
