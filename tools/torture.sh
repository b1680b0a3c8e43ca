#!/usr/bin/env bash
# Ends runs of eckart in every bad way, and shows that nothing is lost by it. Minutes; --short: one or two; --long: hours.
#   tools/torture.sh [--short | --long] [--program FILE] [PART...]
# PART: kills      kill -9 at random times, then the same command again
#       stops      SIGTERM at random times
#       faults     EIO and ENOSPC at every call that writes, once and from there on
#       full-disk  a tmpfs that fills, and then has room
#       power-cut  the disk as it is at some moment, mounted; and a control without fsync, which must lose
# All of them if none is named. The last two need root, and are left out without it unless they are named.
# Ends with 0 if all that was to be shown was.
set -euo pipefail

say() { printf '==> %4d s: %s\n' "$SECONDS" "$*"; }
die() {
  printf 'torture: %s\n' "$*" >&2
  exit 1
}

kills=500 stops=100 images=40 cuts=30 cut_images=600 fault_images=2
program="" solver=auto
parts=()
while (($#)); do
  case $1 in
    --short) kills=30 stops=10 cuts=3 cut_images=500 fault_images=1 ;;
    --long) kills=10000 stops=1000 cuts=1000 fault_images=5 ;;
    --program)
      (($# > 1)) || die "--program needs a value"
      program=$2
      shift
      ;;
    kills | stops | faults | full-disk | power-cut) parts+=("$1") ;;
    *)
      sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
      exit 64
      ;;
  esac
  shift
