#!/bin/bash
# check-doc-names.sh - the map and the tours name only files and functions that exist.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

bad=0
for page in docs/ARCHITECTURE.md docs/LIFE_OF_A_MALLOC.md docs/WORDS.md docs/CATALOGUE.md docs/INSIDE_THE_COMMAND.md docs/DEBUGGING.md \
	CONTRIBUTING.md tests/README.md src/*/README.md src/*/*/README.md; do
	# words in backquotes: name_with_underscore, file.c, folder/file
	while read -r word; do
		case $word in
		*[*\<]* | *NAME* | *MODULE* | *BEHAVIOUR*) continue ;; # patterns
		*/*)
			compgen -G "$word*" >/dev/null || compgen -G "src/$word*" >/dev/null ||
				compgen -G "tests/$word*" >/dev/null && continue
			;;
		*.[ch] | *.py | *.sh | *.md)
			[[ -z $(find . -path ./build -prune -o -name "$word" -print -quit) ]] || continue
			;;
		*) grep -rqw -- "$word" src include tests tools && continue ;;
		esac
		echo "$page: there is no $word" >&2
		bad=1
	done < <(grep -oE $'\x60[^\x60 ]+\x60' "$page" | tr -d $'\x60' |
		grep -E '^([a-z]+[a-z0-9]*_[a-z0-9_]+|[A-Za-z0-9_./*<>-]+/[A-Za-z0-9_.*<>-]+|[A-Za-z0-9_]+\.(c|h|py|sh|md))$' |
		grep -vE '^/' | sort -u)
done
exit "$bad"
