#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the main job: `hca run`, two HCAs over RoCEv2 at 100 Gb/s. Arguments go to `hca run`.
# Only what `hca run` needs is built; the program builds its other parts when they are first used.
set -euo pipefail
cd "$(dirname "$0")/.."
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1

echo "== 1/3 set-up: Debian packages (scripts/setup.sh program)"
scripts/setup.sh program
echo "== 2/3 build: the program build/release/hca"
# A folder with more in it keeps that.
[ -f build/release/build.ninja ] || cmake --preset program >/dev/null
cmake --build build/release --target hca
echo "== 3/3 run: build/release/hca run $*"
exec build/release/hca run "$@"
