#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# fuzz.sh FUZZER FOLDER OPTION…: writes the seeds of a fuzzer into a folder and runs it with these
# options of libFuzzer. Inputs that find new code stay in the folder, and a faulty one in FOLDER/faults.
set -euo pipefail
fuzzer=$1 folder=$2
shift 2
mkdir -p "$folder/inputs" "$folder/faults"
"$fuzzer" --seeds="$folder/inputs"
exec "$fuzzer" -artifact_prefix="$folder/faults/" -timeout=60 -print_final_stats=1 "$@" "$folder/inputs"
