// SPDX-License-Identifier: Apache-2.0
// hca run: HCAs, their hosts and wires; without a scenario, each operation of all sizes.
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "testbench/cli/attach.h"
#include "testbench/cli/commands.h"
#include "testbench/cli/parts.h"
#include "testbench/report/page_pack.h"
#include "testbench/report/report.h"
#include "testbench/report/report_page.h"
#include "testbench/report/seeds.h"
#include "testbench/run/bottleneck_check.h"
#include "testbench/run/run_recorder.h"
#include "testbench/run/shrink.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/text/text_file.h"
#include "testbench/trace/chrome_trace.h"
#include "testbench/trace/event_log.h"
#include "testbench/trace/message_csv.h"
#include "testbench/trace/vcd_file.h"
#include "testbench/trace/wire_capture.h"

namespace hca::cli {
using namespace testbench;

namespace {
struct RunArguments {
  std::string scenario, directory;
  std::vector<std::string> settings;
  bool shrink = false, check_bottleneck = false;
  unsigned seeds = 1;
  AttachArguments attach;
};

// On a terminal one line that changes, otherwise a line every few seconds; on stderr.
class ProgressLines {
 public:
  void operator()(const ProgressState& state) {
    if (state.seconds - shown_ < (terminal_ ? 0.1 : 5.0)) return;
    shown_ = state.seconds;
    const double left = state.done > 0.01 ? state.seconds / state.done * (1 - state.done) : 0;
    const std::string line =
        fmt::format("{:3.0f} %  {:<26} {:.3f} ms simulated, {:.3f} ms/s, {:.0f} s left",
                    state.done * 100, state.what, double(state.picoseconds) * 1e-9,
                    double(state.picoseconds) * 1e-9 / state.seconds, left);
    std::fprintf(stderr, terminal_ ? "\r%-100s" : "%s\n", line.c_str());
    std::fflush(stderr);
  }
  void end() const {
    if (terminal_ && shown_ > 0) std::fprintf(stderr, "\r%100s\r", "");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO);
  double shown_ = 0;
};

// Writes the recorded series.csv and stalls.csv; returns their part for the page and the summary.
nlohmann::json write_series(const std::string& out, const RunResult& result,
                            const Scenario& scenario, const RunRecorder& recorder) {
  nlohmann::json all = json_of(result, scenario);
  all["recording"] = recorder.json();
  write_text_file(out + "/series.csv", recorder.series().csv());
  write_text_file(out + "/stalls.csv", recorder.stalls_csv());
  return all;
}

// Takes the values of the series and the single messages of a run's data out, or puts them back.
class OfPageOnly {
 public:
  explicit OfPageOnly(nlohmann::json& recording) {
    for (nlohmann::json& column : recording["series"]) take(column, "values");
    for (nlohmann::json& phase : recording["phases"]) take(phase["times"], "messages");
  }
  void put_back() {
    for (Part& part : parts_) (*part.of)[part.key] = std::move(part.data);
  }

 private:
  struct Part {
    nlohmann::json* of;
    const char* key;
    nlohmann::json data;
  };
  void take(nlohmann::json& of, const char* key) {
    parts_.push_back({&of, key, std::move(of.at(key))});
    of.erase(key);
  }
  std::vector<Part> parts_;
};

// The page and summary.json, which has the series by name only, and no single messages.
void write_results(const RunArguments& options, nlohmann::json all) {
  using nlohmann::json;
  const std::string& out = options.directory;
  OfPageOnly of_page(all["recording"]);
  write_text_file(out + "/summary.json", all.dump(1) + '\n');
  of_page.put_back();
  json page = slim(std::move(all));
  page["origin"] = origin_of_page();
  page["origin"]["scenario"] = options.scenario;
  page["origin"]["settings"] = options.settings;
  write_page(out + "/report.html", run_page(), packed(page));
}

// Set by SIGINT and SIGTERM while a failed run is shrunk.
volatile std::sig_atomic_t g_stop = 0;
class StopOnSignal {
 public:
  StopOnSignal() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      before_[i] = std::signal(kSignals[i], [](int) { g_stop = 1; });
  }
  ~StopOnSignal() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before_[i]);
  }

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM};
  std::array<void (*)(int), kSignals.size()> before_{};
};

