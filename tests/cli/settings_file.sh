#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# settings_file.sh SLUICE: which settings file applies, and what overrides it, as a user sees it.
set -euo pipefail
sluice=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset SLUICE_CONFIG XDG_CONFIG_HOME SLUICE_STAGING
export HOME=$folder/home

# expect "extended regular expression" command…: the command prints a line like that, on any of its two outputs
expect() {
    local pattern=$1
    shift
    "$@" >"$folder/said" 2>&1 || true
    grep -Eq -- "$pattern" "$folder/said" && return
    echo "'$*' does not say '$pattern' but:"
    cat "$folder/said"
    exit 1
}

expect 'SLUICE_STAGING +2MiB +default' "$sluice" info
mkdir -p "$HOME/.config/sluice" "$folder/xdg/sluice"
printf '# mine\nstaging = 8MiB\ntokens = 5\n' >"$HOME/.config/sluice/settings"
expect "SLUICE_STAGING +8MiB +$HOME/.config/sluice/settings:2" "$sluice" info
expect "SLUICE_TOKENS +5 +$HOME/.config/sluice/settings:3" "$sluice" info
expect 'SLUICE_STAGING +1MiB +environment' env SLUICE_STAGING=1MiB "$sluice" info
expect 'SLUICE_STAGING +4MiB +option' "$sluice" info --staging 4MiB
expect 'SLUICE_STAGING +2MiB +default' env SLUICE_CONFIG= "$sluice" info
echo 'staging = 16MiB' >"$folder/xdg/sluice/settings"
expect "SLUICE_STAGING +16MiB +$folder/xdg/sluice/settings:1" env XDG_CONFIG_HOME="$folder/xdg" "$sluice" info
echo 'staging = 32MiB' >"$folder/other"
expect "SLUICE_STAGING +32MiB +$folder/other:1" env SLUICE_CONFIG="$folder/other" "$sluice" info
cd "$folder"
expect "^$folder/other\$" env SLUICE_CONFIG=other "$sluice" run --watch off sh -c 'cd / && echo $SLUICE_CONFIG'

# A line of the command itself obeys the file, and so does what is said before the plugin reads it.
echo 'quiet = on' >"$folder/other"
expect "no report: /dev/null/x: " "$sluice" run --report /dev/null/x true
said=$(SLUICE_CONFIG=$folder/other "$sluice" run --report /dev/null/x sh -c 'echo $SLUICE_QUIET' 2>&1)
[ "$said" = on ] || { echo "quiet by the file says: $said"; exit 1; }
expect "no report: /dev/null/x: " env SLUICE_CONFIG="$folder/other" "$sluice" run --quiet off --report /dev/null/x true
expect "no report: /dev/null/x: " env SLUICE_CONFIG="$folder/other" SLUICE_QUIET=off "$sluice" run --report /dev/null/x true

expect "missing: No such file" env SLUICE_CONFIG="$folder/missing" "$sluice" info
echo 'stagging = 8MiB' >"$folder/other"
expect "$folder/other:1: no setting is called 'stagging'; the nearest is 'staging'" env SLUICE_CONFIG="$folder/other" "$sluice" info
printf '\nstaging = 1' >"$folder/other"
expect "$folder/other:2: setting staging .* cannot be '1'" env SLUICE_CONFIG="$folder/other" "$sluice" run true
