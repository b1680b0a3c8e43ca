#!/usr/bin/env bash
# Installs the missing packages, builds eckart and runs all tests. The last lines show the time of each part.
# Usage: tools/test.sh [--ci]
#   --ci  run all that CI runs: also tools/check-code, the presets asan and tsan, and short forms of crash-test,
#         cluster-test, symlink-attack-test and fuzz-test. The tests of components, and some of the program, then run only with the sanitizers.
#         Default: only if the environment variable CI is "true"
# Builds for this machine, in the build folder of tools/quickstart.sh: CUDA if there is an NVIDIA GPU and nvcc, otherwise
# without. With --ci, builds CUDA if there is nvcc. With --ci all output is shown; otherwise it is in log files.
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

source tools/common/steps.sh
source tools/common/build.sh
export STEPS_VERBOSE=$ci
jobs=$(nproc)

# Prints the CPU time of all commands so far, in seconds.
cpu_seconds() {
  local stat=()
  read -ra stat </proc/$$/stat
  echo $(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}
times=() # of the finished parts
part='' part_begin=0 part_cpu=0
# Ends the part that runs.
end_part() {
  if [[ -z $part ]]; then return; fi
  times+=("$(printf '%4d  %5d  %s' $((SECONDS - part_begin)) $(($(cpu_seconds) - part_cpu)) "$part")")
  part=''
}
# begin TEXT: ends the previous part and starts the part TEXT.
begin() {
  end_part
  part=$* part_begin=$SECONDS part_cpu=$(cpu_seconds)
  say "$*"
}
# At the exit, also after a failure.
print_times() {
  end_part
  say "seconds, and CPU seconds, by part:"
  printf '%s\n' "${times[@]}"
}
trap print_times EXIT

build_and_test() { # PRESET OPTION...
  local preset=$1 log=build/test-$1.log
  shift
  mkdir -p build
  : >"$log"
  begin "building preset $preset; log: $log"
  configure "$preset" "$log" -DECKART_TESTS=ON "$@"
  logged "$log" cmake --build --preset "$preset" --parallel "$jobs"
  begin "testing preset $preset"
  # Many tests wait for a disk, a process or a time limit.
  logged "$log" ctest --preset "$preset" --parallel "$((2 * jobs))"
  if [[ $ci != true ]]; then
    grep -E '^[0-9]+% tests passed' "$log"
    printf '%d tests were skipped; why: %s\n' "$(grep -c '(Skipped)$' "$log")" "$log"
  fi
}

begin "installing packages"
# The tests of the installed files, the status page, the alerts, numerics, the notebook and other readers of PNG need these.
packages=(systemd mandoc zsh chromium prometheus python3-numpy python3-scipy python3-pil
  jupyter-nbconvert python3-ipykernel python3-matplotlib pngcheck netpbm imagemagick)
# Installing these starts servers. Without them, the tests that need them are skipped.
if [[ $ci == true ]]; then packages+=(rabbitmq-server slurmctld slurmd slurm-client munge); fi
tools/install-packages "${packages[@]}"

if [[ $ci == true ]]; then
  begin "checking code"
  tools/check-code
  build_and_test asan -DECKART_UNITY_BUILD=ON
  build_and_test tsan -DECKART_UNITY_BUILD=ON
  # Uses the flags of the preset release, but for fewer GPU architectures, and optimizes less the kernels and the code around the
  # backends and codecs.
  preset=cpu
  if has_nvcc; then preset=cuda; fi
  build_and_test "$preset" -DECKART_UNITY_BUILD=ON -DECKART_SHARDED_TESTS=ON -DECKART_SANITIZED_TESTS=OFF -DECKART_BENCHMARKS=OFF \
    -DECKART_FAST_COMPILATION=ON -DECKART_STATUS_PAGE_CHARTS=ON
else
  choose_preset
  say "$cuda_note"
  build_and_test "$preset" "${options[@]}" -DECKART_STATUS_PAGE_CHARTS=ON --new -DECKART_UNITY_BUILD=ON
fi

if [[ $ci == true ]]; then
  begin "crash test"
  crash_test=(tools/crash-test --short --program "build/$preset/bin/eckart")
  parts=(kills stops)
  if ((EUID == 0)); then parts+=(full-disk power-cut); fi
  pids=()
  for faults in faults-once faults-repeated; do # each command uses one core
    "${crash_test[@]}" "$faults" &
    pids+=($!)
  done
  "${crash_test[@]}" "${parts[@]}"
  for pid in "${pids[@]}"; do wait "$pid"; done
  begin "cluster test"
  parts=(shards pairs rabbitmq)
  if ((EUID == 0)); then parts+=(slurm prolog); fi
  tools/cluster-test --short --program "build/$preset/bin/eckart" "${parts[@]}"
  begin "symlink attack test"
  tools/symlink-attack-test --tries 100 --batch 50 --program "build/$preset/bin/eckart"
  begin "fuzz test"
  tools/fuzz-test --programs build/asan/bin --seconds 4 --jobs "$jobs"
fi
say "done"
