#!/usr/bin/env bash
# Checks `--help` of every tool: its name, a usage line, its exit codes, and a description of each option of its parser.
set -euo pipefail
cd "$(dirname "$0")/../.."

failed=0
fail() { # TOOL WHAT
  printf '%s --help: %s\n' "$1" "$2" >&2
  failed=1
}

options_of() { # prints the options that a tool parses: labels of a case in bash, keys of a dict or arguments of argparse in Python
  { grep -oE '^ *-{1,2}[a-z-]+( \| -{1,2}[a-z-]+)*\)|"--[a-z-]+":|add_argument\("--[a-z-]+"' "$1" || true; } |
    grep -oE -e '--[a-z][a-z-]*' | grep -vx -e --help | sort -u || true
}

describes() { # TEXT OPTION: whether a line begins with the option, and its description follows there or in the next line
  local line_end=$'\n'
  [[ $line_end$1 =~ $line_end\ +$2(\ [^\ $line_end]+)*(\ \ +|$line_end\ {8,})[^][\ -] ]]
}

describes $'usage\n  --keep DIR  work in DIR' --keep || fail describes "does not find a description"
if describes $'usage\n  --keep DIR\n  --seed N  a seed' --keep; then fail describes "finds a description that is missing"; fi

options=0
for tool in tools/*; do
  [[ -f $tool ]] || continue
  if ! text=$("$tool" --help 2>&1); then
    fail "$tool" "$text"
    continue
  fi
  [[ $text == *"${tool#tools/}"* ]] || fail "$tool" "no name of the tool"
  [[ ${text,,} == *usage:* ]] || fail "$tool" "no usage line"
  [[ $text == *"Exit codes:"* ]] || fail "$tool" "no exit codes"
  while read -r option; do
    options=$((options + 1))
    describes "$text" "$option" || fail "$tool" "no description of $option"
  done < <(options_of "$tool")
done
((options > 40)) || fail "tools/*" "only $options options found"
exit "$failed"
