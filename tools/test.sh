#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test; the last lines say how long each part took.
#   tools/test.sh                 with CUDA where nvcc is found
#   tools/test.sh --sanitizers    before that, the CPU tests under ASan with UBSan, and under TSan; after it some minutes of
#                                 torture, a hostile inbox and a minute of fuzzing (CI does so)
set -euo pipefail
cd "$(dirname "$0")/.."

times=()  # of what is done
part= part_begin=0
# say TEXT: names the part that begins, and ends the one before.
say() {
  if [[ -n $part ]]; then times+=("$(printf '%2d:%02d  %s' $(((SECONDS - part_begin) / 60)) $(((SECONDS - part_begin) % 60)) "$part")"); fi
  part=$* part_begin=$SECONDS
  printf '==> %s\n' "$*"
}

sanitizers=${CI:-false}
case ${1:-} in
  "") ;;
  --sanitizers) sanitizers=true ;;
  *)
    printf 'usage: %s [--sanitizers]\n' "$0" >&2
    exit 64
    ;;
esac

build_and_test() {
  local preset=$1 jobs
  jobs=$(nproc)
  say "building preset $preset with $jobs jobs"
  cmake --preset "$preset" -DECKART_UNITY_BUILD="$sanitizers"
  cmake --build --preset "$preset" --parallel "$jobs"
  say "testing preset $preset"
  ctest --preset "$preset" --parallel "$((jobs + 1))"  # some wait for a disk, or a second
}

say "installing packages"
# Which check what is installed beside the program, the status page, and the alerts.
tools/install-packages systemd mandoc zsh chromium prometheus python3-numpy python3-scipy python3-pil

main_preset=cpu
if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then main_preset=cuda; fi

presets=("$main_preset")
if [[ $sanitizers == true ]]; then presets=(asan tsan "$main_preset"); fi
for preset in "${presets[@]}"; do build_and_test "$preset"; done
if [[ $sanitizers == true ]]; then
  say "torture"
  tools/crash-test --short --program "build/$main_preset/bin/eckart"
  say "hostile inbox"
  tools/symlink-attack-test --tries 200 --batch 100 --program "build/$main_preset/bin/eckart"
  say "fuzzing"
  tools/fuzz-test --seconds 6 --jobs "$(nproc)"
fi
say "done in $((SECONDS / 60)) min; minutes by part"
printf '%s\n' "${times[@]}"
