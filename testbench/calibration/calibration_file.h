// SPDX-License-Identifier: Apache-2.0
// A published measurement (a csv file), and its reproduction by the model (the yaml file beside it;
// vectors/calibration/README.md).
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/scenario_file.h"

namespace hca::testbench {
// The figure that is read from a run.
enum class CurveFigure : u8 {
  LatencyUs,
  MmsgS,
  GbitS,
  MibS,  // for the whole model
  ReadGbitS,
  WriteGbitS,
  ReadNsMedian,
  ReadNsMin,
  WriteThenReadNs  // for a DMA client
};
struct CurveFigureRow {
  std::string_view word, unit;
  bool of_dma, is_time;
};
inline constexpr std::array<CurveFigureRow, 9> kCurveFigures{
    {{"latency_us", "us", false, true},
     {"mmsg_s", "Mmsg/s", false, false},
     {"gbit_s", "Gb/s", false, false},
     {"mib_s", "MiB/s", false, false},
     {"read_gbit_s", "Gb/s", true, false},
     {"write_gbit_s", "Gb/s", true, false},
     {"read_ns_median", "ns", true, true},
     {"read_ns_min", "ns", true, true},
     {"write_then_read_ns", "ns", true, true}}};
constexpr const CurveFigureRow& row_of(CurveFigure figure) {
  return kCurveFigures[std::size_t(figure)];
}

struct CurvePoint {
  u64 x;
  double measured, model = 0;
};
struct Curve {
  std::string column;
  CurveFigure figure{};
  double wanted = 5;          // percent: the largest acceptable mean error
  std::string misses;         // the mechanism that the model does not have; empty: none
  std::vector<Setting> sets;  // only for this curve
  std::vector<CurvePoint> points;
};
struct Calibration {
  std::string name, file;  // of the csv file without .csv; the path of the yaml file
  std::string preset;
  std::string setup;  // the host, and the way between; empty: those of the preset
  bool is_dma = false;
  bool held_out = false;            // no knob is fitted to it
  std::string x;                    // the first column
  std::vector<std::string> x_sets;  // scenario keys that x sets
  int x_line = 1;                   // of `x.sets`
  u64 x_divide = 1;
  std::string x_unit;
  // all points of a curve in one run, one after the other, as perftest -a does
  bool one_run = false;
  std::vector<Setting> scenario;
  std::vector<Curve> curves;
};

// Reads FOLDER/NAME.csv and FOLDER/NAME.yaml. Throws ScenarioError with file, line and key; for a
// knob of the device or the host too: they have their own files.
Calibration read_calibration(const std::string& folder, const std::string& name);
// The names of the csv files of a folder, sorted. Throws std::runtime_error if it is not a folder.
std::vector<std::string> calibrations_in(const std::string& folder);
}  // namespace hca::testbench