// For a failed run: the fewest faults that cause the failure, and a scenario with only these.
void show_shrunk(const RunArguments& options, const Scenario& scenario, const RunResult& failed) {
  const std::string path = options.directory + "/shrunk.yaml";
  ShrinkHooks hooks;
  hooks.after_run = [](const Shrunk& best) {
    std::fprintf(stderr, "shrink: run %u, %zu faults, %llu messages\n", best.runs,
                 best.scenario.faults.size(), static_cast<unsigned long long>(best.messages()));
  };
  hooks.better = [&](const Shrunk& best) {
    if (!options.directory.empty())
      replace_text_file(path, text_with_faults(options.scenario, best.scenario));
  };
  hooks.stop = [] { return g_stop != 0; };
  const StopOnSignal signals;
  const Shrunk shrunk = shrink(scenario, failed, hooks);
  if (!shrunk.repeats) {
    std::puts(shrunk.stopped
                  ? "\nStopped before the same faults had failed again."
                  : "\nThe same faults, given by sender, DestQP, PSN and occurrence, do not fail "
                    "again.");
    return;
  }
  fmt::print("\nShrunk from {} faults to {} in {} runs{}. What is left:\n{}", failed.faults.size(),
             shrunk.scenario.faults.size(), shrunk.runs,
             shrunk.stopped ? ", then stopped: fewer may do" : "", text_of_faults(shrunk.scenario));
  for (const std::string& failure : shrunk.result.failures) fmt::print("FAILED: {}\n", failure);
  if (options.directory.empty()) return;
  std::string command = "hca run " + path;
  for (const std::string& setting : options.settings)
    if (!setting.starts_with("faults") && setting.find("].messages=") == setting.npos)
      command += " --set '" + setting + "'";
  fmt::print("To repeat it: {}\n", command);
}

// The first requested file of a single run, by its knob; empty: none.
std::string_view first_file(const RunOptions& run) {
  constexpr std::array<std::pair<std::string_view, bool RunOptions::*>, 5> kFiles{
      {{"pcap", &RunOptions::pcap},
       {"events", &RunOptions::events},
       {"vcd", &RunOptions::vcd},
       {"trace", &RunOptions::trace},
       {"messages", &RunOptions::messages}}};
  for (const auto& [name, asked] : kFiles)
    if (run.*asked) return name;
  return {};
}

// Removes files of an earlier run, which would be taken for those of this one.
void clear_folder(const std::string& folder) {
  if (folder.empty()) return;
  make_folder(folder);
  for (const std::string& name :
       {WireCapture::name_of(1), WireCapture::name_of(2), std::string("events.csv"),
        std::string("run.vcd"), std::string("messages.csv"), std::string("trace.json")})
    std::filesystem::remove(std::filesystem::path(folder) / name);
}

// The first seed's result, then the means of all.
int run_seeds(const RunArguments& options, const Scenario& scenario) {
  const RunOptions& files = scenario.run;
  if (const auto file = first_file(files); !file.empty())
    throw std::runtime_error(
        fmt::format("--seeds: run.{} is of one run; allowed: false with --seeds", file));
  clear_folder(options.directory);
  SeedHooks hooks{[](u64 seed) { fmt::print(stderr, "seed {}\n", seed); }};
  std::unique_ptr<RunRecorder> recorder;
  nlohmann::json results;
  std::string limits;
  if (scenario.metered) {
    hooks.first_begins = [&](Runner& runner) {
      recorder = std::make_unique<RunRecorder>(runner.testbed());
      runner.phase = [&](const std::string& what, bool begins) { recorder->phase(what, begins); };
    };
    hooks.first_ends = [&](const RunResult& result) {
      limits = recorder->bottleneck_lines() + recorder->stalls_line() + recorder->peaks_line();
      results = write_series(options.directory, result, scenario, *recorder);
      recorder.reset();
    };
  }
  const SeedsResult all = testbench::run_seeds(scenario, options.seeds, hooks);
  fmt::print("{}{}{}", text_of(all.first, scenario), limits, text_of(all));
  if (scenario.metered) {
    results["seeds"] = json_of(all);
    results["succeeded"] = all.failures.empty();
    results["failures"] = all.failures;
    write_results(options, std::move(results));
  }
  return all.failures.empty() ? kSucceeded : kCheckFailed;
}

int check_limits(const RunArguments& options) {
  // A pipe can be read once.
  const std::vector<Setting> settings =
      options.scenario.empty() ? std::vector<Setting>{} : read_yaml_file(options.scenario);
  const auto load = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = options.settings;
    all.insert(all.end(), more.begin(), more.end());
    return scenario_of(settings, options.scenario, all);
  };
  const BottleneckCheck check = check_bottleneck(
      load, [](const std::string& what) { fmt::print(stderr, "run: {}\n", what); });
  fmt::print("{}", text_of(check));
  return check.failures.empty() && check.is_right() ? kSucceeded : kCheckFailed;
}

