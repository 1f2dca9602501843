#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks every file of the repository: it is smaller than 1 MiB and has no path of one machine and no line that ends in
# blanks; a source file is not much longer than 400 lines and includes no other source file. A source, script or build file names its licence at its top,
# the README's example is the one that is tested, every relative link of the pages leads somewhere, no line of
# prose in them is too long, the messages of docs/troubleshooting.md exist, and comments, messages and pages name their ranks and processes by nouns.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
complain() { echo "$1" >&2; failed=1; }

while IFS= read -r file; do
    [ -f "$file" ] || continue
    bytes=$(stat -c %s "$file")
    [ "$bytes" -lt $((1 << 20)) ] || complain "$file: $bytes bytes; a file has less than 1 MiB"
    case $file in
    *.cpp | *.hpp | *.h | *.c)
        lines=$(wc -l <"$file")
        [ "$lines" -le 500 ] || complain "$file: $lines lines; which second concept moved in?"
        ;;
    esac
    case $file in
    *.md | *.png | *.svg | *.json | *.cff | *hpccinf.txt | LICENSE | .gitignore | .git-blame-ignore-revs) ;;
    *)
        [[ $(head -n 4 "$file") == *"SPDX-License-Identifier: BSD-3-Clause"* ]] ||
            complain "$file: the line SPDX-License-Identifier: BSD-3-Clause is missing at its top"
        ;;
    esac
done < <(git ls-files --cached --others --exclude-standard)

if git grep -nIE --untracked '/(home|Users|root|work)/[A-Za-z0-9_.-]+/' -- . ':!cmake/check_files.sh'; then
    complain "paths of one machine, see above"
fi
if git grep -nIE --untracked '[[:blank:]]+$' -- '*.cpp' '*.hpp' '*.h' '*.c' '*.cmake' '*CMakeLists.txt' '*.sh' '*.py'; then
    complain "blanks at the ends of lines, see above"
fi
if git grep -nIE --untracked '^#include "[^"]*[.](c|cpp)"' -- '*.cpp' '*.hpp' '*.h' '*.c'; then
    complain "sources that include sources, see above"
fi
if [[ $(<README.md) != *"$(grep -v SPDX-License-Identifier examples/hello/hello.cpp)"* ]]; then
    complain "README.md: its example is not examples/hello/hello.cpp"
fi
cmake/check_rooms.py || complain "rooms that are not as docs/rooms/index.md has them, see above"
cmake/check_links.py || complain "links that lead nowhere, see above"
cmake/check_messages.py || complain "messages that no source prints, see above"
cmake/check_line_lengths.py || complain "lines of prose that are too long, see above"
cmake/check_english.py || complain "pronouns instead of the field's nouns, see above"
exit $failed
