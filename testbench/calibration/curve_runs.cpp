// SPDX-License-Identifier: Apache-2.0
#include "testbench/calibration/curve_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>

#include "testbench/calibration/dma_client.h"
#include "testbench/run/run.h"
#include "testbench/scenario/knob_table.h"
#include "testbench/testbed/fresh_kernel.h"

namespace hca::testbench {
namespace {
constexpr double kBytesPerMib = 1 << 20;

void put(std::vector<Setting>& settings, const Setting& one) {
  for (Setting& s : settings)
    if (s.path == one.path) return void(s = one);
  settings.push_back(one);
}

constexpr std::string_view kEntry = "workload[0].";

// The device and its host; what the measurement says itself is put over them.
std::vector<Setting> device_of(const Calibration& c, const DeviceKnobs& knobs) {
  std::vector<Setting> all = settings_of(knobs.presets.at(c.preset));
  if (!c.setup.empty())
    for (const Setting& s : settings_of(knobs.setups.at(c.setup))) put(all, s);
  for (Setting& s : all) s.of_preset = true;
  return all;
}

// Everything that decides the run of some points; each but the first has an entry of its own in the
// workload list.
std::vector<Setting> settings_of_run(const Calibration& c, const Curve& curve,
                                     std::span<const CurvePoint> points, const DeviceKnobs& knobs) {
  std::vector<Setting> all = device_of(c, knobs);
  for (const Setting& s : c.scenario) put(all, s);
  for (const Setting& s : curve.sets) put(all, s);
  std::vector<Setting> entry;
  for (const Setting& s : all)
    if (s.path.starts_with(kEntry)) entry.push_back(s);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto at = [&](const std::string& path) {
      return i && path.starts_with(kEntry)
                 ? fmt::format("workload[{}].{}", i, path.substr(kEntry.size()))
                 : path;
    };
    for (const Setting& s : entry) put(all, {at(s.path), s.text, s.line});
    for (const std::string& path : c.x_sets)
      put(all,
          {at(path),
           fmt::format("{}{}{}", points[i].x / c.x_divide, c.x_unit.empty() ? "" : " ", c.x_unit),
           c.x_line});
  }
  // Settings outside lists first, then the entries in their order.
  std::stable_sort(all.begin(), all.end(), [](const Setting& a, const Setting& b) {
    return a.path.find('[') == a.path.npos && b.path.find('[') != b.path.npos;
  });
  return all;
}

RunResult run_point(const Calibration& c, const std::vector<Setting>& settings,
                    const std::vector<std::string>& overrides, const std::string& name) {
  FreshKernel kernel;
  Runner runner(scenario_of(settings, c.file, overrides), {});
  RunResult result = runner.run();
  if (!result.failures.empty()) throw std::runtime_error(name + ": " + result.failures.front());
  return result;
}

// A row of the table, or one stream.
double read_off(const RunResult& result, std::size_t place, CurveFigure figure,
                const std::string& name) {
  const SizeResult* row = place < result.sizes.size() ? &result.sizes[place] : nullptr;
  const StreamResult* stream = place < result.streams.size() ? &result.streams[place] : nullptr;
  const bool has_rate = stream || (row && row->bandwidth);
  const double gbit = stream     ? stream->gigabits_per_second()
                      : has_rate ? row->bandwidth->gigabits_per_second(row->bytes)
                                 : 0;
  switch (figure) {
    case CurveFigure::LatencyUs:
      if (row && row->latency)
        if (const auto ps = row->latency->picoseconds.percentile(50)) return double(*ps) * 1e-6;
      break;
    case CurveFigure::MmsgS:
      if (stream) return stream->million_messages_per_second();
      if (has_rate) return row->bandwidth->million_messages_per_second();
      break;
    case CurveFigure::GbitS:
      if (has_rate) return gbit;
      break;
    case CurveFigure::MibS:
      if (has_rate) return gbit * 1e9 / 8 / kBytesPerMib;
      break;
    default:
      break;
  }
  throw std::runtime_error(fmt::format("{}: its workload has no {}", name, row_of(figure).word));
}

double run_dma(const Calibration& c, const DeviceKnobs& knobs,
               const std::vector<std::string>& overrides, CurveFigure figure, u32 bytes) {
  DmaClientConfig client;
  tlm_::PcieConfig pcie;
  KnobTable table;
  table.add("dma_client", client);
  table.add("pcie", pcie);
  std::vector<Setting> settings = device_of(c, knobs);
  for (const std::string& text : overrides) settings.push_back(setting_of(text));
  for (const Setting& s : settings)
    if (const auto problem = table.set(s.path, s.text))
      throw std::runtime_error(fmt::format("preset {}: {}", c.preset, *problem));
  DmaClient dma(client, pcie);
  switch (figure) {
    case CurveFigure::ReadGbitS:
      return dma.read_rate(bytes);
    case CurveFigure::WriteGbitS:
      return dma.write_rate(bytes);
    case CurveFigure::ReadNsMedian:
      return dma.read_latency(bytes).median;
    case CurveFigure::ReadNsMin:
      return dma.read_latency(bytes).min;
    default:
      return dma.write_then_read(bytes);
  }
}
}  // namespace

DeviceKnobs knobs_as_written(const std::string& folder, const std::vector<Calibration>& of) {
  DeviceKnobs knobs;
  for (const Preset& preset : presets())
    knobs.presets.emplace(preset.name, knobs_of_preset(preset.name).value());
  for (const Calibration& c : of)
    if (!c.setup.empty() && !knobs.setups.contains(c.setup))
      knobs.setups.emplace(c.setup, read_setup(folder, c.setup));
  return knobs;
}

void check_scenarios(const Calibration& c, const DeviceKnobs& knobs,
                     const std::vector<std::string>& overrides) {
  if (c.is_dma) return;
  for (const Curve& curve : c.curves)
    for (const CurvePoint& point : curve.points)
      scenario_of(settings_of_run(c, curve, {&point, 1}, knobs), c.file, overrides);
}

void calibrate(Calibration& c, const DeviceKnobs& knobs, const std::vector<std::string>& overrides,
               const std::function<void(const std::string&)>& progress) {
  std::map<std::string, RunResult> done;  // curves that are read off one run share it
  const auto result_of = [&](const Curve& curve, std::span<const CurvePoint> points,
                             const std::string& name) -> const RunResult& {
    const std::vector<Setting> settings = settings_of_run(c, curve, points, knobs);
    std::string key;
    for (const Setting& s : settings) key += s.path + "=" + s.text + "\n";
    auto found = done.find(key);
    if (found == done.end())
      found = done.emplace(key, run_point(c, settings, overrides, name)).first;
    return found->second;
  };
  for (Curve& curve : c.curves)
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      CurvePoint& point = curve.points[i];
      const std::string name = fmt::format("{}/{}, {} {}", c.name, curve.column, c.x, point.x);
      progress(name);
      if (c.is_dma)
        point.model = run_dma(c, knobs, overrides, curve.figure, u32(point.x));
      else if (c.one_run)
        point.model = read_off(result_of(curve, curve.points, name), i, curve.figure, name);
      else
        point.model = read_off(result_of(curve, {&point, 1}, name), 0, curve.figure, name);
    }
}
}  // namespace hca::testbench
