#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs shellcheck on every shell script of the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z --cached --others --exclude-standard -- 'scripts/*.sh' 'testbench/*.sh' .ci/run | xargs -0 shellcheck
