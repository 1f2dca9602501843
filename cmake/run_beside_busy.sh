#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# run_beside_busy.sh TIMES BUILD_FOLDER [OPTIONS OF CTEST…]: runs each test up to TIMES times beside four processes that
# always compute, and says which fail. A test that fails so is a fault of the test or of the product.
set -euo pipefail
times=$1 folder=$2
shift 2
busy=()
trap 'kill "${busy[@]}"' EXIT
for _ in 1 2 3 4; do
    bash -c 'while :; do :; done' &
    busy+=($!)
done
ctest --test-dir "$folder" -j "$(nproc)" --repeat "until-fail:$times" --output-on-failure --no-tests=error \
    --test-output-truncation head "$@"