done
if ((${#parts[@]} == 0)); then
  parts=(kills stops faults)
  if ((EUID == 0)); then parts+=(full-disk power-cut); else say "full-disk and power-cut need root: left out"; fi
fi
for built in "$(dirname "$0")"/../build/{cuda,cpu,release}/bin/eckart; do
  [[ $program || ! -x $built ]] || program=$built
done
[[ -x $program ]] || die "program not found: build it or pass --program"
program=$(realpath "$program")
shim=$(dirname "$program")/../tests/cli/libeckart_fault_injection.so
[[ -f $shim ]] || die "there is no $shim: build all, tests too"
command -v sqlite3 >/dev/null || die "sqlite3 not found: install it to inspect ledgers"

work=$(realpath "$(mktemp -d "${TMPDIR:-/tmp}/eckart-torture.XXXXXX")")
process=
clean_up() {
  [[ -z $process ]] || kill -KILL "$process" 2>/dev/null || true
  for place in "$work"/mnt*; do
    if mountpoint -q "$place"; then umount -l "$place"; fi
  done
  rm -rf "$work"
}
trap clean_up EXIT

problems=0
problem() {
  problems=$((problems + 1))
  if ((problems <= 20)); then printf 'torture: %s\n' "$*" >&2; fi
}

eckart_run() { # OUT [OPTION...]: a run of $in, quiet; what it said is in $work/log
  "$program" run "$in" -o "$@" -k 7 -q --backend cpu --solver "$solver" >"$work/log" 2>&1
}

outputs() { (cd "$1" && find . -name .eckart -prune -o -type f ! -name '.eckart-*' -print | sort); }
temporaries() { (cd "$1" && find . -name '.eckart-*' -type f); }

# Of the outputs in $1: how many there are that are not byte by byte those of the reference.
torn() {
  local count=0 name
  while read -r name; do
    cmp -s "$1/$name" "$reference/$name" || count=$((count + 1))
  done < <(outputs "$1")
  printf '%s' "$count"
}

expect_whole() { # OUT WHEN
  local count
  count=$(torn "$1")
  ((count == 0)) || problem "$2: $count outputs are torn"
}

expect_clean() { # OUT WHEN
  local left
  expect_whole "$1" "$2"
  left=$(temporaries "$1")
  [[ ! $left ]] || problem "$2: temporaries are left:" $left
}

expect_complete() { # OUT WHEN
  expect_clean "$1" "$2"
  diff -q <(outputs "$1") <(outputs "$reference") >/dev/null || problem "$2: not all outputs are there"
}

# The same command again, after what happened: it must do the rest.
expect_resumed() { # OUT WHEN
  eckart_run "$1" || problem "$2: the next run ended with $?: $(tail -1 "$work/log")"
  expect_complete "$1" "$2, and again"
}

make_inputs() { # COUNT: $in, and what comes of it in $reference; $run_ms of a whole run
  in=$work/in-$1 reference=$work/reference-$1
  local start
  if [[ ! -d $in ]]; then
    "$program" synth -o "$in" --kind texture --count "$1" --size 192x160 >/dev/null 2>&1
    mkdir "$in/deep" && mv "$in"/*1.png "$in/deep/"
  fi
  rm -rf "$reference"
  start=$(date +%s%3N)
  eckart_run "$reference" || die "a run without trouble ends with $?: $(cat "$work/log")"
  run_ms=$(($(date +%s%3N) - start))
}

sleep_at_random() { # LEAST_MS MOST_MS
  local ms=$(($1 + RANDOM * ($2 - $1) / 32768))
  sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
}

# Starts a run of OUT, and sends SIGNAL after a part of the time that a whole one takes. Adds 1 to
# $signalled where it was still there.
signal_at_random() { # OUT SIGNAL WHEN
  local code=0
  "$program" run "$in" -o "$1" -k 7 -q --backend cpu --solver "$solver" >"$work/log" 2>&1 &
  process=$!
  sleep_at_random 0 "$run_ms"
  kill "-$2" "$process" 2>/dev/null || true
  wait "$process" 2>/dev/null || code=$?
  process=
  case $code in
    0) ;;
    $((128 + $(kill -l "$2")))) signalled=$((signalled + 1)) ;;
    *) problem "$3: ended with $code: $(tail -1 "$work/log")" ;;
  esac
}

part_kills() {
  make_inputs "$images"
  local out=$work/killed signalled=0 tried=0 folders=0
  while ((signalled < kills && tried < 4 * kills)); do
    tried=$((tried + 1))
    signal_at_random "$out" KILL "kill $tried"
    [[ -d $out ]] || continue
    expect_whole "$out" "kill $tried"
    # A folder is killed in now and then more than once.
    if ((RANDOM % 2 || signalled == kills)); then
      expect_resumed "$out" "kill $tried"
      rm -rf "$out"
      folders=$((folders + 1))
    fi
  done
  ((signalled == kills)) || problem "kills: only $signalled of $tried runs were still there to be killed"
  say "kills: $signalled at random times in $folders folders of $images images"
}

part_stops() {
  make_inputs "$images"
  local out=$work/stopped i signalled=0 kept=0 lost=0
  for ((i = 1; i <= stops; ++i)); do
    signal_at_random "$out" TERM "stop $i"
    [[ -d $out ]] || continue
    expect_clean "$out" "stop $i"
    count_done "$out"
    expect_resumed "$out" "stop $i"
    rm -rf "$out"
  done
  ((signalled > 0)) || problem "stops: no run was still at work"
  ((kept > 0)) || problem "stops: no ledger called anything done"
  ((lost == 0)) || problem "stops: $lost outputs that the ledger calls done are not there"
  say "stops: $stops SIGTERM at random times, $signalled while it ran; all $kept outputs in the ledgers are there"
}

# Adds to $kept what the ledger of the folder calls done and the folder holds, and to $lost what it does not.
count_done() { # OUT
  local name rows="SELECT output FROM output"
  [[ -f $1/.eckart/ledger.db ]] || return 0
  # Killed before it had a table.
  [[ $(sqlite3 "$1/.eckart/ledger.db" "SELECT count(*) FROM sqlite_master") != 0 ]] || return 0
  while read -r name; do
    if cmp -s "$1/$name" "$reference/$name"; then kept=$((kept + 1)); else lost=$((lost + 1)); fi
  done < <(sqlite3 "$1/.eckart/ledger.db" "$rows" || echo "the ledger cannot be read")
}

part_faults() {
  make_inputs "$fault_images"
  local out=$work/faulty error count call calls code when harmless=0
  LD_PRELOAD=$shim ECKART_FAULT=any:0:0:0 ECKART_FAULT_CALLS=$work/calls eckart_run "$out" || die "ended with $?"
  calls=$(cat "$work/calls")
  for error in 5 28; do # EIO, ENOSPC
    for count in 1 1000000; do
      for ((call = 1; call <= calls; ++call)); do
        rm -rf "$out"
        code=0 when="error $error at call $call, $count times"
        LD_PRELOAD=$shim ECKART_FAULT=any:$error:$call:$count eckart_run "$out" || code=$?
        case $code in
          0) harmless=$((harmless + 1)) && expect_complete "$out" "$when" ;;
          74) ;;
          *) problem "$when: ended with $code: $(tail -1 "$work/log")" ;;
        esac
        [[ -d $out ]] || continue
        expect_clean "$out" "$when"
        expect_resumed "$out" "$when"
      done
    done
  done
  say "faults: EIO and ENOSPC, once and for good, at each of $calls calls; $harmless of $((4 * calls)) did no harm"
}

part_full_disk() {
  make_inputs "$images"
  local out=$work/mnt-full kib code size runs=0
  kib=$(du -sk "$reference" | cut -f1)
  mkdir -p "$out"
  for size in 5 20 40 60 80 95; do
    mount -t tmpfs -o "size=$((kib * size / 100))k" eckart-torture "$out"
    code=0
    eckart_run "$out/results" || code=$?
    runs=$((runs + 1))
    ((code == 74)) || problem "a disk of $size %: ended with $code: $(tail -1 "$work/log")"
    [[ ! -d $out/results ]] || expect_clean "$out/results" "a disk of $size %"
    mount -o "remount,size=$((kib * 2))k" "$out"
    expect_resumed "$out/results" "a disk of $size %"
    umount "$out"
  done
  say "full disk: $runs sizes, each then doubled"
}

# A copy of the disk image $1 at one moment: nothing was written to it while it was copied.
copy_at_a_moment() { # FROM TO
  local tries
  for ((tries = 0; tries < 50; ++tries)); do
    cp "$1" "$2"
    if cmp -s "$1" "$2"; then return 0; fi
  done
  return 1
}

# Runs on a disk of its own, which is copied in the middle. Counts in $lost what the ledger on the
# copy calls done and the copy does not hold, and in $kept what it does.
cut_power() { # [NAME=VALUE...] of the environment
  local disk=$work/disk copy=$work/copy mounted=$work/mnt-disk
  mkdir -p "$mounted"
  truncate -s 256M "$disk"
  mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$disk"
  mount -o loop "$disk" "$mounted"
  env "$@" "$program" run "$in" -o "$mounted/out" -k 7 -q --backend cpu --solver "$solver" >"$work/log" 2>&1 &
  process=$!
  sleep_at_random $((run_ms / 2)) "$run_ms"  # it takes longer here
  kill -STOP "$process" 2>/dev/null || true
  copy_at_a_moment "$disk" "$copy" || problem "power cut: the disk does not stand still"
  kill -KILL "$process" 2>/dev/null || true
  wait "$process" 2>/dev/null || true
  process=
  umount "$mounted"
  mount -o loop "$copy" "$mounted"
  count_done "$mounted/out"
  if [[ -d $mounted/out ]]; then
    [[ ${1:-} ]] || expect_whole "$mounted/out" "power cut"
    [[ ${1:-} ]] || expect_resumed "$mounted/out" "power cut"
  fi
  umount "$mounted"
}

part_power_cut() {
  solver=gesvd  # so that few images take several of the seconds after which the ledger comes to the disk
  make_inputs "$cut_images"
  while ((run_ms < 4000)); do  # on a fast machine it takes more of them
    cut_images=$((cut_images * 2))
    make_inputs "$cut_images"
  done
  local disks=0 partial=0 tries=0 lost=0 kept=0 before called
  # Only a disk shows anything on which a ledger calls something done.
  for (( ; (disks < cuts || partial == 0) && tries < 10 * cuts; ++tries)); do
    before=$((kept + lost))
    cut_power
    called=$((kept + lost - before))
    disks=$((disks + (called > 0)))
    partial=$((partial + (called > 0 && called < cut_images)))
  done
  ((partial > 0)) || problem "power cut: no ledger was brought to the disk before the run's end"
  ((lost == 0)) || problem "power cut: $lost outputs that the ledger calls done are lost"
  ((disks == cuts)) || problem "power cut: only $disks of $tries ledgers called anything done"
  say "power cut: $tries disks, $disks with outputs that a ledger calls done, $partial not with all; of $((kept + lost)) such $lost are lost"
  for ((tries = lost = kept = 0; lost == 0 && tries < 10 * cuts; ++tries)); do
    cut_power "LD_PRELOAD=$shim" ECKART_FAULT=fsync:-1:1:1000000
  done
  ((lost > 0)) || problem "power cut: nothing is lost without fsync either, so this shows nothing"
  say "power cut, the control: without fsync $lost of $((kept + lost)) are lost on disk $tries"
}

say "torture of $program, in $work"
for part in "${parts[@]}"; do
  "part_${part//-/_}"
done
((problems == 0)) || die "$problems problems"
say "PASSED: no torn or missing outputs, no temporaries left"
