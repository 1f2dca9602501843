#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# without_privilege.sh COMMAND…: runs the command as a user without the privilege to guard pages against system calls.
set -euo pipefail
skip() { echo "skipped: $1" && exit 0; }
[ "$(id -u)" = 0 ] || skip "needs root, to become another user"
command -v setpriv >/dev/null || skip "setpriv is missing (Debian: util-linux)"
[ "$(cat /proc/sys/vm/unprivileged_userfaultfd 2>/dev/null || echo 0)" = 0 ] || skip "every user may guard pages here"
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
"${user[@]}" test ! -r /dev/userfaultfd || skip "every user may open /dev/userfaultfd here"
"${user[@]}" test -r "$0" || skip "other users cannot read the source tree"
exec "${user[@]}" env HOME=/ "$@"
