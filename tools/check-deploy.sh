#!/usr/bin/env bash
# Checks what is installed beside the program, without installing it: that systemd takes the units, how far the service is
# shut in, that manual pages and completion have no mistakes of form. Ends with 77 where a tool for that is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

most_exposed=1.5 # of 10, as systemd-analyze security counts

say() { printf '==> %s\n' "$*"; }
failed=0 skipped=0
wrong() {
  printf 'check-deploy: %s\n' "$*" >&2
  failed=1
}
has() { # COMMAND PACKAGE
  if command -v "$1" >/dev/null; then return 0; fi
  say "skipped: there is no $1 here (Debian's package $2)"
  skipped=1
  return 1
}

work=$(mktemp -d "${TMPDIR:-/tmp}/eckart-deploy.XXXXXX")
trap 'rm -rf "$work"' EXIT

verified() { systemd-analyze verify --man=no "$@" 2>&1 | grep -F "$work" || true; }

check_units() {
  local unit found score
  for unit in eckart.service eckart@.service; do # with a program that is there
    sed 's|/usr/bin/eckart|/bin/true|' "deploy/systemd/$unit" >"$work/$unit"
  done
  found=$(verified "$work/eckart.service" "$work/eckart@.service")
  [[ ! $found ]] || wrong "$found"
  sed 's/^WatchdogSec=.*/WatchdogSec=often/' "$work/eckart.service" >"$work/broken.service"
  [[ $(verified "$work/broken.service") == *often* ]] || wrong "systemd-analyze verify says nothing of a wrong line"

  # With a port in the place of a socket.
  cp "$work/eckart.service" "$work/port.service"
  sed -n '/^\[Service\]/,$p' deploy/systemd/loopback.conf >>"$work/port.service"
  found=$(verified "$work/port.service")
  [[ ! $found ]] || wrong "$found"

  for unit in eckart.service eckart@.service port.service; do
    score=$(systemd-analyze security --offline=true --no-pager "$work/$unit" |
      sed -n 's/.*Overall exposure.*: \([0-9.]*\).*/\1/p')
    say "$unit: an exposure of $score"
    awk -v score="$score" -v most="$most_exposed" 'BEGIN { exit !(score != "" && score <= most) }' ||
      wrong "$unit: that is more than $most_exposed"
  done

  diff <(sed 's/ of %i$//; s/in the folders$/in folders/; s/%i\.yaml/eckart.yaml/; s/eckart-%i/eckart/; s/%i\.log/throughput.log/' \
    deploy/systemd/eckart@.service) \
    deploy/systemd/eckart.service || wrong "eckart@.service is not eckart.service with another configuration"
}

check_user() { # in a root of its own
  local root=$work/root deploy=$PWD/deploy
  mkdir -p "$root/etc"
  systemd-sysusers --root="$root" "$deploy/sysusers.d/eckart.conf" &>"$work/said" || wrong "$(cat "$work/said")"
  grep -q '^eckart:.*:/var/lib/eckart:/usr/sbin/nologin$' "$root/etc/passwd" || wrong "sysusers.d makes no user eckart"
  systemd-tmpfiles --root="$root" --create "$deploy/tmpfiles.d/eckart.conf" || wrong "tmpfiles.d/eckart.conf"
  [[ -d $root/var/lib/eckart ]] || wrong "tmpfiles.d makes no /var/lib/eckart"
}

check_sysctl() {
  local key
  while IFS=' =' read -r key _; do
    [[ -e /proc/sys/${key//.//} ]] || wrong "sysctl.d/60-eckart.conf: this kernel knows no $key"
  done < <(grep '^[a-z]' deploy/sysctl.d/60-eckart.conf)
}

say "units"
if has systemd-analyze systemd; then check_units; fi

say "user, folders and limits"
if ((EUID != 0)); then
  say "skipped: sysusers.d and tmpfiles.d want root"
elif has systemd-sysusers systemd; then
  check_user
fi
check_sysctl

say "manual pages"
if has groff groff; then
  found=$(groff -man -ww -z -Tutf8 docs/man/*.[15] 2>&1) || true
  [[ ! $found ]] || wrong "$found"
fi
if has mandoc mandoc; then
  found=$(mandoc -Tlint -Wstyle docs/man/*.[15]) || wrong "$found"
fi

say "completion"
bash -n deploy/completion/eckart.bash || wrong "completion/eckart.bash"
if has zsh zsh; then zsh -n deploy/completion/_eckart || wrong "completion/_eckart"; fi

((failed == 0)) || exit 1
((skipped == 0)) || exit 77
