// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/event_log.h"

#include <fmt/format.h>

#include <stdexcept>

#include "testbench/testbed/kernel_time.h"

namespace hca::testbench {
EventLog::EventLog(const std::string& path, Testbed& testbed)
    : path_(path),
      file_(path),
      testbed_(testbed),
      sinks_(testbed.nodes()),
      lines_([this](u64 at, const Line& line) { write(at, line); }) {
  if (!file_) throw std::runtime_error(path + ": cannot be written");
  file_ << "time_ps,cycle,hca,block,event,qpn,psn,value\n";
  for (unsigned i = 0; i < testbed.nodes(); ++i) {
    sinks_[i].log = this, sinks_[i].chip = i;
    testbed.node(i).hca.probes().attach(sinks_[i]);
  }
}

EventLog::~EventLog() {
  for (Sink& sink : sinks_) testbed_.node(sink.chip).hca.probes().detach(sink);
}

// An event is of a cycle that the chip runs, or of a later one: never before the kernel's time.
void EventLog::take(unsigned chip, const engine::Event& event) {
  if (++since_flush_ == kHandOnEach) {
    since_flush_ = 0;
    lines_.hand_on_until(kernel_picoseconds());
  }
  lines_.add(event.at * testbed_.node(chip).hca.period().value(), chip << 16 | event.block,
             {chip, event});
}

void EventLog::write(u64 picoseconds, const Line& line) {
  const engine::ProbeHub& hub = testbed_.node(line.chip).hca.probes();
  const engine::Event& e = line.event;
  file_ << fmt::format("{},{},{},{},{},{},{},{}\n", picoseconds, e.at, line.chip, hub.name(e.block),
                       hub.kind_name(e), e.a, e.b, e.c);
}

void EventLog::close() {
  lines_.hand_on_until(~u64{0});
  if (!file_.flush()) throw std::runtime_error(path_ + ": cannot be written");
}
}  // namespace hca::testbench
