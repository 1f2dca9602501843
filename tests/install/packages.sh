#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# packages.sh SOURCE FOLDER: makes the Debian packages in FOLDER, installs them by apt in a new Debian, and follows the tutorial
# there literally as a user, with each MPI. Ends with 77 (skipped) if it is not root or reaches no mirror of Debian.
set -euo pipefail

# What runs in the new Debian, as mmdebstrap's hook: packages.sh --in ROOT SOURCE FOLDER
if [ "$1" = --in ]; then
    root=$2 source=$3 folder=$4
    mkdir "$root/packages" "$root/dev/shm" 2>/dev/null || true
    chmod 1777 "$root/dev/shm"
    cp "$folder"/*.deb "$source/tests/install/follow.py" "$root/packages"
    inside() { chroot "$root" "$@"; }
    inside bash -c 'apt-get install -y --no-install-recommends /packages/*.deb'
    inside useradd --create-home tester
    as_user() {
        inside runuser -u tester -- env HOME=/home/tester OMPI_MCA_rmaps_base_oversubscribe=1 bash -euo pipefail -c "$1"
    }
    as_user 'sluice --version && sluice info && man -w sluice-run && test -e /usr/share/doc/sluice/LICENSE'
    tutorial=/usr/share/doc/sluice/docs/tutorial.md
    as_user "python3 /packages/follow.py $tutorial ~/openmpi" | tee "$folder/tutorial.log"
    as_user "python3 /packages/follow.py $tutorial ~/mpich openmpi=mpich mpicxx=mpicxx.mpich mpirun=mpirun.mpich" |
        tee -a "$folder/tutorial.log"
    [ "$(grep -c 'peak of a rank, most.*−[4-7]. %' "$folder/tutorial.log")" -ge 2 ]
    as_user 'test -s ~/openmpi/memory.html && test -s ~/mpich/memory.html'
    as_user 'cmake -S /usr/share/doc/sluice/examples/hello -B ~/hello && cmake --build ~/hello && mpirun -n 2 ~/hello/hello'
    inside bash -c 'apt-get purge -y "sluice*" "libsluice*"'
    left=$(inside bash -c 'find / -xdev -name "*sluice*" -not -path "/packages/*" -not -path "/home/*" -not -path "/var/log/*"')
    [ -z "$left" ] || { echo "left after purging the packages: $left" >&2 && exit 1; }
    echo "packages: installed, the tutorial followed with both MPIs, and purged"
    exit
fi

source=$(realpath "$1")
folder=$2
if [ "$(id -u)" != 0 ]; then
    echo "skipped: a new Debian is made by root only"
    exit 77
fi
for built in command openmpi mpich; do
    if [ ! -e "$source/build/$built/CMakeCache.txt" ]; then
        echo "skipped: build/$built does not exist"
        exit 77
    fi
done
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
chmod 755 "$lists"
if ! apt-get -qq -o Dir::State::lists="$lists" -o APT::Update::Error-Mode=any update; then
    echo "skipped: no mirror of Debian answers"
    exit 77
fi
folder=$(realpath -m "$folder")
"$source/cmake/make_packages.sh" "$folder"
mapfile -t sources < <(find /etc/apt/sources.list /etc/apt/sources.list.d -type f -size +0)
included=g++,make,cmake,pkg-config,python3,man-db,openmpi-bin,libopenmpi-dev,mpich,libmpich-dev
mmdebstrap --quiet --variant=apt --include="$included" --aptopt='APT::Install-Recommends "false"' \
    --customize-hook="'$(realpath "$0")' --in \"\$1\" '$source' '$folder'" bookworm /dev/null "${sources[@]}"
