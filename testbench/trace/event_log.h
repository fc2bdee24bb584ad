// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <string>
#include <vector>

#include "testbench/testbed/testbed.h"
#include "testbench/trace/by_time.h"

namespace hca::testbench {
// Every event of every probe as a line of CSV, in the order of time:
// time_ps,cycle,hca,block,event,qpn,psn,value. docs/manual/reference/running.md explains the last
// three for events without a packet.
class EventLog {
 public:
  EventLog(const std::string& path, Testbed& testbed);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  void close();

 private:
  struct Line {
    unsigned chip;
    engine::Event event;
  };
  struct Sink : engine::ProbeSink {
    EventLog* log = nullptr;
    unsigned chip = 0;
    void event(const engine::Event& event) override { log->take(chip, event); }
  };
  void take(unsigned chip, const engine::Event& event);
  void write(u64 picoseconds, const Line& line);

  std::string path_;
  std::ofstream file_;
  Testbed& testbed_;
  std::vector<Sink> sinks_;  // by node
  ByTime<Line> lines_;
  std::size_t since_flush_ = 0;
};
}  // namespace hca::testbench
