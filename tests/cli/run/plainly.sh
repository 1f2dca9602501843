#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# plainly.sh CASE SLUICE [COMPILER]: where nothing can be preloaded, or not be found out, the program runs as without
# Sluice, and one line says why.
set -euo pipefail
case=$1 sluice=$2 compiler=${3:-cc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SLUICE_CONFIG=
unset LD_PRELOAD
chmod 755 "$folder"

# plainly "extended regular expression" COMMAND…: COMMAND prints "ran" and nothing else, and ends with 7
plainly() {
    local pattern=$1 code=0
    shift
    "$@" >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code $(cat "$folder/out") $(wc -l <"$folder/err")" = "7 ran 1" ] &&
        grep -qE "^sluice: runs the program plainly: $pattern" "$folder/err" && return
    echo "'$*' ends with $code, and not with 7 and one line that says '$pattern':"
    cat "$folder/out" "$folder/err"
    exit 1
}

# Without a user's right to start processes or to read the file there is no such user here.
unprivileged=()
if [ "$(id -u)" = 0 ]; then
    unprivileged=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent)
    if ! "${unprivileged[@]}" "$sluice" --version >"$folder/out" 2>&1; then
        echo "skipped: user 65534 cannot start $sluice"
        exit
    fi
fi

program=(sh -c 'echo ran; exit 7')
case $case in
processes)
    plainly "cannot find its libraries: cannot start a process: " "${unprivileged[@]}" prlimit --nproc=1:1 "$sluice" run "${program[@]}"
    ;;
descriptors)
    for most in 4 5; do  # with 3 no library can be opened
        plainly "cannot find its libraries: .*: Too many open files" \
            sh -c 'exec 3>&- 4>&- 5>&-; ulimit -n '$most'; exec "$@"' sh "$sluice" run "${program[@]}"
    done
    ;;
path)
    for name in 'with space' with:colon; do
        mkdir -p "$folder/$name/bin" "$folder/$name/lib"
        cp "$sluice" "$folder/$name/bin"
        touch "$folder/$name/lib/libsluice-preload-openmpi.so" "$folder/$name/lib/libsluice-pages.so"
        for options in '' '--overlap on'; do
            # shellcheck disable=SC2086
            plainly "the loader preloads nothing from a path with a space or colon, as .*/$name/lib/libsluice-" \
                env OMPI_COMM_WORLD_RANK=0 "$folder/$name/bin/sluice" run $options "${program[@]}"
        done
    done
    ;;
capabilities)
    [ ${#unprivileged[@]} -gt 0 ] || { echo "skipped: only root gives capabilities to files"; exit; }
    cp /bin/sh "$folder/shell"
    setcap cap_net_raw+ep "$folder/shell" || { echo "skipped: files have no capabilities here"; exit; }
    program=("$folder/shell" -c 'echo ran; exit 7')
    "${unprivileged[@]}" env LD_PRELOAD=/no/library "${program[@]}" >/dev/null 2>"$folder/err" || true
    if grep -q 'cannot be preloaded' "$folder/err"; then
        echo "skipped: capabilities of files do not count here"
        exit
    fi
    plainly "the program runs with rights that its user has not" "${unprivileged[@]}" "$sluice" run "${program[@]}"
    setcap cap_net_raw+i "$folder/shell"  # gives none
    "${unprivileged[@]}" "$sluice" run "${program[@]}" 2>"$folder/err" >"$folder/out" || true
    ! grep plainly "$folder/err" || exit 1
    ;;
old_sanitizer)
    echo 'int asan;' | "$compiler" -shared -fPIC -Wl,-soname,libasan.so.4 -x c - -o "$folder/libasan.so.4"
    echo 'int puts(char const*); int main(void) { puts("ran"); return 7; }' |
        "$compiler" -x c - -x none -Wl,--no-as-needed "$folder/libasan.so.4" -Wl,-rpath,"$folder" -o "$folder/program"
    plainly "nothing can be preloaded before its libasan.so.4" "$sluice" run "$folder/program"
    ;;
other_libc)  # as a program of musl: nothing in it is glibc's
    [ "$(uname -m)" = x86_64 ] || { echo "skipped: the program is written for x86-64"; exit; }
    cat >"$folder/program.c" <<'END'
asm(".globl _start\n_start: mov $1, %eax; mov $1, %edi; lea text(%rip), %rsi; mov $4, %edx; syscall\n"
    "mov $60, %eax; mov $7, %edi; syscall; text: .ascii \"ran\\n\"");
END
    "$compiler" -nostdlib -fPIE -pie "$folder/program.c" -o "$folder/program"
    plainly "the program does not use the C library that the plugin is made for" "$sluice" run "$folder/program"
    ;;
*)
    echo "no case is called $case"
    exit 1
    ;;
esac
