#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what this project needs and this machine lacks, from Debian packages (made for Debian 12).
# Prints each missing package and what it is for. Does nothing, and asks for no rights, where all is there.
set -euo pipefail

# package | what it is for
needs='
g++|compiler of the release build
clang|second compiler, fuzzing
libclang-rt-14-dev|sanitizers and libFuzzer of clang
clang-format|format check
clang-tidy|lint
shellcheck|lint of the scripts
cmake|build
ninja-build|build
pkg-config|finds SystemC, ISA-L and libpcap
ccache|makes the second build short
libsystemc-dev|SystemC and TLM-2.0
verilator|RTL to C++
yosys|reads the RTL as a synthesis tool does
zlib1g-dev|waveforms of Verilator
libisal-dev|ISA-L: the CRC-32 of the ICRC
libfmt-dev|text output
libcli11-dev|command line
libyaml-cpp-dev|scenario files
nlohmann-json3-dev|JSON
libcsv-dev|reads the list of statements
libibverbs-dev|the header of the verbs, for programs that attach
ibverbs-utils|programs of the verbs that the tests run
perftest|the same: bandwidth and latency
python3-pyverbs|the same: tests of rdma-core
libpcap-dev|reads and writes captures
catch2|unit tests
libbenchmark-dev|the speed measurement hca_bench
tshark|independent judge of our packets
python3-scapy|independent judge of the ICRC
python3-jsonschema|checks the conformance vectors against their schema
nodejs|builds the page of a report
chromium|looks at the page of a report
git|lists the files of the tree
'

missing=()
while IFS='|' read -r package purpose; do
  [ -n "$package" ] || continue
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] && continue
  [ ${#missing[@]} -gt 0 ] || echo "setup: missing on this machine:"
  printf '  %-20s %s\n' "$package" "$purpose"
  missing+=("$package")
done <<<"$needs"

# npm comes with some builds of node, otherwise by its own package.
if ! command -v npm >/dev/null; then
  [ ${#missing[@]} -gt 0 ] || echo "setup: missing on this machine:"
  printf '  %-20s %s\n' npm 'fetches what the page of a report is built from'
  missing+=(npm)
fi

if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: every package is installed, nothing to do"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: installing needs root and there is no sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"
}

# Package lists are fetched only where they do not know what is asked for.
if ! apt_get install --simulate "${missing[@]}" >/dev/null 2>&1; then
  echo "setup: apt-get update"
  apt_get update
fi
echo "setup: apt-get install --no-install-recommends ${missing[*]}"
if ! apt_get install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null; then
  echo "setup: once more, with fresh package lists"
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null
fi
echo "setup: done"
