#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# opencl.sh SLUICE: what `sluice doctor` says of OpenCL in MPI_Init, with and without a driver, in a copy of /etc that only
# this script sees.
set -euo pipefail
sluice=$1
if [ "${2:-}" != inside ]; then
    unshare --mount true 2>/dev/null || { echo "skipped: no namespace of mounts can be made here" && exit 0; }
    exec unshare --mount "$0" "$sluice" inside
fi
plugins=(/usr/lib*/hwloc/hwloc_opencl.so /usr/lib*/*/hwloc/hwloc_opencl.so)
found=
for plugin in "${plugins[@]}"; do [ -e "$plugin" ] && found=$plugin; done
[ -n "$found" ] || { echo "skipped: hwloc has no plugin for OpenCL here" && exit 0; }

etc=$(mktemp -d)
trap 'umount -l /etc 2>/dev/null; rm -rf "$etc"' EXIT
cp -a /etc/. "$etc"
rm -rf "$etc/OpenCL"
mount --bind "$etc" /etc

wrong=0
# says WHAT PATTERN [VARIABLE=VALUE…]
says() {
    local what=$1 pattern=$2 row
    shift 2
    row=$(env -u HWLOC_COMPONENTS "$@" "$sluice" doctor --json | grep '"what":"OpenCL in MPI_Init"') || row="no row"
    if ! grep -qE -- "$pattern" <<<"$row"; then echo "FAILED: $what: $row" && wrong=1; fi
}
says "no driver" '"health":"ok","value":"no driver is installed"'
mkdir -p /etc/OpenCL/vendors
says "an empty folder of drivers" '"value":"no driver is installed"'
echo libpocl.so >/etc/OpenCL/vendors/some.icd
says "a driver" '"health":"limited".*a driver is installed.*libLLVM.*"change":"HWLOC_COMPONENTS=-opencl in the environment'
says "a driver that hwloc does not ask" '"health":"ok","value":"HWLOC_COMPONENTS leaves it out"' HWLOC_COMPONENTS=-opencl
says "one of several" '"health":"ok","value":"HWLOC_COMPONENTS leaves it out"' HWLOC_COMPONENTS=-gl,-opencl
says "another one" '"health":"limited"' HWLOC_COMPONENTS=-gl
exit $wrong
