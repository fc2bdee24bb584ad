#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what this project needs and this machine lacks, from Debian packages (made for Debian 12).
#   scripts/setup.sh [FOR...]   all of it, or what is for these: program (`hca run`), a part of the program (replay, serve, rtl, page), tests
# Prints each missing package and its purpose. Does nothing, and needs no rights, if no package is missing.
set -euo pipefail

# for | package | what it is for
needs='
program|g++|compiler of the release build
tests|clang|second compiler, fuzzing
tests|libclang-rt-14-dev|sanitizers and libFuzzer of clang
tests|clang-format|format check
tests|clang-tidy|lint
tests|shellcheck|lint of the scripts
program|cmake|build
program|ninja-build|build
program|pkg-config|finds SystemC, ISA-L and libpcap
program|ccache|makes the second build short
program|libsystemc-dev|SystemC and TLM-2.0
rtl|verilator|RTL to C++
tests|yosys|reads the RTL as a synthesis tool does
program|zlib1g-dev|reads packed captures; waveforms of Verilator
program|libisal-dev|ISA-L: the CRC-32 of the ICRC
program|libfmt-dev|text output
program|libcli11-dev|command line
program|libyaml-cpp-dev|scenario files
program|nlohmann-json3-dev|JSON
replay|libcsv-dev|reads the list of statements
serve|libibverbs-dev|the header of the verbs, for programs that attach
serve|librdmacm-dev|the header of rdma_cm, for the same
serve|libzydis-dev|reads machine code: where a program reads the time stamp counter
tests|ibverbs-utils|programs of the verbs that the tests run
tests|perftest|the same: bandwidth and latency
tests|python3-pyverbs|the same: tests of rdma-core
tests|rdmacm-utils|the same: rping, ucmatose, udaddy
tests|infiniband-diags|the same: ibstat, ibstatus
tests|ucx-utils|the same: UCX and its tests
tests|openmpi-bin|the same: MPI over UCX
tests|libopenmpi-dev|its compiler
tests|mpich|the same: another MPI over UCX
tests|libmpich-dev|its compiler
tests|libjemalloc2|allocators that programs bring
tests|libmimalloc2.0|the same
tests|libtcmalloc-minimal4|the same
tests|hwloc-nox|lstopo-no-graphics, which looks for HCAs
program|libpcap-dev|writes captures, names of link types
tests|catch2|unit tests
tests|libbenchmark-dev|the speed measurement hca_bench
tests|tshark|independent judge of our packets
tests|tcpdump|writes dumps as people paste them
tests|xxd|the same
tests|bsdextrautils|the same: hexdump
tests|tcpdump|writes dumps as people paste them
tests|xxd|the same
tests|bsdextrautils|the same: hexdump
tests|python3-scapy|independent judge of the ICRC
tests|python3-jsonschema|checks the conformance vectors against their schema
page|nodejs|builds the page of a report
tests|chromium|looks at the page of a report
tests|git|lists the files of the tree
'

all='program replay study docs serve rtl page tests'
for purpose in "$@"; do
  [[ " $all " == *" $purpose "* ]] || { echo "setup: '$purpose' is nothing to install for; allowed: $all" >&2; exit 2; }
done
[ $# -gt 0 ] || read -ra purposes <<<"$all"
[ $# -eq 0 ] || purposes=("$@")
is_wanted() { [[ " ${purposes[*]} " == *" $1 "* ]]; }

missing=()
while IFS='|' read -r use package purpose; do
  is_wanted "$use" || continue
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] && continue
  [ ${#missing[@]} -gt 0 ] || echo "setup: missing on this machine:"
  printf '  %-20s %s\n' "$package" "$purpose"
  missing+=("$package")
done <<<"$needs"

# npm comes with some builds of node, otherwise by its own package.
if is_wanted page && ! command -v npm >/dev/null; then
  [ ${#missing[@]} -gt 0 ] || echo "setup: missing on this machine:"
  printf '  %-20s %s\n' npm 'fetches what the page of a report is built from'
  missing+=(npm)
fi

if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: every package for ${purposes[*]} is installed, nothing to do"
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

# Package lists are fetched only if a requested package is not in them.
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
