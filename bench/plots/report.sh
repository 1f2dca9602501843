#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the picture of a report's page again, docs/images/report.png, from a run of hpcc (examples/hpcc/demo.sh). Needs hpcc and
# chromium (Debian: hpcc, chromium); for true times a machine with nothing else to do.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
HWLOC_COMPONENTS=-opencl examples/hpcc/demo.sh "$folder" >"$folder/said" || {
    cat "$folder/said"
    exit 1
}
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb --window-size=1280,1300 \
    --virtual-time-budget=2000 --screenshot="$PWD/docs/images/report.png" "file://$folder/hpcc-report/report.html" 2>"$folder/said"
echo docs/images/report.png
