#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py for MPICH: Debian packages it for Open MPI alone, so it is built from the same source package, into a folder of
# its own; nothing is installed.
#
#   mpi4py_of_mpich.sh build FOLDER           fetches and builds it, unless it is there: FOLDER/lib
#   mpi4py_of_mpich.sh with FOLDER COMMAND…   runs the command with it
#
# Where the source cannot be had both say "skipped: " and why, and end with 0. A source package that lies in FOLDER/source
# (mpi4py_*.dsc and what it names) is taken as it is; otherwise apt-get fetches the one of the installed python3-mpi4py
# from the mirrors that apt is configured with, whether or not they are configured for sources.
set -euo pipefail

folder=$2
why_not=$folder/why_not
mpicc=mpicc.mpich
python=/usr/bin/python3

refuse() {
    echo "$1" >"$why_not"
    echo "skipped: $1"
    exit 0
}

fetch() {
    local version lists log=$folder/fetch.log keys=/usr/share/keyrings/debian-archive-keyring.gpg
    version=$(dpkg-query -W -f '${source:Version}' python3-mpi4py 2>/dev/null) ||
        refuse "python3-mpi4py is not installed, so which mpi4py to build is not known"
    lists=$folder/apt
    mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial" "$folder/source"
    # Prints the places from which apt takes Debian's packages, as source entries.
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' | sort -u |
        sed -E "s|^|deb-src [signed-by=$keys] |" >"$lists/sources.list"
    [ -s "$lists/sources.list" ] || refuse "apt knows no mirror of Debian (apt-get update)"
    apt() {
        timeout 100 apt-get -q -o Dir::Etc::SourceList="$lists/sources.list" -o Dir::Etc::SourceParts=- \
            -o Dir::State::Lists="$lists/lists" -o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root \
            -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" </dev/null >>"$log" 2>&1
    }
    : >"$log"
    if ! apt update || ! (cd "$folder/source" && apt source --download-only "mpi4py=$version"); then
        cat "$log"
        rm -rf "$folder/source"  # a part of it would be taken for the whole
        refuse "the source package mpi4py $version cannot be fetched: $(grep -m1 '^E: ' "$log" | sed -E 's|^E: |  *\[IP.*||g' || echo 'no answer')"
    fi
}

build() {
    [ ! -e "$folder/lib/mpi4py" ] || return 0
    local tool
    for tool in $mpicc apt-get dpkg-source cython3 python3-config; do
        command -v "$tool" >/dev/null || refuse "there is no $tool"
    done
    rm -rf "$folder/tree" "$folder/built"
    compgen -G "$folder/source/mpi4py_*.dsc" >/dev/null || fetch
    dpkg-source --no-copy -x "$folder"/source/mpi4py_*.dsc "$folder/tree"
    (cd "$folder/tree" && $python setup.py -q build --mpicc="$(command -v $mpicc)" --build-lib="$folder/built")
    # An extension built for another MPI would pass the tests for the wrong reason.
    ldd "$folder"/built/mpi4py/MPI.*.so | grep -q 'libmpich\.so' || { echo "what was built is not linked to MPICH" && exit 1; }
    mv "$folder/built" "$folder/lib"
    rm -rf "$folder/tree" "$why_not"
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
why_not=$folder/why_not
case $1 in
    build)
        build
        ;;
    with)
        [ -e "$folder/lib/mpi4py" ] || refuse "$(cat "$why_not" 2>/dev/null || echo "mpi4py was not built in $(basename "$folder")")"
        shift 2
        PYTHONPATH=$folder/lib${PYTHONPATH:+:$PYTHONPATH} exec "$@"
        ;;
esac
