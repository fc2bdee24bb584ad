// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/records.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/blocks/chip.h"
#include "testbench/scenario/knob_table.h"
#include "testbench/scenario/scenario_knobs.h"
#include "testbench/testbed/kernel_time.h"
#include "testbench/text/text_file.h"

namespace hca::attach {
namespace {
using nlohmann::json;
constexpr u64 kBetween = 500'000'000;  // ns
constexpr u64 kPerNanosecond = 1000;

// An entry of a list in the words of a scenario, and what it did.
template <class Config>
json entry_of(const Config& config, const EntryUse& use, std::string_view matched,
              std::string_view done) {
  json entry;
  engine::for_each_knob(
      config, [&](const auto& knob) { entry[std::string(knob.info.name)] = knob.text(); });
  entry[std::string(matched)] = use.seen;
  entry[std::string(done)] = use.done;
  return entry;
}
}  // namespace

Records::Records(const std::string& directory, Server& server, bool captures)
    : folder_(directory), server_(server) {
  testbench::make_folder(directory);
  testbench::Testbed& testbed = server.testbed();
  const std::vector<testbench::NamedWire> wires = testbed.named_wires();
  for (const std::size_t ports : {1, 2})
    std::filesystem::remove(folder_ / testbench::WireCapture::name_of(ports));
  if (captures)
    capture_ = std::make_unique<testbench::WireCapture>(
        folder_ / testbench::WireCapture::name_of(wires.size()), wires, testbed.link());
  faults_.open(folder_ / "faults.csv");
  faults_ << "time_ns,port,from,action,qpn,psn,occurrence,delay_ps\n";
  write(true, false);
}

void Records::pause(bool idle) {
  const u64 now = nanoseconds_of(CLOCK_MONOTONIC);
  const bool later = testbench::kernel_picoseconds() != written_at_;
  if (now - last_ >= kBetween && (later || !idle))
    write(idle, false);
  else if (idle && later && capture_)
    capture_->flush(true);
}

void Records::close() {
  write(true, true);
  if (capture_) capture_->close();
}

void Records::write(bool idle, bool ended) {
  last_ = nanoseconds_of(CLOCK_MONOTONIC);
  written_at_ = testbench::kernel_picoseconds();
  if (capture_) capture_->flush(idle);
  write_faults();
  testbench::replace_text_file(folder_ / "counters.csv", counters());
  testbench::replace_text_file(folder_ / "summary.json", summary(ended));
}

void Records::write_faults() {
  testbench::Testbed& testbed = server_.testbed();
  for (unsigned wire = 0; wire < testbed.wires(); ++wire)
    for (const tlm_::FaultRecord& r : testbed.wire(wire).take_fault_records()) {
      const testbench::NodePort& sender = testbed.ends_of_wire(wire)[r.direction];
      ++faults_done_;
      faults_ << fmt::format("{},{},{},{},{:#x},{:#x},{},{}\n", r.picoseconds / kPerNanosecond,
                             sender.port + 1, sender.node, tlm_::kFaultNames[unsigned(r.action)],
                             r.qpn, r.psn, r.occurrence, r.delay);
    }
  if (!faults_.flush())
    throw std::runtime_error((folder_ / "faults.csv").string() + ": could not be written");
}

std::string Records::counters() const {
  std::string text = "counter,value\n";
  for (unsigned i = 0; i < server_.testbed().nodes(); ++i)
    server_.testbed().node(i).hca.chip().for_each_counters(
        [&](std::string_view block, const auto& counters) {
          engine::for_each_counter(counters, [&](const auto& row, u64 value) {
            text += fmt::format("hca{}.{}.{},{}\n", i, block, row.name, value);
          });
        });
  return text;
}

std::string Records::summary(bool ended) const {
  json all;
  all["simulated_ns"] = testbench::kernel_picoseconds() / kPerNanosecond;
  all["serves"] = !ended;
  json attached = json::array();
  for (const Server::ProgramState& p : server_.programs())
    attached.push_back({{"pid", p.pid},
                        {"simulated_time", p.simulated},
                        {"devices", p.devices},
                        {"turns_lost_in_memory", p.guesses},
                        {"turns_lost_asleep", p.sleeps}});
  all["programs"] = {{"attached", attached}, {"ended", server_.ended_programs()}};
  json ports = json::array();
  for (unsigned number = 0; number < server_.testbed().wires(); ++number) {
    const tlm_::Wire& wire = server_.testbed().wire(number);
    const testbench::Ends& ends = server_.testbed().ends_of_wire(number);
    for (u8 end = 0; end < testbench::kEnds; ++end)
      ports.push_back({{"hca", ends[end].node},
                       {"port", ends[end].port + 1},
                       {"frames_sent", wire.frames(end)},
                       {"with_bit_errors", wire.damaged(end)},
                       {"lost_in_break", wire.lost(end)}});
  }
  all["ports"] = ports;
  json faults = json::array(), fails = json::array();
  const std::vector<EntryUse> of_faults = server_.uses_of_faults(),
                              of_fails = server_.uses_of_fails();
  for (std::size_t i = 0; i < of_faults.size(); ++i)
    faults.push_back(entry_of(server_.faults()[i], of_faults[i], "matched", "hit"));
  for (std::size_t i = 0; i < of_fails.size(); ++i)
    fails.push_back(entry_of(server_.fails()[i], of_fails[i], "counted", "failed"));
  all["faults"] = faults;
  all["fail"] = fails;
  all["frames_hit_by_faults"] = faults_done_;
  return all.dump(1) + '\n';
}
}  // namespace hca::attach
