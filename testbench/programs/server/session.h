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
// An object of a device that a program has created, by handle.
struct Object {
  Kind kind{};
  u32 handle = 0, number = 0;
  u64 cookie = 0;
  u64 stamped = 0;                     // for a CQ whose CQEs get times: its ring
  u32 uses = 0;                        // number of objects that use it
  std::vector<Object*> named;          // objects that it uses
  std::unique_ptr<EventQueue> events;  // for a channel
  std::vector<Body> groups;            // for a QP: multicast attributes of each attachment
};

// A device that a program has opened: its objects, shared memory and doorbells. All input from the
// program is validated here. Its objects are destroyed with it.
class Session final : public EventSink {
 public:
  // The program can read an event of the device.
  using Event = std::function<void()>;
  // The MAC address of a GID, if there is one.
  using Resolve = std::function<std::optional<u64>(u64 gid_high, u64 gid_low)>;
  // `memory`: the program's /proc/self/mem. Throws std::runtime_error.
  Session(Device& device, Descriptor memory, Resolve resolve, Event event);
  ~Session() override;
  Session(const Session&) = delete;

  // Descriptors sent to the program with the reply to OpenDevice.
  std::array<int, kOpened> descriptors() const;
  int wake_descriptor() const { return wake_.get(); }
  Device& device() const { return device_; }
  u32 attachment() const { return attachment_; }
  bool has_at(u64 address, u64 value) const;

  // A request on objects. `given`: came with it; `descriptor`: sent with the reply, if there is one.
  Reply handle(const Request& request, std::vector<Descriptor> given, Descriptor& descriptor);
  // Passes rung doorbells to the HCA; false: there are none.
  bool take_posted();
  bool has_posted() const;
  void take_wake();  // reads the program's wake-up bytes
  void set_sleeping(bool sleeps);
  // Sets the calls and completions that fail from now on. Queue pairs whose completion failed are
  // reported to the HCA from outside the simulation.
  void set_failures(const std::vector<FailConfig>& fails);
  const Failures& failures() const { return failures_; }
  void settle_failures();
  // For a program in real time: wakes threads that wait for a write.
  void note_written() { wrote_ = true; }
  void wake_sleepers();

  void completion_event(u32 cqn) override;
  void async_event(proto::EventType type, Kind kind, u32 number) override;

  // ---- For the rows of commands.
  // The bus address of a ring; 0: it is outside the shared memory.
  u64 ring_address(u64 offset, u64 bytes) const;
  u64 memory_address(u64 address) const { return bus_address(attachment_, address); }
  bool is_mapped(u64 address, u64 bytes) const {
    return device_.memory().is_mapped(attachment_, address, bytes);
  }
  bool complete_path(u64 dgid_high, u64 dgid_low, u64& dmac, u16& udp_source_port) const;
  // True if the port has a GID at this index.
  bool has_gid(u32 port, u32 index) const;
  // The path bits that a LID of the port may have.
  u8 path_bits(u32 port) const;

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
  bool has_other_users(const Object& object) const;
  Reply open_xrc_domain(const Request& request, std::vector<Descriptor> given);
  Reply open_qp(const Request& request);

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
