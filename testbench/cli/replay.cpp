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

void replay_one(const Options& options, const std::string& file, ReplayRun& run) {
  const Capture capture = load_capture(file);
  if (const std::string needs = waits_for(capture); !needs.empty())
    return run.waiting.push_back({capture.name, needs});
  bool any = false;
  for (const ReplayRunner& runner : replay_runners()) {
    if (!options.runner.empty() && options.runner != runner.name) continue;
    for (const End end : {End::A, End::B}) {
      if (!capture.has_device(end) || (!options.end.empty() && options.end[0] != name_of(end)))
        continue;
      any = true;
      run.reports.push_back(replay(capture, end, runner));
    }
  }
  if (!any) throw std::runtime_error("no device at this end");
}

ReplayRun replay_all(const Options& options) {
  ReplayRun run;
  for (const std::string& file : options.files) try {
      replay_one(options, file, run);
    } catch (const std::exception& error) {
      const std::string what = error.what();
      throw std::runtime_error(what.starts_with(file) || what.starts_with(json_beside(file))
                                   ? what
                                   : json_beside(file) + ": " + what);
    }
  return run;
}

void write_json(const std::string& path, const ReplayRun& run) {
  std::ofstream file(path);
  file << json_of(run).dump(1) << '\n';
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
    const ReplayRun run = replay_all(*options);
    std::fputs(text_of(run).c_str(), stdout);
    if (!options->json_path.empty()) write_json(options->json_path, run);
    for (const ReplayReport& r : run.reports)
      if (!r.same()) exit_code = kCheckFailed;
  });
}
}  // namespace hca::cli
