#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, and those named as arguments.
# Does nothing where all of them are there.
#   tools/install-packages.sh [PACKAGE...]
set -euo pipefail
if [[ ${1:-} == -* ]]; then
  sed -n '2,4s/^# \{0,1\}//p' "$0"
  exit 64
fi

say() { printf '==> %s\n' "$*"; }

packages=(
  build-essential cmake ninja-build pkg-config ccache
  libopencv-dev # the only package with OpenCV's CMake files
  libjpeg62-turbo-dev libspng-dev zlib1g-dev
  libyaml-cpp-dev libspdlog-dev libconcurrentqueue-dev libcli11-dev nlohmann-json3-dev libmimalloc-dev
  libsqlite3-dev sqlite3 libmd-dev libsystemd-dev python3
  libcpp-httplib-dev prometheus-cpp-dev
  libopenblas-dev liblapacke-dev
  libgtest-dev libgmock-dev
  clang-14 libclang-rt-14-dev zlib1g-dev # for tools/fuzz alone
  "$@"
)

# For the status page. Not where they came from elsewhere: Debian's would not go with them.
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)

if ! command -v dpkg-query >/dev/null; then
  say "this is no Debian system: nothing installed; needed are what Debian calls ${packages[*]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  say "all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if ((EUID != 0)); then as_root=(sudo); fi
say "installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -qq -y --no-install-recommends "${missing[@]}"
