// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "testbench/programs/server/command_rows.h"
#include "testbench/programs/server/device.h"
#include "testbench/programs/server/event_queue.h"
#include "testbench/programs/server/failures.h"

namespace hca::attach {
// What a program has made of a device, by handle.
struct Object {
  Kind kind{};
  u32 handle = 0, number = 0;
  u64 cookie = 0;
  u64 stamped = 0;                     // of a CQ whose CQEs get times: its ring
  u32 uses = 0;                        // objects that are made of it
  std::vector<Object*> named;          // what it is made of
  std::unique_ptr<EventQueue> events;  // of a channel
  std::vector<Body> groups;            // of a QP: multicast attributes, as it was attached
};

// A device that a program has opened: its objects, the memory that it shares, its doorbells. All
// that it says is examined here; when it goes, its objects go with it.
class Session final : public EventSink {
 public:
  // The program can read an event of it.
  using Event = std::function<void()>;
  // The MAC address behind a GID, if anybody has it.
  using Resolve = std::function<std::optional<u64>(u64 gid_high, u64 gid_low)>;
  // `memory`: the program's /proc/self/mem. Throws std::runtime_error.
  Session(Device& device, Descriptor memory, Resolve resolve, Event event);
  ~Session() override;
  Session(const Session&) = delete;

  // Those that go to the program with the answer that the device is open.
  std::array<int, kOpened> descriptors() const;
  int wake_descriptor() const { return wake_.get(); }
  Device& device() const { return device_; }
  u32 attachment() const { return attachment_; }
  bool has_at(u64 address, u64 value) const;

  // A request about objects. `descriptor`: what goes with the answer, if anything does.
  Reply handle(const Request& request, Descriptor& descriptor);
  // Doorbells that the program has rung go to the HCA; false: there are none.
  bool take_posted();
  bool has_posted() const;
  void take_wake();  // what it wrote to wake the server
  void set_sleeping(bool sleeps);
  // Calls and completions that fail from now on. The HCA hears of queue pairs whose completion has
  // failed, from outside of the simulation.
  void set_failures(const std::vector<FailConfig>& fails);
  const Failures& failures() const { return failures_; }
  void settle_failures();
  // Of a program by the time of day: who sleeps until something is written wakes.
  void note_written() { wrote_ = true; }
  void wake_sleepers();

  void completion_event(u32 cqn) override;
  void async_event(proto::EventType type, Kind kind, u32 number) override;

  // ---- For the rows of commands.
  // The bus address of a ring; 0: it does not lie in the shared memory.
  u64 ring_address(u64 offset, u64 bytes) const;
  u64 memory_address(u64 address) const { return bus_address(attachment_, address); }
  bool is_mapped(u64 address, u64 bytes) const {
    return device_.memory().is_mapped(attachment_, address, bytes);
  }
  bool complete_path(u64 dgid_high, u64 dgid_low, u64& dmac, u16& udp_source_port) const;
  // Whether the port has a GID at this index.
  bool has_gid(u32 port, u32 index) const;

 private:
  Object* find(u32 handle, Kind kind);
  bool find_names(const NameRows& rows, const Request& request, std::vector<Object*>& names);
  Object& add(Kind kind, u32 number, const Request& request, std::vector<Object*> names);
  void remove(Object& object);
  void forget_events(const Object& object);
  void flush_events();
  Reply run(const Request& request);
  Reply create(const CommandRow& row, const Request& request);
  Reply destroy(const CommandRow& row, Object& object, u32 key_hint);
  Reply renew(const CommandRow& row, Object& object, const Request& request,
              std::vector<Object*> names);
  proto::CommandStatus end_in_device(proto::CommandOpcode opcode, Object& object, u32 key_hint);
  bool stamps_are_good(const Request& request) const;
  void stamp(Object& cq, const Request& request);
  Reply create_channel(const Request& request, Descriptor& descriptor);
  Reply create_address_handle(const Request& request);
  Reply destroy_plain(const Request& request, Kind kind);

  Device& device_;
  Descriptor memory_;
  SharedMemory shared_;
  Descriptor wake_;
  Failures failures_{shared_.control()};
  EventQueue async_{2};     // type, cookie or port
  bool is_behind_ = false;  // events wait for room
  bool wrote_ = false;
  Resolve resolve_;
  Event event_;
  u32 attachment_;
  std::map<u32, Object> objects_;
  u32 next_handle_ = 1;
};
}  // namespace hca::attach
