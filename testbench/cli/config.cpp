// SPDX-License-Identifier: Apache-2.0
// hca config: every knob of a scenario with its default, range and meaning.
#include <fmt/format.h>

#include <cstdio>

#include "testbench/cli/commands.h"
#include "testbench/scenario/scenario_knobs.h"

namespace hca::cli {
using namespace testbench;

namespace {
void print(const KnobTable& table) {
  for (const KnobTable::Entry& entry : table.entries())
    if (!is_of_one_chip(entry.path) && !is_of_one_port(entry.path))
      fmt::print("{:<42} {:<14} {:<34} {}\n", entry.path, entry.text, entry.info.range(),
                 entry.info.sentence);
}

void print_all() {
  Scenario scenario;
  KnobTable lists;
  WorkloadConfig workload;
  FaultConfig fault;
  attach::FailConfig fail;
  MixConfig mix;
  SizeConfig size;
  ServeTimeConfig time;
  lists.add("workload[]", workload);
  lists.add("workload[].mix", mix);
  lists.add("workload[].sizes[]", size);
  lists.add("workload[].serve_times[]", time);
  lists.add("faults[]", fault);
  lists.add("fail[]", fail);
  fmt::print(
      "# key, default, range, meaning. A number with a unit needs it: 4 cycles, 2 us, 100 Gb/s.\n"
      "# hca0., hca1., pcie0. ... set a knob for one of the two sides, hca.port1., hca.port2., "
      "wire1.\n"
      "# and wire2. for one of two ports.\n");
  print(knobs_of(scenario));
  print(lists);
}
}  // namespace

void add_config(CLI::App& command, int&) {
  command.callback([] { print_all(); });
}
}  // namespace hca::cli
