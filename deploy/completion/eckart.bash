# Completion for bash. Commands and flags come from the --help of the program.

# Prints the options of a command, one per line: comma-separated names, "value" if the option takes one, and its values.
_eckart_options() { # PROGRAM COMMAND
  "$1" "$2" --help 2>/dev/null | awk '
    function emit() {
      if (names == "") return
      values = "-"
      if (match(text, /\[values: [^]]*\]/)) {
        values = substr(text, RSTART + 9, RLENGTH - 10)
        gsub(/ /, "", values)
      }
      print names, type, values
      names = ""
    }
    /^  (    |-[a-zA-Z], )--/ {
      emit()
      row = substr($0, 3); sub(/^ +/, "", row); sub(/, /, ",", row)
      text = row; if (!sub(/^[^ ]+( [^ ]+)?  +/, "", text)) text = ""
      head = row; sub(/  .*/, "", head)
      names = head; sub(/ .*/, "", names)
      type = head == names ? "-" : "value"
      next
    }
    /^        +[^ ]/ { if (names != "") { row = $0; sub(/^ +/, " ", row); text = text row }; next }
    { emit() }
    END { emit() }'
}

# Prints the commands of the program.
_eckart_commands() { # PROGRAM
  "$1" --help | sed -n '/^Options:/q; s/^  \([a-z-][a-z-]*\)  .*/\1/p'
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
  local names value values
  while read -r names value values; do
    [[ ,$names, == *",$1,"* ]] || continue
    [[ $value == value ]] || return 1
    if [[ $values != - ]]; then words=${values//,/ }; fi
    case $names in
      --set)
        compopt -o nospace
        words=$(_eckart_keys "$program")
        ;;
      -o,--output) if [[ $command == inspect || $command == shard || $command == pack ]]; then _eckart_complete_files f; else _eckart_complete_files d; fi ;;
      --config | --files-from | --files-from0 | --report | --trace | --ledger | --calibration | --log | --html) _eckart_complete_files f ;;
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
    words="help --help --version $(_eckart_commands "$program")"
  elif [[ $command == help ]]; then
    words=$(_eckart_commands "$program")
  else
    options=$(_eckart_options "$program" "$command")
    if _eckart_complete_value "${COMP_WORDS[COMP_CWORD - 1]}"; then
      :
    elif [[ $current == -* ]]; then
      words=$(cut -d' ' -f1 <<<"$options" | tr ',' '\n')
    else
      case $command in
        bench)
          if ((COMP_CWORD == 2)); then words='kernels matmul transfer bandwidth streams solvers crossover roofline all pipeline scaling'; else _eckart_complete_files f; fi
          ;;
        run | measure | inspect | plan | simulate | shard | slurm | unpack) _eckart_complete_files f ;;
        watch | status | requeue | prune | pack) _eckart_complete_files d ;;
        ledger)
          if ((COMP_CWORD == 2)); then words='export import merge'; else _eckart_complete_files f; fi
          ;;
        top) _eckart_complete_files f ;;
      esac
    fi
  fi
  [[ ! $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _eckart eckart
