#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Adds a part to the program hca of a build folder that leaves it out (HCA_PARTS), with the Debian packages that it needs.
# The program itself calls it when the part is first used.
#   scripts/part.sh FOLDER PART
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: scripts/part.sh FOLDER PART" >&2; exit 2; }
folder=$(realpath "$1") part=$2
cd "$(dirname "$0")/.."

exec 9>"$folder/part.lock"
if ! flock -n 9; then
  echo "part: waiting for another build of a part in $folder"
  flock 9
fi
scripts/setup.sh program "$part" | { grep -v 'nothing to do$' || true; }
before=$(sed -n 's/^HCA_PARTS:[A-Z]*=//p' "$folder/CMakeCache.txt")
parts=$before
[[ ";$before;" == *";$part;"* || $before == all ]] || parts=${before:+$before;}$part
# A part that is not built, whatever the reason, is not asked for by later builds.
built=false build=
restore() {
  [ -z "$build" ] || { kill "$build" && wait "$build"; } 2>/dev/null || true
  $built || cmake "$folder" "-DHCA_PARTS=$before" >/dev/null 2>&1 || true
}
trap restore EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
cmake "$folder" "-DHCA_PARTS=$parts" >/dev/null
quiet=()
[ -t 1 ] || quiet=(--quiet)
ninja -C "$folder" "${quiet[@]}" hca </dev/null &
build=$!
wait "$build"
build='' built=true
