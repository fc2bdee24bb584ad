// SPDX-License-Identifier: Apache-2.0
// hca serve: one simulation that programs attach to.
#include <fmt/format.h>

#include <csignal>
#include <memory>

#include "testbench/cli/commands.h"
#include "testbench/programs/server/records.h"
#include "testbench/programs/server/serve_rules.h"
#include "testbench/programs/server/time_stamps.h"
#include "testbench/scenario/scenario_file.h"

namespace hca::cli {
namespace {
struct ServeArguments {
  std::string scenario, socket, directory;
  u32 programs = 0;
  std::vector<std::string> settings;
};

volatile std::sig_atomic_t g_end_service = 0;

// Without SA_RESTART: a server that sleeps wakes.
void stop_on(int signal) {
  struct sigaction action {};
  action.sa_handler = [](int) { g_end_service = 1; };
  sigaction(signal, &action, nullptr);
}

int serve(const ServeArguments& options) {
  const testbench::Scenario scenario = testbench::load_scenario(options.scenario, options.settings);
  if (const auto mistakes = attach::serve_mistakes(scenario, !options.directory.empty());
      !mistakes.empty())
    throw testbench::ScenarioError(mistakes);
  for (const int signal : {SIGINT, SIGTERM}) stop_on(signal);
  std::signal(SIGPIPE, SIG_IGN);
  const bool captures =
      !options.directory.empty() && (scenario.run.pcap || !scenario.find_given("run.pcap"));
  attach::Server server(scenario, options.socket, {options.programs, captures});
  std::unique_ptr<attach::Records> records;
  if (!options.directory.empty()) {
    records = std::make_unique<attach::Records>(options.directory, server, captures);
    server.paused = [&](bool idle) { records->pause(idle); };
  } else {
    server.paused = [&](bool) {  // what faults did is not kept for nobody
      for (unsigned wire = 0; wire < server.testbed().wires(); ++wire)
        server.testbed().wire(wire).take_fault_records();
    };
  }
  std::string names;
  for (const auto& device : server.devices()) names += (names.empty() ? "" : ", ") + device->name();
  if (!attach::can_trap_time_stamps())
    fmt::print(
        "the time stamp counter does not trap on this machine: in programs the instructions that "
        "read it are overwritten; those that a program makes while it runs show real time\n");
  fmt::print("serving {} at {}\n", names, options.socket);
  std::fflush(stdout);
  server.run(g_end_service);
  if (records) records->close();
  return kSucceeded;
}
}  // namespace

void add_serve(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<ServeArguments>();
  command.add_option("scenario", options->scenario, "YAML file")->required();
  command.add_option("--socket", options->socket, "where programs attach: a path")->required();
  command
      .add_option("--out", options->directory,
                  "write run.pcap, with two ports run.pcapng, counters.csv, faults.csv and "
                  "summary.json there, while it serves")
      ->check([](const std::string& folder) { return folder.empty() ? "is an empty name" : ""; });
  command
      .add_option("--programs", options->programs,
                  "simulated time stands until this many programs have opened a device in it")
      ->check(CLI::Range(0u, 1000u));
  command.add_option("--set", options->settings, "KEY=VALUE: a setting that wins over the file's")
      ->allow_extra_args(false);
  command.callback([options, &exit_code] { exit_code = serve(*options); });
}
}  // namespace hca::cli
