// SPDX-License-Identifier: Apache-2.0
// The points of a sweep as array jobs of Slurm.
#pragma once
#include <string>
#include <vector>

#include "testbench/sweep/store.h"

namespace hca::testbench {
struct SlurmJob {
  std::string sweep;     // path of the sweep file on the nodes
  unsigned at_once = 1;  // number of concurrent tasks
  bool wait = false;
  std::vector<std::string> options;  // for sbatch
};

// Slurm's default of MaxArraySize is 1001: indices 0 .. 1000.
inline constexpr std::size_t kArraySize = 1000;

// One array job: points offset + each of the indices.
struct ArrayJob {
  std::size_t offset;
  std::string indices;  // "0-3,7"
};
std::vector<ArrayJob> array_jobs(const std::vector<std::size_t>& points);

// The script of a task; its argument is the offset.
std::string script_of(const SlurmJob& job, const SweepStore& store);
// Writes slurm.sh into the sweep's folder and submits it for these points, in as many jobs as
// needed. With `wait` it returns when they have ended. Throws std::runtime_error if sbatch refuses.
void submit(const SlurmJob& job, const SweepStore& store, const std::vector<std::size_t>& points);
}  // namespace hca::testbench
