#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages that packages.txt lists for the given purposes (build demo test check docs bench peer rdma) and that
# are missing. Root installs them by apt-get. Otherwise, or if that fails, the script names the missing packages and the
# command, and exits with 1. Packages of purpose "peer" and "rdma" are optional: without them
# the benchmarks leave that peer out, and tests of the RDMA bed are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

missing_for() {
    local purpose package
    for purpose in "$@"; do
        sed -nE "s/^([a-z0-9+.-]+) *# *$purpose:.*/\1/p" packages.txt
    done | while read -r package; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || echo "$package"
    done
}

install() {
    [ "$(id -u)" = 0 ] || return 1
    export DEBIAN_FRONTEND=noninteractive
    apt_get() { apt-get -o DPkg::Lock::Timeout=300 -qq "$@" >&2; }
    echo "Installing: $*"
    apt_get install -y --no-install-recommends "$@" </dev/null && return
    # Package lists may be absent (containers) or old.
    apt_get update </dev/null && apt_get install -y --no-install-recommends "$@" </dev/null
}

if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system: packages.txt says what is needed; going on." >&2
    exit 0
fi

needed=() wished=()
for purpose in "$@"; do
    if [ "$purpose" = peer ] || [ "$purpose" = rdma ]; then wished+=("$purpose"); else needed+=("$purpose"); fi
done

mapfile -t missing < <(missing_for "${needed[@]}")
if [ ${#missing[@]} -gt 0 ] && ! install "${missing[@]}"; then
    mapfile -t missing < <(missing_for "${needed[@]}")
    if [ ${#missing[@]} -gt 0 ]; then
        printf 'Missing package: %s\n' "${missing[@]}" >&2
        echo "Install them with: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
fi

if [ ${#wished[@]} -gt 0 ]; then
    mapfile -t missing < <(missing_for "${wished[@]}")
    if [ ${#missing[@]} -gt 0 ] && ! install "${missing[@]}"; then
        echo "Going on without: ${missing[*]}" >&2
    fi
fi
