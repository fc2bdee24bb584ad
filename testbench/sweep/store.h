// SPDX-License-Identifier: Apache-2.0
// The folder of a sweep:
//   sweep.json       what the results belong to: digests of scenario, points and program
//   scenario.yaml    the scenario of all points
//   points/NAME/     of each point that succeeded: summary.json, log, point.json
//   failed/NAME/     of each other one: log, point.json with the reason, and what there is
//   work/            what is being made; a result is moved into its place whole
#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/sweep/plan.h"

namespace hca::testbench {
enum class PointState : u8 { Missing, Done, Failed };
inline constexpr std::array<std::string_view, 3> kPointStateNames{"missing", "done", "failed"};

class SweepStore {
 public:
  // `directory` is made if it is not there. `program`: the path of the program that runs the
  // points.
  SweepStore(const SweepPlan& plan, std::string directory, std::string program);

  // Throws std::runtime_error with what has changed when the folder belongs to another sweep,
  // scenario or program. A new folder is taken for this sweep.
  void claim();
  // Removes all results of before.
  void clear();
  // No other process works on all of the folder while this object lives; throws if one does.
  void lock();

  PointState state(std::size_t point) const;
  std::vector<std::size_t> points_in(PointState state) const;
  // Failed ones are to be run again.
  void forget_failed();

  // A folder of this process for the point, and the command that fills it.
  std::string work_folder(std::size_t point) const;
  std::vector<std::string> command(std::size_t point) const;
  // Moves the point's folder to its place; what kept it from being done, or nothing.
  std::string settle(std::size_t point, int status) const;

  std::string reason(std::size_t point) const;  // of a failed one
  nlohmann::json summary(std::size_t point) const;
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  const std::string& directory() const { return directory_; }
  const std::string& program() const { return program_; }

 private:
  std::string folder(std::size_t point, PointState state) const;
  nlohmann::json identity() const;
  const SweepPlan& plan_;
  std::string given_, directory_, program_;  // given: as messages name it
};
}  // namespace hca::testbench
