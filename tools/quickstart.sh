#!/usr/bin/env bash
# Installs the missing packages, builds eckart, makes sample images and reconstructs them.
# Builds for the CPU, and for the NVIDIA GPU of this machine if there is one and nvcc is installed.
# Usage: tools/quickstart.sh
# Exit codes: 0 success; 64 wrong usage; otherwise that of the command that failed.
set -euo pipefail
self=$(realpath "$0")
help() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$self"; }
if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  help
  exit 0
fi
cd "$(dirname "$0")/.."
if (($#)); then
  help >&2
  exit 64
fi
source tools/common/steps.sh
source tools/common/build.sh

log=build/quickstart.log
in=build/quickstart/in
out=build/quickstart/out
mkdir -p build
: >"$log"

tools/install-packages --no-tests --no-charts

choose_preset
say "$cuda_note"
charts=ON
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
  charts=OFF
elif [[ ! -f build/$preset/CMakeCache.txt ]] && ! timeout 20 npm ping >/dev/null 2>&1; then
  say "npm cannot reach its registry: the status page has no charts"
  charts=OFF
fi
targets=(eckart)
if [[ $preset == cuda ]]; then targets+=(eckart_cuda eckart_bench_kernels); fi

say "building build/$preset/bin/eckart; log: $log"
# tools/test.sh continues in the same folder.
configure "$preset" "$log" "${options[@]}" --new -DECKART_TESTS=OFF -DECKART_UNITY_BUILD=ON -DECKART_STATUS_PAGE_CHARTS=$charts
logged "$log" cmake --build --preset "$preset" --parallel "$(nproc)" --target "${targets[@]}"
ln -sfn "$preset/bin" build/bin
eckart=build/bin/eckart

say "making sample images in $in"
logged "$log" "$eckart" synth -o "$in" --kind phantom,texture --count 8 --size 256,480x640
logged "$log" "$eckart" synth -o "$in/color" --kind texture --count 4 --size 480x640 --channels 3

say "reconstructing them at ranks 5, 20 and 50"
"$eckart" run "$in" -o "$out" --rank 5,20,50

say "done; compare $in/color/texture_480x640_0001.png with"
for rank in 5 20 50; do printf '      %s\n' "$out/color/texture_480x640_0001.k$rank.png"; done
printf '    for your own images:\n      export PATH=$PWD/build/bin:$PATH\n      eckart run FOLDER -o RESULTS --rank 20\n'
