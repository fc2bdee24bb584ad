// SPDX-License-Identifier: Apache-2.0
// hca serve: one simulation that programs attach to.
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "model/blocks/chip.h"
#include "testbench/attach/server.h"
#include "testbench/attach/time_stamps.h"
#include "testbench/cli/commands.h"
#include "testbench/text_file.h"
#include "testbench/wire_capture.h"

namespace hca::cli {
namespace {
struct ServeArguments {
  std::string scenario, socket, directory;
  std::vector<std::string> settings;
};

volatile std::sig_atomic_t g_end_service = 0;

// Without SA_RESTART: a server that sleeps wakes.
void stop_on(int signal) {
  struct sigaction action {};
  action.sa_handler = [](int) { g_end_service = 1; };
  sigaction(signal, &action, nullptr);
}

// Files that are of `hca run` alone, and one that needs a directory.
void check_files(const testbench::RunOptions& run, const std::string& directory) {
  using testbench::RunOptions;
  constexpr std::array<std::pair<std::string_view, bool RunOptions::*>, 4> kOfRuns{
      {{"events", &RunOptions::events},
       {"vcd", &RunOptions::vcd},
       {"trace", &RunOptions::trace},
       {"messages", &RunOptions::messages}}};
  for (const auto& [name, asked] : kOfRuns)
    if (run.*asked)
      throw std::runtime_error(fmt::format(
          "run.{}: `hca serve` writes captures and counters alone; allowed: false", name));
  if (run.pcap && directory.empty())
    throw std::runtime_error("run.pcap needs a directory to write to: --out DIR");
}

// What is in the directory when the server has ended: frames of the wires, counters of all blocks.
class Records {
 public:
  Records(const std::string& directory, testbench::Testbed& testbed)
      : folder_(directory), testbed_(testbed) {
    testbench::make_folder(directory);
    std::vector<tlm_::Wire*> wires;
    for (unsigned port = 0; port < testbed.ports(); ++port) wires.push_back(&testbed.wire(port));
    for (const std::size_t ports : {1, 2})
      std::filesystem::remove(folder_ / testbench::WireCapture::name_of(ports));
    capture_ = std::make_unique<testbench::WireCapture>(
        folder_ / testbench::WireCapture::name_of(wires.size()), wires, testbed.link());
  }
  void close() {
    capture_->close();
    std::ofstream file(folder_ / "counters.csv");
    file << "counter,value\n";
    for (unsigned i = 0; i < testbench::kChips; ++i)
      testbed_.node(i).hca.chip().for_each_counters(
          [&](std::string_view block, const auto& counters) {
            engine::for_each_counter(counters, [&](const auto& row, u64 value) {
              file << fmt::format("hca{}.{}.{},{}\n", i, block, row.name, value);
            });
          });
    if (!file.flush())
      throw std::runtime_error((folder_ / "counters.csv").string() + ": could not be written");
  }

 private:
  const std::filesystem::path folder_;
  testbench::Testbed& testbed_;
  std::unique_ptr<testbench::WireCapture> capture_;
};

int serve(const ServeArguments& options) {
  const testbench::Scenario scenario = testbench::load_scenario(options.scenario, options.settings);
  check_files(scenario.run, options.directory);
  for (const int signal : {SIGINT, SIGTERM}) stop_on(signal);
  std::signal(SIGPIPE, SIG_IGN);
  attach::Server server(scenario, options.socket);
  std::unique_ptr<Records> records;
  if (!options.directory.empty())
    records = std::make_unique<Records>(options.directory, server.testbed());
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
                  "write run.pcap, with two ports run.pcapng, and counters.csv there")
      ->check([](const std::string& folder) { return folder.empty() ? "is an empty name" : ""; });
  command.add_option("--set", options->settings, "KEY=VALUE: a setting that wins over the file's")
      ->allow_extra_args(false);
  command.callback([options, &exit_code] { exit_code = serve(*options); });
}
}  // namespace hca::cli
