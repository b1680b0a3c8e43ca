#!/usr/bin/env bash
# Every script of tools/ says at --help what it does, how it is called, and ends with 0.
set -euo pipefail
cd "$(dirname "$0")/../.."

failed=0
for script in tools/*; do
  [[ -f $script ]] || continue
  if ! text=$("$script" --help 2>&1) || [[ $text != *"${script#tools/}"* ]]; then
    printf '%s --help: %s\n' "$script" "$text" >&2
    failed=1
  fi
done
exit "$failed"
