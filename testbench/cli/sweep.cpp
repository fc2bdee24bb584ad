// SPDX-License-Identifier: Apache-2.0
// hca sweep: a scenario at many points, each a process of its own, here or as a Slurm array job.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "testbench/cli/commands.h"
#include "testbench/report/report_page.h"
#include "testbench/sweep/slurm.h"
#include "testbench/sweep/store.h"
#include "testbench/sweep/table.h"
#include "testbench/sweep/workers.h"
#include "testbench/text/text_file.h"

namespace hca::cli {
using namespace testbench;

namespace {
struct SweepArguments {
  std::string sweep, directory;
  unsigned jobs = 1;
  bool restart = false, retry = false, collect = false, slurm = false, wait = false;
  std::size_t point = kNoPoint;
  std::vector<std::string> sbatch;
  static constexpr std::size_t kNoPoint = ~std::size_t{0};
};

std::string knobs_of(const SweepPoint& point) {
  std::string text;
  for (const auto& [knob, value] : point.knobs) text += fmt::format(" {}={}", knob, value);
  return text;
}

// Runs these points, telling of each on stderr. False: stopped before the end.
bool run_points(const SweepPlan& plan, const SweepStore& store,
                const std::vector<std::size_t>& points, unsigned at_most) {
  using Clock = std::chrono::steady_clock;
  const auto started = Clock::now();
  std::vector<Job> jobs;
  for (const std::size_t point : points)
    jobs.push_back({point, store.command(point), store.work_folder(point) + "/log"});
  std::size_t next = 0, ended = 0;
  const auto next_job = [&]() -> const Job* {
    if (next == jobs.size()) return nullptr;
    std::filesystem::create_directories(store.work_folder(jobs[next].point));
    return &jobs[next++];
  };
  return run_jobs(next_job, at_most, [&](const Job& job, int status) {
    const std::string problem = store.settle(job.point, status);
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
    ++ended;
    fmt::print(stderr, "{}/{} {} {}{}{}, {:.0f} s left\n", ended, jobs.size(),
               plan.points[job.point].name, problem.empty() ? "done" : "FAILED",
               knobs_of(plan.points[job.point]), problem.empty() ? "" : ": " + problem,
               seconds / double(ended) * double(jobs.size() - ended));
  });
}

// The table of all points as they are; the exit code of the sweep.
int collect(const SweepArguments& options, const SweepPlan& plan, const SweepStore& store) {
  const SweepTable table = table_of(plan, store);
  replace_text_file(store.path("sweep.csv"), csv_of(table));
  nlohmann::json origin = origin_of_page();
  origin["scenario"] = plan.file;
  replace_text_file(store.path("sweep.html"),
                    page_of(table, std::filesystem::path(plan.file).stem().string(), origin));
  const std::size_t failed = store.points_in(PointState::Failed).size(),
                    missing = store.points_in(PointState::Missing).size();
  fmt::print("{0} points: {1} done, {2} failed, {3} missing; {4}/sweep.csv, {4}/sweep.html\n",
             plan.points.size(), plan.points.size() - failed - missing, failed, missing,
             options.directory);
  for (const std::string& mistake : table.mistakes) fmt::print(stderr, "{}\n", mistake);
  return failed || missing || !table.mistakes.empty() ? kCheckFailed : kSucceeded;
}

int run_slurm(const SweepArguments& options, const SweepPlan& plan, const SweepStore& store) {
  const SlurmJob job{std::filesystem::absolute(options.sweep).string(), options.jobs, options.wait,
                     options.sbatch};
  submit(job, store, store.points_in(PointState::Missing));
  if (options.wait) return collect(options, plan, store);
  fmt::print("When they have ended: hca sweep {} --out {} --collect\n", options.sweep,
             options.directory);
  return kSucceeded;
}

int sweep(const SweepArguments& options) {
  const SweepPlan plan = load_sweep(options.sweep);
  SweepStore store(plan, options.directory,
                   std::filesystem::read_symlink("/proc/self/exe").string());
  if (options.point != SweepArguments::kNoPoint) {
    if (options.point >= plan.points.size())
      throw std::runtime_error(fmt::format("--point: {} is no point; allowed: 0 .. {}",
                                           options.point, plan.points.size() - 1));
    store.claim();
    if (store.state(options.point) == PointState::Missing &&
        !run_points(plan, store, {options.point}, 1))
      return kCheckFailed;
    return store.state(options.point) == PointState::Done ? kSucceeded : kCheckFailed;
  }
  store.lock();
  if (options.restart) store.clear();
  store.claim();
  if (options.collect) return collect(options, plan, store);
  if (options.retry) store.forget_failed();
  if (options.slurm) return run_slurm(options, plan, store);
  std::filesystem::remove_all(store.path("work"));
  std::filesystem::create_directories(store.path("work"));
  const std::vector<std::size_t> points = store.points_in(PointState::Missing);
  if (points.size() < plan.points.size())
    fmt::print(stderr, "{} of {} points are there already\n", plan.points.size() - points.size(),
               plan.points.size());
  if (!run_points(plan, store, points, options.jobs)) {
    collect(options, plan, store);
    fmt::print(stderr, "stopped; the same command continues from here\n");
    return kCheckFailed;
  }
  return collect(options, plan, store);
}
}  // namespace

void add_sweep(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<SweepArguments>();
  command.add_option("sweep", options->sweep, "YAML file: scenario and axes")->required();
  command.add_option("--out", options->directory, "folder of the results; made if it is missing")
      ->required();
  command.add_option("-j,--jobs", options->jobs, "points at the same time (default 1)")
      ->check(CLI::Range(1, 4096));
  CLI::Option* restart =
      command.add_flag("--restart", options->restart, "remove the results of before");
  command.add_flag("--retry", options->retry, "run the points that failed again");
  CLI::Option* collect = command.add_flag("--collect", options->collect,
                                          "run nothing, write sweep.csv and sweep.html");
  CLI::Option* point = command.add_option("--point", options->point, "run this one point, from 0");
  CLI::Option* slurm = command.add_flag(
      "--slurm", options->slurm, "submit the points as a Slurm array job, -j at the same time");
  command.add_flag("--wait", options->wait, "wait for the Slurm job and collect")->needs(slurm);
  command
      .add_option("--sbatch", options->sbatch,
                  "option for sbatch, as --sbatch=--partition=long; more than once")
      ->needs(slurm)
      ->allow_extra_args(false);
  collect->excludes(point)->excludes(slurm)->excludes(restart);
  point->excludes(slurm)->excludes(restart);
  command.callback([options, &exit_code] { exit_code = sweep(*options); });
}
}  // namespace hca::cli
