#!/usr/bin/env bash
# Makes Debian packages in build/packages, in the place of those there: eckart, and where nvcc is found eckart-cuda.
#   tools/package.sh [--preset NAME] [--release N]
# --preset   how they are built: release, which has code for every supported GPU, if none is named
# --release  the packages' Debian revision: 1
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '==> %s\n' "$*"; }
usage() {
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 64
}

preset=release release=1
while (($#)); do
  case $1 in
    --preset) preset=${2:-} ;;
    --release) release=${2:-} ;;
    *) usage ;;
  esac
  (($# > 1)) || usage
  shift 2
done

tools/install-packages.sh dpkg-dev
build=build/packages/$preset
say "building preset $preset"
cmake --preset "$preset" -B "$build" -DECKART_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr -DECKART_PACKAGE_RELEASE="$release"
cmake --build "$build" --parallel "$(nproc)"

say "packing"
rm -rf "$build/cpack" build/packages/*.deb
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$build/cpack"
mv "$build"/cpack/*.deb build/packages/
say "$(ls -sh build/packages/*.deb)"
