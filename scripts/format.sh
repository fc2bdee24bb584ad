#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/format.sh          formats every C++ file of the tree by .clang-format
# scripts/format.sh --check  changes nothing, names the files that would change and fails if there are any
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
case "${1-}" in
  '') ;;
  --check) mode=(--dry-run --Werror) ;;
  *) echo "usage: scripts/format.sh [--check]" >&2; exit 2 ;;
esac
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cpp' |
  xargs -0 -r -n 20 -P 2 clang-format --style=file "${mode[@]}"
