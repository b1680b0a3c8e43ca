#!/usr/bin/env bash
# Checks tools/common: which preset is built on which machine, and what a failing command shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset STEPS_VERBOSE STEPS_BEGIN # as set by tools/test.sh
work=$(mktemp -d "${TMPDIR:-/tmp}/eckart-tools.XXXXXX")
trap 'rm -rf "$work"' EXIT

failed=0
expect() { # WHAT GOT EXPECTED
  [[ $2 == "$3" ]] && return
  printf '%s: got "%s", expected "%s"\n' "$@" >&2
  failed=1
}

chosen() { # OUTPUT_OF_NVIDIA_SMI EXIT_CODE_OF_HAS_NVCC: prints preset and options
  printf '#!/bin/sh\nprintf "%s"\n' "$1" >"$work/nvidia-smi"
  chmod +x "$work/nvidia-smi"
  PATH=$work:$PATH bash -c "set -euo pipefail; source tools/common/steps.sh; source tools/common/build.sh
    has_nvcc() { return $2; }; nvcc_architectures() { printf '%s\\n' 75 80 90 120; }; choose_preset; echo \$preset \"\${options[@]}\""
}
expect "one GPU" "$(chosen '9.0\n' 0)" 'cuda -DCMAKE_CUDA_ARCHITECTURES=90-real'
expect "GPUs of two kinds" "$(chosen '12.0\n7.5\n12.0\n' 0)" 'cuda -DCMAKE_CUDA_ARCHITECTURES=75-real;120-real'
expect "a GPU that nvcc does not know" "$(chosen '9.0\n13.0\n' 0)" cpu
expect "a GPU without nvcc" "$(chosen '9.0\n' 1)" cpu
if [[ ! -e /dev/nvidia0 ]]; then
  expect "no GPU" "$(chosen 'No devices were found\n' 0)" cpu
  expect "a GPU that is too old" "$(chosen '6.1\n' 0)" cpu
fi

run_logged() { # COMMAND...: prints what a step with this command shows
  rm -f "$work/log"
  bash -c 'set -euo pipefail; source tools/common/steps.sh; log=$1; shift; logged "$log" "$@"' - "$work/log" "$@" 2>&1
}
expect "a command that succeeds" "$(run_logged printf 'one\n[1/4] a\n[4/4] b')" ''
expect "its log" "$(cat "$work/log")" $'one\n[1/4] a\n[4/4] b'
status=0
text=$(run_logged bash -c 'echo the reason; exit 3') || status=$?
mkfifo "$work/seen"
progress=$(STEPS_PERIOD=1 run_logged bash -c 'printf "[1/4] a\n"; read -r _ <"$0"' "$work/seen" |
  { read -r line; echo >"$work/seen"; printf '%s' "$line"; cat >/dev/null; })
expect "the progress of a slow command" "${progress##* s: }" ' 25 % (1 of 4)'
expect "the exit code of a command that fails" "$status" 3
expect "its output" "$([[ $text == *"the reason"*"exit code 3"*"$work/log" ]] && echo shown)" shown
exit "$failed"
