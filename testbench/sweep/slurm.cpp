// SPDX-License-Identifier: Apache-2.0
#include "testbench/sweep/slurm.h"

#include <fmt/format.h>

#include <filesystem>

#include "testbench/sweep/workers.h"
#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace {
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}
}  // namespace

std::vector<ArrayJob> array_jobs(const std::vector<std::size_t>& points) {
  std::vector<ArrayJob> jobs;
  for (std::size_t i = 0; i < points.size();) {
    const std::size_t offset = points[i] / kArraySize * kArraySize;
    ArrayJob job{offset, ""};
    while (i < points.size() && points[i] < offset + kArraySize) {
      const std::size_t first = points[i];
      std::size_t last = first;
      while (++i < points.size() && points[i] == last + 1 && points[i] < offset + kArraySize)
        ++last;
      job.indices += fmt::format("{}{}", job.indices.empty() ? "" : ",", first - offset);
      if (last > first) job.indices += fmt::format("-{}", last - offset);
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string script_of(const SlurmJob& job, const SweepStore& store) {
  return fmt::format(
      "#!/bin/sh\n"
      "# Made by `hca sweep --slurm`: one point a task, those from $1 on.\n"
      "exec {} sweep {} --out {} --point \"$(($1 + SLURM_ARRAY_TASK_ID))\"\n",
      quoted(store.program()), quoted(job.sweep), quoted(store.directory()));
}

void submit(const SlurmJob& job, const SweepStore& store, const std::vector<std::size_t>& points) {
  const std::string script = store.path("slurm.sh"), logs = store.path("slurm");
  std::filesystem::create_directories(logs);
  write_text_file(script, script_of(job, store));
  for (const ArrayJob& array : array_jobs(points)) {
    std::vector<std::string> command{"sbatch", "--job-name=hca-sweep",
                                     fmt::format("--array={}%{}", array.indices, job.at_once),
                                     "--output=" + logs + "/%A_%a.log"};
    command.insert(command.end(), job.options.begin(), job.options.end());
    if (job.wait) command.emplace_back("--wait");
    command.push_back(script);
    command.push_back(std::to_string(array.offset));
    // With --wait 1 is the exit code of a task: that of a point that failed.
    const int code = run_command(command);
    if (code != 0 && !(job.wait && code == 1))
      throw std::runtime_error(fmt::format("sbatch ended with exit code {}", code));
  }
}
}  // namespace hca::testbench
