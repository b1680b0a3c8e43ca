# Functions for scripts that report their steps. A script sources this file. All output of a step goes to a log file.
# The clock starts with the first script and is shared with the scripts that it calls. With STEPS_VERBOSE=true, a log
# file is also shown.
export STEPS_BEGIN=${STEPS_BEGIN:-$EPOCHSECONDS}

# say TEXT: a line such as "==>   12 s: TEXT"
say() { printf '==> %4d s: %s\n' "$((EPOCHSECONDS - STEPS_BEGIN))" "$*"; }

# Ctrl-C: the commands have ended, because they got the signal too.
stop_steps() {
  trap - INT TERM
  printf '\n' >&2
  say "interrupted; run the same command to continue" >&2
  exit 130
}
trap stop_steps INT TERM

# Writes stdin to LOG. Shows the progress of ninja ("[12/320] …") or ctest ("12/320 Test …"): on a terminal in one line
# that is rewritten each second, elsewhere in a line each 15 seconds (STEPS_PERIOD).
show_progress() { # LOG
  local line begin='' progress='' status period=${STEPS_PERIOD:-15} last=$EPOCHSECONDS
  if [[ -t 1 ]]; then period=1; fi
  while true; do
    status=0
    IFS= read -r -t "$period" line || status=$?
    if ((status > 128)); then
      begin+=$line # of a line whose rest is not there yet
    elif ((status)); then
      break
    else
      line=$begin$line begin=''
      printf '%s\n' "$line" >>"$1"
      if [[ ${STEPS_VERBOSE:-false} == true ]]; then printf '%s\n' "$line"; fi
      if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  || $line =~ ^\ *([0-9]+)/([0-9]+)\ Test ]]; then
        progress=$(printf '%3d %% (%d of %d)' "$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))" "${BASH_REMATCH[@]:1:2}")
      fi
    fi
    if [[ -z $progress || ${STEPS_VERBOSE:-false} == true ]] || ((EPOCHSECONDS < last + period)); then continue; fi
    last=$EPOCHSECONDS
    if [[ -t 1 ]]; then
      printf '\r    %4d s: %s' "$((EPOCHSECONDS - STEPS_BEGIN))" "$progress"
    else
      printf '    %4d s: %s\n' "$((EPOCHSECONDS - STEPS_BEGIN))" "$progress"
    fi
  done
  if [[ -n $begin$line ]]; then printf '%s\n' "$begin$line" >>"$1"; fi
  if [[ -t 1 ]]; then printf '\r%40s\r' ''; fi
}

# logged LOG COMMAND...: appends the output of COMMAND to LOG. If COMMAND fails, shows the end of LOG and exits.
logged() {
  local log=$1 status=0
  shift
  "$@" </dev/null 2>&1 | show_progress "$log" || status=$?
  ((status)) || return 0
  if ((status == 130 || status == 143)); then stop_steps; fi
  if [[ ${STEPS_VERBOSE:-false} != true ]]; then
    printf '    …\n'
    tail -n 30 "$log" | sed 's/^/    /'
  fi >&2
  say "failed: $1 (exit code $status); the whole log: $log" >&2
  exit "$status"
}
