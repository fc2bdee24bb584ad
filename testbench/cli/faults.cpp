// SPDX-License-Identifier: Apache-2.0
// hca faults: the lists `faults` and `fail` of an `hca serve` that runs.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "testbench/cli/commands.h"
#include "testbench/cli/server_link.h"
#include "testbench/programs/server/fault_messages.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/scenario/scenario_knobs.h"

namespace hca::cli {
namespace {
using attach::FaultReport;
using testbench::Scenario;

struct FaultArguments {
  std::string socket;
  std::vector<std::string> entries;
  bool clear = false;
};

// The settings that differ from the default, in the form of a scenario.
template <class Config>
std::string text_of(const Config& config) {
  std::vector<std::string> keys, defaults;
  const Config plain;
  engine::for_each_knob(plain, [&](const auto& knob) { defaults.push_back(knob.text()); });
  std::size_t place = 0;
  engine::for_each_knob(config, [&](const auto& knob) {
    const bool always = place == 0 || knob.info.name == "status";
    if (always || knob.text() != defaults[place])
      keys.push_back(fmt::format("{}: {}", knob.info.name, knob.text()));
    ++place;
  });
  return fmt::format("{{{}}}", fmt::join(keys, ", "));
}

FaultReport report_at(const ServerLink& server, u32 place) {
  attach::Request request;
  request.verb = attach::Verb::QueryFaults;
  request.object = place;
  return attach::get<FaultReport>(server.ask(request).body);
}

void show(const ServerLink& server) {
  const FaultReport first = report_at(server, 0);
  if (!first.faults && !first.fails) return fmt::print("no faults\n");
  for (u32 place = 0; place < first.faults + first.fails; ++place) {
    const FaultReport r = report_at(server, place);
    if (place < first.faults)
      fmt::print("faults[{}]: {}: {} frames matched, {} hit\n", place, text_of(r.fault), r.seen,
                 r.done);
    else
      fmt::print("fail[{}]: {}: {} {}, {} failed\n", place - first.faults, text_of(r.fail), r.seen,
                 r.fail.is_of_completion() ? "completions" : "calls", r.done);
  }
}

// An entry has a key, or lists some; what has none was meant as the name of a file.
bool names_file(const std::string& entry) {
  return !entry.empty() && entry.find_first_of("{[:\n ") == entry.npos;
}

// An entry of `faults`, lists of both by their keys, or a file with such keys.
Scenario parse(const std::string& entry, u32 ports) {
  const std::vector<std::string> overrides{fmt::format("hca.core.ports={}", ports)};
  const bool is_file = std::filesystem::exists(entry) || names_file(entry);
  std::vector<testbench::Setting> settings =
      is_file                  ? testbench::read_yaml_file(entry)
      : entry.starts_with('{') ? testbench::read_yaml("faults: [" + entry + "]", "faults")
                               : testbench::read_yaml(entry, "faults");
  const std::string name = is_file ? entry : "faults";
  if (settings.empty())
    throw std::runtime_error(
        fmt::format("\"{}\" has no entry; allowed: {{action: drop, ...}}, \"fail: {{verb: ...}}\", "
                    "\"faults: [...]\", a file that has them",
                    entry));
  for (const testbench::Setting& s : settings)
    if (!s.path.starts_with("faults") && !s.path.starts_with("fail"))
      throw testbench::ScenarioError(
          {fmt::format("{}:{}: {}: cannot change while the server runs; allowed: faults, fail",
                       name, s.line, s.path)});
  return testbench::scenario_of(std::move(settings), name, overrides);
}

template <class Config>
void add(const ServerLink& server, attach::Verb verb, const Config& config) {
  attach::Request request;
  request.verb = verb;
  attach::put(request.body, config);
  if (const int error = server.ask(request).error)
    throw std::runtime_error(
        fmt::format("{}: the server refuses it: {}", text_of(config),
                    error == ENOSPC ? "it has too many" : std::strerror(error)));
}

void change(const FaultArguments& options) {
  const ServerLink server(options.socket);
  const u32 ports = report_at(server, 0).ports;
  std::vector<Scenario> given;  // all of them before the first is sent
  for (const std::string& entry : options.entries) given.push_back(parse(entry, ports));
  if (options.clear) server.ask(attach::Verb::ClearFaults);
  for (const Scenario& scenario : given) {
    for (const auto& fault : scenario.faults) add(server, attach::Verb::AddFault, fault);
    for (const auto& fail : scenario.fail) add(server, attach::Verb::AddFail, fail);
  }
  show(server);
}
}  // namespace

void add_faults(CLI::App& command, int&) {
  auto options = std::make_shared<FaultArguments>();
  command.add_option("--attach", options->socket, "the socket of the `hca serve`")->required();
  command.add_flag("--clear", options->clear, "the entries that are there go before others come");
  command.add_option(
      "entries", options->entries,
      "entries to add: '{action: drop, occurrence: 3}', 'fail: {verb: post_send, nth: 3, status: "
      "ENOMEM}', 'faults: [...]', or a file with such keys; none: list the entries");
  command.callback([options] { change(*options); });
}
}  // namespace hca::cli
