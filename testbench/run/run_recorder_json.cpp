// SPDX-License-Identifier: Apache-2.0
// The data of a recorded run, for its page.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "testbench/run/run_recorder.h"
#include "testbench/text/rounded.h"

namespace hca::testbench {
nlohmann::json RunRecorder::json() const {
  using nlohmann::json;
  json columns = json::array(), phases = json::array();
  for (const std::size_t c : series_.shown()) {
    const TimeSeries::Column& column = series_.columns()[c];
    if (column.amounts.empty()) continue;
    json values = json::array();
    for (const double value : series_.values(c)) values.push_back(rounded(value));
    columns.push_back({{"group", column.group},
                       {"name", column.name},
                       {"unit", column.unit},
                       {"values", std::move(values)}});
  }
  const std::size_t messages = kMostMessages / std::max<std::size_t>(phases_.size(), 1);
  for (const Phase& p : phases_) {
    json uses = json::array(), blocks = json::array();
    for (const Use& use : p.uses)
      uses.push_back({{"resource", use.name}, {"kind", use.kind}, {"share", use.share}});
    for (const Use& use : p.blocks) blocks.push_back({{"block", use.name}, {"share", use.share}});
    json limits = json::array(), stalls = json::array();
    for (const Use& use : p.limits)
      limits.push_back({{"resource", use.name},
                        {"share", use.share},
                        {"said", limit_kind(use.kind).said},
                        {"knob", use.knob}});
    for (const Stalled& s : p.stalls)
      stalls.push_back(
          {{"block", s.block}, {"cause", s.cause}, {"cycles", s.cycles}, {"share", s.share}});
    phases.push_back({{"what", p.what},
                      {"from_ps", p.from},
                      {"to_ps", p.to},
                      {"messages", p.messages},
                      {"bytes", p.bytes},
                      {"resources", uses},
                      {"blocks", blocks},
                      {"times", p.times.json(std::max<std::size_t>(messages, 8))},
                      {"stalls", stalls},
                      {"limits", limits},
                      {"bottleneck", p.limits.empty() ? json() : json(p.limits[0].name)}});
  }
  return {{"width_ps", series_.width()}, {"rows", series_.rows()},
          {"series", columns},           {"phases", phases},
          {"peaks", peaks_.json()},      {"ladders", ladder_.json()}};
}
}  // namespace hca::testbench