int run(const RunArguments& options) {
  if (options.check_bottleneck) return check_limits(options);
  if (!options.directory.empty()) want_page(run_page());  // before a pipe is read
  Scenario scenario = load_scenario(options.scenario, options.settings);
  scenario.metered = !options.directory.empty();
  if (options.seeds > 1) return run_seeds(options, scenario);
  const RunOptions& files = scenario.run;
  if (const auto file = first_file(files); !file.empty() && options.directory.empty())
    throw std::runtime_error(fmt::format("run.{} needs a directory to write to: --out DIR", file));
  clear_folder(options.directory);
  auto progress = std::make_shared<ProgressLines>();
  Runner runner(scenario, [progress](const ProgressState& state) { (*progress)(state); });
  std::unique_ptr<WireCapture> capture;
  std::unique_ptr<EventLog> events;
  std::unique_ptr<VcdFile> vcd;
  std::unique_ptr<RunRecorder> recorder;
  std::unique_ptr<ChromeTrace> trace;
  std::unique_ptr<MessageCsv> messages;
  Testbed& testbed = runner.testbed();
  const std::string& out = options.directory;
  if (files.pcap) {
    const std::vector<NamedWire> wires = testbed.named_wires();
    capture = std::make_unique<WireCapture>(out + "/" + WireCapture::name_of(wires.size()), wires,
                                            testbed.link());
  }
  if (files.events) events = std::make_unique<EventLog>(out + "/events.csv", testbed);
  if (files.vcd) vcd = std::make_unique<VcdFile>(out + "/run.vcd", testbed);
  if (scenario.metered) {
    recorder = std::make_unique<RunRecorder>(testbed);
    runner.phase = [&](const std::string& what, bool begins) { recorder->phase(what, begins); };
  }
  if (files.messages) {
    messages = std::make_unique<MessageCsv>(out + "/messages.csv");
    recorder->message_sink = [&](const MessageTimes& message) { messages->add(message); };
  }
  if (files.trace) trace = std::make_unique<ChromeTrace>(out + "/trace.json", testbed);
  const RunResult result = runner.run();
  progress->end();
  if (capture) capture->close();
  if (events) events->close();
  if (vcd) vcd->close();
  if (trace) trace->close();
  if (messages) messages->close();
  std::fputs(text_of(result, scenario).c_str(), stdout);
  if (recorder) {
    std::fputs(
        (recorder->bottleneck_lines() + recorder->stalls_line() + recorder->peaks_line()).c_str(),
        stdout);
    write_results(options, write_series(out, result, scenario, *recorder));
    scenario.metered = false;  // what is shrunk is not looked at
    recorder.reset();
  }
  if (trace && trace->cut_at())
    fmt::print(
        "trace.json ends at {:.3f} us: it has {} slices and values of counters, the most it may "
        "have\n",
        double(trace->cut_at()) * 1e-6, ChromeTrace::kMostItems);
  if (!result.failures.empty() && options.shrink) show_shrunk(options, scenario, result);
  return result.failures.empty() ? kSucceeded : kCheckFailed;
}
}  // namespace

void add_run(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<RunArguments>();
  command
      .add_option("scenario", options->scenario,
                  "YAML file; without it WRITE, SEND and READ from 2 B to 1 MiB, and ATOMICs")
      ->check([](const std::string& file) { return file.empty() ? "is an empty name" : ""; });
  command
      .add_option("--out", options->directory,
                  "write report.html, summary.json, series.csv, stalls.csv (and the files that "
                  "run: requests) there")
      ->check([](const std::string& folder) { return folder.empty() ? "is an empty name" : ""; });
  command.add_option("--set", options->settings, "KEY=VALUE: a setting that wins over the file's")
      ->allow_extra_args(false);
  CLI::Option* seeds = command.add_option(
      "--seeds", options->seeds,
      "run with this many seeds from run.seed on: means and 95 % confidence intervals");
  seeds->check(CLI::Range(1, 10'000));
  CLI::Option* shrink = command.add_flag(
      "--shrink", options->shrink,
      "if the run fails, look for the fewest faults with which it still fails; with "
      "--out they are in shrunk.yaml");
  shrink->excludes(seeds);
  CLI::Option* bottleneck = command.add_flag(
      "--check-bottleneck", options->check_bottleneck,
      "run again with the named limit improved by a quarter, and with the next three: it is right "
      "if none of these gains more (exit code 1 if one does)");
  bottleneck->excludes(seeds)->excludes(shrink)->excludes("--out");
  add_attach_options(command, options->attach);
  command.callback([options, &exit_code] {
    exit_code = options->attach.socket.empty() ? run(*options)
                                               : run_attached(options->scenario, options->attach);
  });
}
}  // namespace hca::cli
