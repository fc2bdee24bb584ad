// SPDX-License-Identifier: Apache-2.0
// The folder of a sweep:
//   sweep.json       identifies the results: digests of scenario, points and program
//   scenario.yaml    the scenario of all points
//   points/NAME/     for each successful point: summary.json, log, point.json
//   failed/NAME/     for each failed one: log, point.json with the reason, and partial files
//   work/            results in progress; a complete result is moved to its place
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
  // `directory` is created if it does not exist. `program`: the path of the program that runs the
  // points.
  SweepStore(const SweepPlan& plan, std::string directory, std::string program);

  // Claims the folder for this sweep. Throws std::runtime_error with the difference if it belongs
  // to another sweep, scenario or program.
  void claim();
  // Removes all earlier results.
  void clear();
  // Excludes other processes from the folder during this object's lifetime; throws if one uses it.
  void lock();

  PointState state(std::size_t point) const;
  std::vector<std::size_t> points_in(PointState state) const;
  // Failed points will run again.
  void forget_failed();

  // A folder of this process for the point, and the command that fills it.
  std::string work_folder(std::size_t point) const;
  std::vector<std::string> command(std::size_t point) const;
  // Moves the point's folder to its place; returns the reason if the point failed.
  std::string settle(std::size_t point, int status) const;

  std::string reason(std::size_t point) const;  // of a failed point
  nlohmann::json summary(std::size_t point) const;
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  const std::string& directory() const { return directory_; }
  const std::string& program() const { return program_; }

 private:
  std::string folder(std::size_t point, PointState state) const;
  nlohmann::json identity() const;
  const SweepPlan& plan_;
  std::string given_, directory_, program_;  // given_: as named in messages
};
}  // namespace hca::testbench
