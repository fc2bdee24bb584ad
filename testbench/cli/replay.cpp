// SPDX-License-Identifier: Apache-2.0
// hca replay: recorded conversations against the model, from each end that was a real device.
#include <cstdio>
#include <fstream>
#include <memory>

#include "testbench/cli/commands.h"
#include "testbench/replay_report.h"

namespace hca::cli {
using namespace testbench;

namespace {
struct Options {
  std::vector<std::string> files;
  std::string json_path, runner, end;
};

std::vector<ReplayReport> replay_all(const Options& options) {
  std::vector<ReplayReport> reports;
  for (const std::string& file : options.files) {
    const Capture capture = load_capture(file);
    const std::size_t before = reports.size();
    for (const ReplayRunner& runner : replay_runners())
      for (const End end : {End::A, End::B}) {
        const bool wanted = (options.runner.empty() || options.runner == runner.name) &&
                            (options.end.empty() || options.end[0] == name_of(end));
        if (!wanted || !capture.has_device(end)) continue;
        try {
          reports.push_back(replay(capture, end, runner));
        } catch (const std::exception& error) {
          throw std::runtime_error(json_beside(file) + ": " + error.what());
        }
      }
    if (reports.size() == before) throw std::runtime_error(file + ": no device at this end");
  }
  return reports;
}

void write_json(const std::string& path, const std::vector<ReplayReport>& reports) {
  nlohmann::json all = nlohmann::json::array();
  for (const ReplayReport& r : reports) all.push_back(json_of(r));
  std::ofstream file(path);
  file << all.dump(1) << '\n';
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}
}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "replay", "replay captures: the model takes each end's place and must do as recorded");
  auto options = std::make_shared<Options>();
  command->add_option("files", options->files, "captures; the JSON stands beside each pcap")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--json", options->json_path, "write the reports there");
  command->add_option("--end", options->end, "only this end")->check(CLI::IsMember({"A", "B"}));
  std::vector<std::string> names;
  for (const ReplayRunner& runner : replay_runners()) names.emplace_back(runner.name);
  command->add_option("--runner", options->runner, "only this runner")->check(CLI::IsMember(names));
  command->callback([options, &exit_code] {
    const std::vector<ReplayReport> reports = replay_all(*options);
    std::fputs(text_of(reports).c_str(), stdout);
    if (!options->json_path.empty()) write_json(options->json_path, reports);
    for (const ReplayReport& r : reports)
      if (!r.same()) exit_code = kCheckFailed;
  });
}
}  // namespace hca::cli
