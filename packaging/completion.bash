# SPDX-License-Identifier: BSD-3-Clause
# Completion of the command sluice for bash. Options are taken from --help of the installed command, and the words of
# settings from `sluice info --json`, so they are those of the installed version.

# Prints the options that a help shows.
_sluice_options() {
    "$@" --help 2>/dev/null | sed -nE 's/^  (-[a-z],)?(--[a-z-]+).*/\2/p' | sort -u
}

# Prints the commands, or the benchmarks of `sluice bench`, that a help lists.
_sluice_commands() {
    "$@" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) +.*/\1/p'
}

# Prints the words that an option accepts: sluice COMMAND… OPTION. A setting's are in the table, others in the help.
_sluice_words() {
    local option=${*: -1}
    local setting=${option#--}
    "$1" info --json 2>/dev/null | sed -nE "s/.*\"name\":\"${setting//-/_}\".*\"words\":\"([^\"]+)\".*/\1/p" | tr -d ,
    "${@:1:$#-1}" --help 2>/dev/null | sed -nE "s/^  $option \{([^}]*)\}.*/\1/p" | tr , ' '
}

# Prints what the value of an option is called: SIZE, N, WORD, DIR or FILE; nothing for a flag.
_sluice_value() {
    "${@:1:$#-1}" --help 2>/dev/null | sed -nE "s/^  (-[a-z],)?${*: -1} ([^ ]+).*/\2/p"
}

_sluice() {
    local current=${COMP_WORDS[COMP_CWORD]} sluice=${COMP_WORDS[0]} at=1 option='' joined=''
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_sluice_commands "$sluice") --help --version" -- "$current")
        return
    fi
    local call=("$sluice" "${COMP_WORDS[1]}")
    at=2
    if [ "${COMP_WORDS[1]}" = bench ]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W "$(_sluice_commands "${call[@]}")" -- "$current")
            return
        fi
        call+=("${COMP_WORDS[2]}")
        at=3
    fi
    # Bash makes words of their own of "=" and what follows it.
    while ((at < COMP_CWORD)); do
        case ${COMP_WORDS[at]} in
            --) ((++at)) && break ;;
            -*)
                option=${COMP_WORDS[at]}
                ((++at))
                [ "${COMP_WORDS[at]}" = = ] && joined=yes && ((++at))
                if [ -n "$joined" ] || [ -n "$(_sluice_value "${call[@]}" "$option")" ]; then
                    ((at < COMP_CWORD)) && ((++at)) && option=''
                else
                    option=''
                fi
                joined=''
                ;;
            *) break ;;
        esac
    done
    if [ -n "$option" ] && ((at >= COMP_CWORD)); then
        [ "$current" = = ] && current=''
        case $(_sluice_value "${call[@]}" "$option") in
            DIR) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
            FILE) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
            *) mapfile -t COMPREPLY < <(compgen -W "$(_sluice_words "${call[@]}" "$option")" -- "$current") ;;
        esac
    elif ((at < COMP_CWORD)) && [ "${call[1]}" = run ] && declare -F _command_offset >/dev/null; then
        _command_offset "$at" # the program's own arguments
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_sluice_options "${call[@]}")" -- "$current")
    elif [ "${call[1]}" = run ] && ((at == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

complete -o filenames -F _sluice sluice
