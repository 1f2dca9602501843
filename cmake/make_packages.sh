#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make_packages.sh FOLDER: makes the Debian packages of packaging/debian from the build folders, into FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf "$1"
mkdir -p "$1"
cpack --config packaging/debian/packages.cmake -B "$1" >"$1/cpack.log" 2>&1 || { cat "$1/cpack.log"; exit 1; }
rm -rf "$1/_CPack_Packages"
ls "$1"/*.deb
