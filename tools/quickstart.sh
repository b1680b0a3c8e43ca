#!/usr/bin/env bash
# Installs the missing packages, builds eckart, makes sample images and reconstructs them.
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

say() { printf '==> %s\n' "$*"; }

eckart=build/release/bin/eckart
in=build/quickstart/in
out=build/quickstart/out

tools/install-packages

say "building $eckart"
cmake --preset release -DECKART_TESTS=OFF
cmake --build --preset release --parallel "$(nproc)"

say "making sample images in $in"
"$eckart" synth -o "$in" --kind phantom,texture --count 8 --size 256,480x640
"$eckart" synth -o "$in/color" --kind texture --count 4 --size 480x640 --channels 3

say "reconstructing them at ranks 5, 20 and 50"
"$eckart" run "$in" -o "$out" --rank 5,20,50

say "done: compare $in/color/texture_480x640_0001.png with"
for rank in 5 20 50; do say "  $out/color/texture_480x640_0001.k$rank.png"; done
say "for your own images: $eckart run FOLDER -o RESULTS --rank 20"
