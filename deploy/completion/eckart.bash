# Completion for bash. Commands and flags come from the --help of the program.

# Prints the options of a command, one per line: comma-separated names, "value" if the option takes one, and its choices.
_eckart_options() { # PROGRAM COMMAND
  "$1" "$2" --help 2>/dev/null | awk '/^  -/ {
    rest = substr($0, 3)
    names = rest; sub(/ .*/, "", names)
    type = substr(rest, length(names) + 1); sub(/  .*/, "", type)
    choices = ""
    if (match(type, /\{[^}]*\}/)) choices = substr(type, RSTART + 1, RLENGTH - 2)
    print names, type == "" ? "-" : "value", choices
  }'
}

# Prints all keys of --set.
_eckart_keys() { # PROGRAM
  "$1" run --print-config 2>/dev/null | awk -F: '
    /^watches/ { exit }
    /^[a-z]/ && $2 ~ /^ *$/ { section = $1 "."; next }
    /^[a-z]/ { section = "" }
    { key = $1; sub(/^ +/, "", key); print section key "=" }'
}

_eckart_complete_files() { # f: files and folders, d: folders only
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen "-$1" -- "$current")
}

_eckart_complete_value() { # OPTION: completes its value; fails if it takes none
  local names value choices
  while read -r names value choices; do
    [[ ,$names, == *",$1,"* ]] || continue
    [[ $value == value ]] || return 1
    words=${choices//,/ }
    case $command,$names in
      run,--backend) words='auto cuda cpu checked' ;;
      run,--solver) words='auto gram subspace gesvd gesvdj' ;;
      run,--format) words='png jpeg' ;;
      *,--set)
        compopt -o nospace
        words=$(_eckart_keys "$program")
        ;;
      *,-o,--output) _eckart_complete_files d ;;
      *,--config | *,--files-from | *,--report | *,--trace | *,--ledger | *,--calibration | *,--log) _eckart_complete_files f ;;
    esac
    return 0
  done <<<"$options"
  return 1
}

_eckart() {
  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words='' options program
  program=$(type -P "${COMP_WORDS[0]/#\~/$HOME}") || return
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words="--help --version $("$program" --help | sed -n '/^Subcommands:/,$s/^  \([a-z-]*\) .*/\1/p')"
  else
    options=$(_eckart_options "$program" "$command")
    if _eckart_complete_value "${COMP_WORDS[COMP_CWORD - 1]}"; then
      :
    elif [[ $current == -* ]]; then
      words=$(cut -d' ' -f1 <<<"$options" | tr ',' '\n')
    else
      case $command in
        bench)
          if ((COMP_CWORD == 2)); then words=scaling; else _eckart_complete_files f; fi
          ;;
        run | plan) _eckart_complete_files f ;;
        status | requeue | prune) _eckart_complete_files d ;;
        ledger)
          if ((COMP_CWORD == 2)); then words='export import'; else _eckart_complete_files f; fi
          ;;
        top) _eckart_complete_files f ;;
      esac
    fi
  fi
  [[ ! $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _eckart eckart
