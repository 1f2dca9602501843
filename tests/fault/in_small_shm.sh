#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# in_small_shm.sh COMMAND…: runs a command with a /dev/shm of its own, which has 48 MiB.
for mine in "unshare --mount" "unshare --mount --map-root-user"; do
    if $mine sh -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm' 2>/dev/null; then
        exec $mine sh -c 'mount -t tmpfs -o size=48m tmpfs /dev/shm && exec "$@"' sh "$@"
    fi
done
echo "skipped: no mount namespace can be made (unshare --mount)"
