#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# manual_pages.sh SLUICE: each command has a manual page that man prints without a warning, with all options of its help.
set -uo pipefail
sluice=$1
page=$(mktemp)
trap 'rm -f "$page" "$page.text"' EXIT
wrong=0
complain() { echo "$1" && wrong=1; }

commands_of() { "$sluice" "$@" --help | sed -nE 's/^  ([a-z]+) +.*/\1/p'; }

# check WORDS…: the page of `sluice WORDS…`
check() {
    "$sluice" "$@" --manual-page >"$page" || complain "sluice $* has no page"
    said=$(LC_ALL=C.UTF-8 groff -man -Tutf8 -K utf8 -ww -P -cbou "$page" 2>&1 >"$page.text")
    [ -z "$said" ] || complain "groff on the page of sluice $*: $said"
    local name=sluice word
    for word in "$@"; do name+=-$word; done
    grep -qE "^       $name +- " "$page.text" || complain "the page of sluice $* has no line of its name"
    for option in $("$sluice" "$@" --help | sed -nE 's/^  (-[a-z],)?(--[a-z-]+).*/\2/p' | grep -v -- --version); do
        grep -qE -- "^       (-[a-z],)?$option" "$page.text" || complain "the page of sluice $* lacks $option"
    done
}

check
for command in $(commands_of); do check "$command"; done
for benchmark in $(commands_of bench); do check bench "$benchmark"; done
[ "$(commands_of | wc -l)" -ge 6 ] || complain "commands are missing"
exit $wrong
