// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "testbench/programs/server/attached_memory.h"
#include "testbench/programs/server/cm_port.h"
#include "testbench/programs/server/xrc_domain_files.h"
#include "testbench/scenario/device_config.h"
#include "testbench/testbed/testbed.h"

namespace hca::attach {
using testbench::Cycle;

// The kernel driver's part for an HCA: assigns object numbers, executes commands, writes doorbells
// and takes the events of the event queues, for all programs.
class Device final : private testbench::Program {
 public:
  // `reuse`: policy for numbers of queue pairs.
  Device(std::string name, unsigned index, testbench::Testbed& testbed,
         const testbench::Scenario& scenario, Reuse reuse);
  const std::string& name() const { return name_; }
  const DeviceInfo& info() const { return info_; }
  const std::vector<proto::PortAttributes>& ports() const { return ports_; }
  proto::Framing framing() const { return proto::Framing(ports_[0].framing); }
  u32 completion_eq() const { return completions_->eqn; }
  AttachedMemory& memory() { return memory_; }
  testbench::Node& node() const { return node_; }
  u64 period() const { return period_; }  // ps: of its clock
  unsigned index() const { return index_; }
  CmPort& cm() const { return *cm_; }
  // Wakes connection management: it has something new to wait for.
  void wake_cm();
  // Allocates a core of its host for a thread of a program.
  std::optional<unsigned> take_core();
  void give_core_back(unsigned core) { taken_cores_.erase(core); }

  // Waits in simulated time. The structure returns in `body` as the HCA wrote it.
  proto::CommandStatus execute(proto::CommandOpcode opcode, u32 object, Body& body);
  // At time `at` in ps; if that has passed, now.
  void ring(u32 offset, std::span<const u8> doorbell, u64 at);

  std::optional<u32> take_number(Kind kind);
  void give_number_back(Kind kind, u32 number);
  // Adds a user of an object, who gets its events. Programs share XRC domains and their target queue
  // pairs: these exist until their last user is removed.
  void add_user(Kind kind, u32 number, EventSink* user);
  void remove_user(Kind kind, u32 number, EventSink* user);
  std::size_t users_of(Kind kind, u32 number) const;
  bool is_user(Kind kind, u32 number, const EventSink* who) const;
  XrcDomainFiles& xrc_domain_files() { return xrc_domain_files_; }
  // Adds a receiver of port events.
  void add_listener(EventSink* sink) { listeners_.insert(sink); }
  void remove_listener(EventSink* sink) { listeners_.erase(sink); }

 private:
  // Run by its core 0 after an interrupt: distributes the entries of the event queues.
  Cycle act(Cycle now) override;
  bool waits_for_events() const override { return true; }
  Cycle wakes_at() const override { return cm_ ? cm_->wakes_at() : engine::kNever; }
  bool finished() const override { return false; }
  bool failed() const override { return false; }
  void set_up_port(u32 number, proto::PortAttributes port, const testbench::Scenario& scenario);
  void describe(const testbench::Scenario& scenario);
  template <class Fn>
  void for_each_user(Kind kind, u32 number, const Fn& fn);

  const std::string name_;
  const unsigned index_;
  testbench::Node& node_;
  const u64 period_;
  std::vector<proto::PortAttributes> ports_;
  DeviceInfo info_;
  AttachedMemory memory_;
  std::map<Kind, Numbers> numbers_;
  std::set<unsigned> taken_cores_;
  std::map<u64, std::vector<EventSink*>> users_;  // by kind and number; one may be there twice
  XrcDomainFiles xrc_domain_files_;
  std::set<EventSink*> listeners_;
  testbench::CompChannel *completions_ = nullptr, *async_ = nullptr;
  u8 key_byte_ = 0;
  std::unique_ptr<CmPort> cm_;
};
}  // namespace hca::attach
