#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the main job: `hca run`, two HCAs over RoCEv2 at 100 Gb/s. Arguments go to `hca run`.
set -euo pipefail
cd "$(dirname "$0")/.."
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1

echo "== 1/3 set-up: Debian packages (scripts/setup.sh)"
scripts/setup.sh
echo "== 2/3 build: the program build/release/hca (preset release)"
cmake --preset release >/dev/null
cmake --build --preset release --target hca
echo "== 3/3 run: build/release/hca run $*"
exec build/release/hca run "$@"
