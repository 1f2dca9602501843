#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every shell script must pass shellcheck and every Python script pyflakes: no name is unset, no import unused, no exit
# code lost.
set -euo pipefail
cd "$(dirname "$0")/.."
git grep -zlE --untracked '^#!/bin/(ba)?sh' | xargs -0 -r shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR
# Spack's recipes get their names from `import *`.
git ls-files -z --cached --others --exclude-standard '*.py' ':!packaging/spack' | xargs -0 -r pyflakes3
