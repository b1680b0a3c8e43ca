#!/usr/bin/env bash
# Installs the missing packages, builds eckart and runs all tests. The last lines show the time of each part.
# Usage: tools/test.sh [--ci]
#   --ci  run all that CI runs: also tools/check-code, the presets asan and tsan, and short forms of crash-test,
#         symlink-attack-test and fuzz-test; default: only if the environment variable CI is "true"
# The preset is cuda if nvcc is found, otherwise cpu. Clones of this repository share the cache of ccache.
# Exit codes: 0 all tests passed; 64 wrong usage; otherwise that of the command that failed.
set -euo pipefail
self=$(realpath "$0")
help() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$self"; }
cd "$(dirname "$0")/.."

ci=${CI:-false}
case ${1:-} in
  "") ;;
  --help | -h) help && exit 0 ;;
  --ci) ci=true ;;
  *) help >&2 && exit 64 ;;
esac

export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
jobs=$(nproc)

# Prints the CPU time of all commands so far, in seconds.
cpu_seconds() {
  local stat=()
  read -ra stat </proc/$$/stat
  echo $(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}
times=() # of the finished parts
part='' part_begin=0 part_cpu=0
# say TEXT: ends the previous part and starts the part TEXT.
say() {
  if [[ -n $part ]]; then
    times+=("$(printf '%4d  %5d  %s' $((SECONDS - part_begin)) $(($(cpu_seconds) - part_cpu)) "$part")")
  fi
  part=$* part_begin=$SECONDS part_cpu=$(cpu_seconds)
  printf '==> %s\n' "$*"
}

build_and_test() {
  local preset=$1
  say "building preset $preset"
  cmake --preset "$preset" -DECKART_UNITY_BUILD="$ci"
  cmake --build --preset "$preset" --parallel "$jobs"
  say "testing preset $preset"
  ctest --preset "$preset" --parallel "$((2 * jobs))" # many tests wait for a disk, a process or a time limit
}

say "installing packages"
# The tests of the installed files, the status page and the alerts need these.
tools/install-packages systemd mandoc zsh chromium prometheus python3-numpy python3-scipy python3-pil

if [[ $ci == true ]]; then
  say "checking code"
  tools/check-code
  build_and_test asan
  build_and_test tsan
fi

# Uses the flags of the preset release, but for fewer GPU architectures.
main_preset=cpu
if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then main_preset=cuda; fi
build_and_test "$main_preset"

if [[ $ci == true ]]; then
  say "crash test"
  crash_test=(tools/crash-test --short --program "build/$main_preset/bin/eckart")
  parts=(kills stops)
  if ((EUID == 0)); then parts+=(full-disk power-cut); fi
  "${crash_test[@]}" faults & # each of the two commands uses one core
  "${crash_test[@]}" "${parts[@]}"
  wait $!
  say "symlink attack test"
  tools/symlink-attack-test --tries 100 --batch 50 --program "build/$main_preset/bin/eckart"
  say "fuzz test"
  tools/fuzz-test --seconds 4 --jobs "$jobs"
fi
say "done in $SECONDS s; seconds, and CPU seconds, by part:"
printf '%s\n' "${times[@]}"
