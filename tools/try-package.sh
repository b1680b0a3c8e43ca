#!/usr/bin/env bash
# Installs the packages on a Debian of its own, under its own systemd, and shows that the service does there what it should:
# install, first folder, reload, kill -9, watchdog, upgrade, remove, purge. Wants root, systemd-nspawn and debootstrap; minutes.
#   tools/try-package.sh [--preset NAME] [--tree DIR] [--keep]
# --preset  how the packages are built, as in tools/package.sh
# --tree    the Debian to begin with, which is copied; made by debootstrap where there is none: build/try-package/tree
# --keep    leaves the copy in build/try-package/root
# Ends with 0 if all was as it should be, and with 77 where a tool is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '==> %4d s: %s\n' "$SECONDS" "$*"; }
die() {
  printf 'try-package: %s\n' "$*" >&2
  exit 1
}

preset=release base=build/try-package/tree keep=false
while (($#)); do
  case $1 in
    --preset | --tree)
      (($# > 1)) || die "$1 wants a value"
      if [[ $1 == --preset ]]; then preset=$2; else base=$2; fi
      shift
      ;;
    --keep) keep=true ;;
    *)
      sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
      exit 64
      ;;
  esac
  shift
done
for tool in systemd-nspawn debootstrap nsenter; do
  command -v "$tool" >/dev/null || { say "skipped: there is no $tool here (Debian: systemd-container debootstrap)" && exit 77; }
done
((EUID == 0)) || { say "skipped: it wants root" && exit 77; }

work=build/try-package root=build/try-package/root log=build/try-package/console.log
nspawn='' leader=''
clean_up() {
  if [[ $leader ]]; then nsenter -a -t "$leader" systemctl poweroff --force 2>/dev/null || true; fi
  if [[ $nspawn ]]; then
    for _ in {1..100}; do
      kill -0 "$nspawn" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$nspawn" 2>/dev/null || true
  fi
  $keep || rm -rf "$root"
}
trap clean_up EXIT

# --- the Debian, with what the packages depend on

make_packages() {
  local release
  rm -rf "$work/packages" && mkdir "$work/packages"
  for release in 2 1; do
    tools/package.sh --preset "$preset" --release "$release" >"$work/package.log" 2>&1 ||
      die "tools/package.sh fails: $(tail -5 "$work/package.log")"
    cp build/packages/*.deb "$work/packages/"
  done
}

package() { # NAME RELEASE
  printf '%s' "$work/packages/$1"_*-"$2"_*.deb
}

make_base() {
  if [[ ! -d $base/etc ]]; then
    say "debootstrap: $base"
    debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,procps,ca-certificates bookworm "$base" >"$work/debootstrap.log" 2>&1 ||
      die "debootstrap fails: $(tail -3 "$work/debootstrap.log")"
  fi
  local needs
  needs=$(dpkg-deb -f "$(package eckart 1)" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/,//g')
  if [[ $(cat "$base/root/needs" 2>/dev/null) != "$needs" ]]; then
    say "what the package depends on"
    cp /etc/resolv.conf "$base/etc/resolv.conf"
    chroot "$base" apt-get -qq update
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive chroot "$base" apt-get -qq install -y --no-install-recommends $needs >"$work/apt.log" 2>&1 ||
      die "apt-get fails: $(tail -3 "$work/apt.log")"
    printf '%s\n' "$needs" >"$base/root/needs"
  fi
}

boot() {
  local scope=(--keep-unit)
  if [[ -d /run/systemd/system ]]; then scope=(); fi
  rm -rf "$root"
  cp -a --reflink=auto "$base" "$root"
  cp "$work"/packages/*.deb "$root/root/"
  systemd-nspawn --quiet -D "$root" --boot --machine=eckart-try --register=no "${scope[@]}" --console=pipe </dev/null >"$log" 2>&1 &
  nspawn=$!
  local state
  for _ in {1..300}; do
    leader=$(pgrep -P "$nspawn" || true)
    if [[ $leader ]]; then
      state=$(inside systemctl is-system-running 2>/dev/null || true)
      if [[ $state == running || $state == degraded ]]; then return; fi
    fi
    kill -0 "$nspawn" 2>/dev/null || break
    sleep 0.2
  done
  die "systemd does not boot: $(tail -5 "$log")"
}

# --- what happens in it

inside() { nsenter -a -t "$leader" -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
shell() { inside bash -c "$1"; }
put() { shell "install -D -m ${2:-0644} /dev/stdin '$1'"; } # stdin to a file

property() { inside systemctl show -P "$1" "${2:-eckart}"; }
journal() { inside journalctl --no-pager -q -o cat -u "${1:-eckart}"; }

checks=0
expect() { # WHAT COMMAND...
  local what=$1
  shift
  checks=$((checks + 1))
  if "$@"; then return; fi
  journal | tail -20 >&2 || true
  inside systemctl status --no-pager eckart >&2 || true
  die "not so: $what"
}
is() { [[ $1 == "$2" ]] || { printf 'try-package: %s is not %s\n' "$1" "$2" >&2 && return 1; }; }
fails() { if "$@" 2>/dev/null; then return 1; fi; }
within() { # SECONDS COMMAND...: it comes true
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}
has_journal() { [[ $(journal "${2:-eckart}") == *"$1"* ]]; }
has_status() { [[ $(property StatusText) == *"$1"* ]]; }
is_not_process() { [[ $(property ActiveState) == active && $(property MainPID) != "$1" ]]; }

count=0
declare -A dropped # how many, by folder
drop() { # FOLDER N: new images, at once
  local first=$((count + 1))
  count=$((count + $2))
  dropped[$1]=$((${dropped[$1]:-0} + $2))
  shell "rm -rf /tmp/new && eckart synth -o /tmp/new --kind texture --count $2 --size 96x64 --seed $count >/dev/null &&
    n=$first && for file in /tmp/new/*.png; do install -o uploader -g scans -m 0640 \$file $1/image\$n.png; n=\$((n + 1)); done"
}
outputs() { inside find "$1" -name .eckart -prune -o -name '*.png' -print | wc -l; }
all_done() { [[ $(outputs "$2") == "${dropped[$1]}" ]]; } # FOLDER OUT

try_install() {
  say "install"
  shell "apt-get install -q -y --no-install-recommends /root/$(basename "$(package eckart 1)")" >"$work/install.log" 2>&1 ||
    die "apt-get install fails: $(tail -5 "$work/install.log")"
  expect "the package is as it was packed" is "$(inside dpkg --verify eckart)" ''
  expect "it is not enabled" is "$(inside systemctl is-enabled eckart || true)" disabled
  expect "it is not started" is "$(property ActiveState)" inactive
  expect "there is a user" inside id -u eckart >/dev/null
  expect "its folder is there" inside test -d /var/lib/eckart
  expect "the program runs" inside eckart run --print-config >/dev/null
  # Nothing to watch: said, and not tried again and again.
  expect "it does not start without watches" fails inside systemctl start eckart
  expect "it says so with 78" is "$(property ExecMainStatus)" 78
  expect "and is not restarted" is "$(property NRestarts)" 0
  expect "the journal says why" has_journal 'no watches are configured'
}

try_first_folder() {
  say "first folder"
  shell 'groupadd scans && useradd -g scans uploader && adduser --quiet eckart scans >/dev/null 2>&1 || usermod -a -G scans eckart
    install -d -o uploader -g scans -m 2770 /srv/scans && install -d -o eckart -g scans -m 2750 /srv/scans-rank20'
  put /etc/eckart/eckart.yaml <<'YAML'
rank: "7"
watches:
  - input: /srv/scans
    output: /srv/scans-rank20
YAML
  drop /srv/scans 20
  expect "it starts" inside systemctl enable -q --now eckart
  drop /srv/scans 20
  expect "what was there and what has arrived comes out" within 30 all_done /srv/scans /srv/scans-rank20
  expect "outputs are the group's" is "$(shell 'stat -c "%U %G %a" /srv/scans-rank20/image1.png')" 'eckart scans 640'
  expect "the status says what it does" within 5 has_status '40 done, '
  expect "eckart status agrees" shell 'runuser -u eckart -- eckart status /srv/scans-rank20 | grep "40 done, 0 failed" >/dev/null'
  printf 'not an image' | put /srv/scans/bad.png
  expect "a bad file is named" within 60 has_journal 'bad.png'
  expect "with its reason" inside journalctl -q -u eckart -p err ECKART_FILE=/srv/scans/bad.png 'ECKART_REASON=not an image' >/dev/null
}

try_reload() {
  say "reload"
  local pid
  pid=$(property MainPID)
  shell 'install -d -o uploader -g scans -m 2770 /srv/photos /srv/photos-done && install -d -o eckart -g scans -m 2750 /srv/photos-small'
  put /etc/eckart/eckart.yaml <<'YAML'
rank: "7"
watches:
  - {input: /srv/scans, output: /srv/scans-rank20}
  - {input: /srv/photos, output: /srv/photos-small, after: move, move_to: /srv/photos-done}
YAML
  expect "a good configuration is taken" inside systemctl reload eckart
  expect "the log says that both watches are ready" within 20 has_journal 'ready: 2 watches'
  drop /srv/photos 10
  expect "its new folder is watched" within 30 all_done /srv/photos /srv/photos-small
  expect "inputs are moved" within 10 all_done /srv/photos /srv/photos-done
  shell 'cp /etc/eckart/eckart.yaml /tmp/good.yaml && echo "budget: 7" >>/etc/eckart/eckart.yaml'
  expect "a bad one is refused" fails inside systemctl reload eckart
  expect "and named with its line" has_journal "eckart.yaml:5: budget: unknown key"
  inside kill -HUP "$pid"
  expect "by the service as well" within 10 has_journal 'reload failed'
  drop /srv/photos 5
  expect "the old one stays" within 30 all_done /srv/photos /srv/photos-small
  expect "all of that is one process" is "$(property MainPID)" "$pid"
  expect "which runs" is "$(property ActiveState)" active
  shell 'cp /tmp/good.yaml /etc/eckart/eckart.yaml'
}

try_kill() {
  say "kill -9"
  local pid
  pid=$(property MainPID)
  drop /srv/scans 30
  inside kill -KILL "$pid"
  drop /srv/scans 10
  expect "it is started again" within 30 is_not_process "$pid"
  expect "nothing is lost" within 60 all_done /srv/scans /srv/scans-rank20
}

try_watchdog() {
  say "watchdog"
  local pid start
  put /etc/systemd/system/eckart.service.d/fast.conf <<'UNIT'
[Service]
WatchdogSec=6
UNIT
  inside systemctl daemon-reload
  inside systemctl restart eckart
  pid=$(property MainPID)
  sleep 15
  expect "without work it lives" is "$(property MainPID)" "$pid"
  inside kill -STOP "$pid"
  start=$SECONDS
  expect "what stands still is started again" within 60 is_not_process "$pid"
  say "  after $((SECONDS - start)) s, of which the watchdog's are 6"
  expect "by the watchdog" has_journal 'Watchdog timeout'
  drop /srv/scans 5
  expect "and works" within 30 all_done /srv/scans /srv/scans-rank20
  shell 'rm -r /etc/systemd/system/eckart.service.d && systemctl daemon-reload && systemctl restart eckart'
}

try_elsewhere() {
  say "a folder outside of /srv, of an instance"
  shell 'install -d -o uploader -g scans -m 2770 /opt/plates && install -d -o eckart -g scans -m 2750 /opt/plates-out'
  put /etc/eckart/plates.yaml <<'YAML'
watches: [{input: /opt/plates, output: /opt/plates-out}]
YAML
  expect "an instance starts" inside systemctl start eckart@plates
  drop /opt/plates 5
  expect "it may not write there" within 30 has_journal 'Read-only file system' eckart@plates
  expect "and lives" is "$(property ActiveState eckart@plates)" active
  put /etc/systemd/system/eckart@plates.service.d/folders.conf <<'UNIT'
[Unit]
RequiresMountsFor=/opt/plates /opt/plates-out
[Service]
ReadWritePaths=/opt
UNIT
  shell 'systemctl daemon-reload && systemctl restart eckart@plates'
  expect "a drop-in lets it" within 30 all_done /opt/plates /opt/plates-out
}

try_upgrade() {
  say "upgrade"
  local pid plates failures
  failures=$(journal | grep -c 'Failed with result')
  pid=$(property MainPID) plates=$(property MainPID eckart@plates)
  drop /srv/scans 200
  shell "apt-get install -q -y --no-install-recommends /root/$(basename "$(package eckart 2)")" >"$work/upgrade.log" 2>&1 ||
    die "apt-get install fails: $(tail -5 "$work/upgrade.log")"
  expect "there is another process" is_not_process "$pid"
  expect "the old one has ended well" is "$(journal | grep -c 'Failed with result')" "$failures"
  expect "of the instance as well" is "$([[ $(property MainPID eckart@plates) != "$plates" ]] && property ActiveState eckart@plates)" active
  expect "the configuration is the operator's" inside grep -q photos-small /etc/eckart/eckart.yaml
  expect "nothing is lost" within 60 all_done /srv/scans /srv/scans-rank20
  expect "it is still enabled" is "$(inside systemctl is-enabled eckart)" enabled
}

try_stop() {
  say "stop"
  drop /srv/scans 200
  sleep 1.2
  inside systemctl stop eckart
  expect "it ends well" is "$(property Result) $(property ExecMainStatus)" 'success 0'
  expect "no output is half a file" is "$(inside find /srv/scans-rank20 -name '.eckart-*' -type f)" ''
  inside systemctl start eckart
  expect "the next start does the rest" within 60 all_done /srv/scans /srv/scans-rank20
}

try_cuda() {
  if [[ ! -f $(package eckart-cuda 2) ]]; then return; fi
  say "eckart-cuda, on a machine without a GPU"
  shell "apt-get install -q -y --no-install-recommends /root/$(basename "$(package eckart-cuda 2)")" >"$work/cuda.log" 2>&1 ||
    die "apt-get install fails: $(tail -5 "$work/cuda.log")"
  expect "it lives" is "$(property ActiveState)" active
  expect "the doctor says why there is none" shell 'eckart doctor | grep "^cuda     none: " >/dev/null'
  drop /srv/scans 5
  expect "it works" within 30 all_done /srv/scans /srv/scans-rank20
  expect "the doctor of deploy/README.md runs" inside systemd-run --quiet --wait --pipe -p User=eckart \
    -p DevicePolicy=closed -p 'DeviceAllow=char-nvidia* rw' eckart doctor >/dev/null
  shell 'apt-get remove -q -y eckart-cuda' >"$work/cuda.log" 2>&1 || die "apt-get remove fails: $(tail -5 "$work/cuda.log")"
}

try_remove() {
  say "remove, and install again"
  shell 'apt-get remove -q -y eckart' >"$work/remove.log" 2>&1 || die "apt-get remove fails: $(tail -5 "$work/remove.log")"
  expect "no process is left" is "$(inside pgrep -c '^eckart$')" 0
  expect "no unit is left" is "$(property LoadState)" not-found
  expect "the configuration stays" inside test -f /etc/eckart/eckart.yaml
  shell "apt-get install -q -y --no-install-recommends /root/$(basename "$(package eckart 2)")" >"$work/again.log" 2>&1 ||
    die "apt-get install fails: $(tail -5 "$work/again.log")"
  expect "the configuration is the operator's" inside grep -q photos-small /etc/eckart/eckart.yaml
  expect "it starts" inside systemctl start eckart
  say "purge"
  shell 'apt-get purge -q -y eckart eckart-cuda' >"$work/purge.log" 2>&1 || die "apt-get purge fails: $(tail -5 "$work/purge.log")"
  expect "no process is left" is "$(inside pgrep -c '^eckart$')" 0
  # Its user, the operator's own files and the results stay.
  expect "nothing of the package is left" is \
    "$(shell 'find /etc /usr /var /run -xdev -name "*eckart*" -not -path "/var/log/*" -not -path "/var/cache/apt/*" | sort | tr "\n" " "')" \
    '/etc/eckart /etc/systemd/system/eckart@plates.service.d '
  expect "the operator's configuration is" is "$(inside ls /etc/eckart)" plates.yaml
  expect "the results are" all_done /srv/scans /srv/scans-rank20
}

mkdir -p "$work"
say "packages, preset $preset"
make_packages
make_base
boot
say "$(inside systemctl --version | head -1) as process 1 of $(inside cat /etc/debian_version), kernel $(uname -r)"
for part in install first_folder reload kill watchdog elsewhere upgrade stop cuda remove; do "try_$part"; done
say "all $checks checks passed"
