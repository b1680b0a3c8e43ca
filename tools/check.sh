#!/usr/bin/env bash
# Checks format (clang-format) and code (clang-tidy); prints what is wrong, and changes nothing.
#   tools/check.sh                    every file
#   tools/check.sh --changed [BASE]   clang-tidy only for files that differ from BASE (HEAD)
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '==> %s\n' "$*"; }

base=
case ${1:-} in
  "") ;;
  --changed) base=${2:-HEAD} ;;
  *)
    printf 'usage: %s [--changed [BASE]]\n' "$0" >&2
    exit 64
    ;;
esac

# The sources that the cpu preset compiles: clang-tidy needs their flags. The CUDA room is not among them.
compiled_sources() {
  sed -n "s|^ *\"file\": \"$PWD/\(.*\)\",\{0,1\}$|\1|p" build/cpu/compile_commands.json | sort -u
}

changed_files() {
  git diff --name-only --diff-filter=d "$base"
  git ls-files --others --exclude-standard
}

tools/install-packages clang-format clang-tidy
failed=0

say "clang-format: src and tests"
find src tests -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  xargs -0 clang-format --dry-run -Werror || failed=1

cmake --preset cpu >/dev/null
if [[ -n $base ]]; then
  mapfile -t sources < <(comm -12 <(compiled_sources) <(changed_files | sort -u))
else
  mapfile -t sources < <(compiled_sources)
fi
say "clang-tidy: ${#sources[@]} files"
if ((${#sources[@]} > 0)); then
  printf '%s\0' "${sources[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p build/cpu || failed=1
fi

if ((failed)); then
  say "checks failed: fix the errors above"
  exit 1
fi
say "all checks passed"
