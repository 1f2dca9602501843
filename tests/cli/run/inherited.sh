#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# inherited.sh SLUICE: the program has the signals, descriptors, limits, folder and umask that `sluice run` was started with.
set -euo pipefail
sluice=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SLUICE_CONFIG=

# the_same NAME "START…" PROGRAM…: what PROGRAM prints is the same with `sluice run` in between; START starts both
the_same() {
    local name=$1 start=$2 options
    shift 2
    cd "$folder"
    $start "$@" <"$folder" 2>errors | sed 's/pipe:.*/pipe/' >plain
    for options in '' '--watch off' '--overlap on'; do
        # shellcheck disable=SC2086
        $start "$sluice" run --quiet $options "$@" <"$folder" 2>errors | sed 's/pipe:.*/pipe/' >run
        [ -s run ] && diff plain run && continue
        echo "$name: sluice run $options changes that (>)"
        exit 1
    done
}

# Not in a shell, which has signals of its own.
signals=(grep -E '^(Sig(Blk|Ign|Pnd|Cgt)|ShdPnd)' /proc/self/status)
the_same "signals" env "${signals[@]}"
for signal in HUP INT TERM CHLD; do
    the_same "ignored $signal" "env --ignore-signal=$signal" "${signals[@]}"
done
the_same "all ignored" "env --ignore-signal" "${signals[@]}"
the_same "all blocked" "env --block-signal" "${signals[@]}"

state=(sh -c 'grep -E "^(Umask|Groups|NoNewPrivs|Seccomp)" /proc/self/status; cat /proc/self/limits
    readlink /proc/self/cwd; nice; find /proc/$$/fd -printf "%f %l\n"')
the_same "process" env "${state[@]}"
the_same "nice" "nice -n 3" "${state[@]}"
umask 27
ulimit -n 64
ulimit -c 0
exec 5<"$folder" 9>&1
the_same "umask, limits, descriptors" env "${state[@]}"
without_input() { "$@" <&-; }
the_same "no standard input" without_input "${state[@]}"
