// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <deque>
#include <optional>
#include <span>

#include "model/blocks/command_config.h"
#include "model/blocks/items.h"
#include "model/blocks/lib/per_port.h"
#include "model/blocks/memory/dma_request.h"
#include "model/blocks/receive/responder_execute/responder_execute.h"
#include "model/blocks/send/requester/requester.h"
#include "model/device/memory_keys.h"
#include "model/engine/mailbox.h"

namespace hca::blocks {
struct CommandCounters {
  u64 commands = 0, refused = 0, faults = 0, invalidations = 0, local_works = 0, waits_drain = 0;
  u64 armed = 0, migrations = 0, waits_migration = 0;
};

// Executes mailbox commands, transitions to Error, work requests and SENDs that change the key
// table, and cable changes. It ticks after all other blocks of a cycle: its changes lie between two
// cycles, and so between two packets for every block.
//
// Contract: a command whose block is read in cycle n takes effect in n + latency and is then
// written back. Commands execute one at a time; the next doorbell is taken `interval` cycles after
// that. A fault or a work request takes effect in the cycle in which it is seen; a command or work
// request with a page list `latency` after the list is read. The removal of a key, a queue or a
// queue pair is written back, or reported to the requesting block, when the accesses judged before
// it have drained: in the same cycle if there are none, else in the cycle after the last access.
// A step of path migration takes effect in the cycle in which it is seen. A migration to another
// port is carried out when the requests that the old port passed on before have been taken; packets
// of the old port are dropped from the first cycle on. `completion` sees a changed CQ one cycle later. One cable a cycle breaks or is repaired; the
// events of its port follow, one each cycle, and the port does not change again before they are
// reported.
class Command : public engine::Block {
 public:
  struct Outputs {
    DmaLink* dma_out = nullptr;
    EventLink* events_out = nullptr;
    engine::Link<u32, 2>* cqs_out = nullptr;
  };
  Command(const CommandConfig& config, device::Contexts& contexts, Requester& requester,
          ResponderExecute& execute, Accesses& accesses)
      : config_(config),
        contexts_(contexts),
        requester_(requester),
        execute_(execute),
        accesses_(accesses) {}

  CommandBellLink bells_in{4};
  // From requester, responder, completion and event; from the ports.
  std::array<FaultLink, 4> faults_in{FaultLink{4}, FaultLink{4}, FaultLink{4}, FaultLink{4}};
  PortLinks<FaultLink> port_faults_in{4};
  // From dma: the number of bytes of a command block or page list that has arrived; 0: unreadable.
  engine::Link<u32, 2> blocks_in{2};
  LocalWorkLink works_in{4};               // from requester
  engine::Mailbox<CableChange> cables_in;  // from outside
  Outputs outputs;
  CommandCounters counters;
  engine::Probe probe;
  engine::Waker dma;

  void tick();
  DmaCallbacks client();

 private:
  void take_fault(FaultLink& link);
  void take_fatal(FaultLink& link);
  void end_context(u32 ee, proto::WcStatus served, proto::WcStatus asking);
  void start(u64 address);
  void arrived(bool readable);
  void drop_unread();
  bool ask_pages(const proto::PageList& list);
  u32 part_pages() const;
  void ask_part();
  bool take_part();
  void execute();
  void take_cable();
  void tell(u32 port, proto::PortEvents events);
  void tell_port();
  bool has_to_tell() const { return port_events_[0] || port_events_[1]; }
  void take_work();
  void execute_work(const device::LocalWork& work, std::span<const u64> list);
  void take_invalidate(const Fault& fault);
  // command_migration.cpp
  struct Move {
    u32 qpn = 0, life = 0;
    unsigned port = 0;         // the old one, from 0 on
    u32 requests = 0;          // requests passed on by it
    bool resumes = false;      // the requester waits for it
    bool writes_back = false;  // so does the command
    Cycle since = 0;
  };
  void take_step(FaultLink& link);
  bool start_move(Move move);
  bool join_move(const Move& other);
  bool end_move(const Move& move);
  void end_moves();
  bool has_passed_on(const Move& move) const;
  // The report to make when accesses have drained.
  enum class Report : u8 { Command, Work, Invalidate };
  struct Drain {
    Report report{};
    u32 qpn = 0, life = 0;     // for Work and Invalidate
    u32 work = 0;              // for Work: its index in its send queue
    std::optional<u32> key{};  // READs and ATOMICs with this key must end as well
    Accesses::Era era = 0;
    Cycle since = 0;
  };
  void drain(Drain drain);
  bool has_drained(const Drain& drain) const;
  void end_drains();
  void report(const Drain& drain);
  void write_back();

  const CommandConfig config_;
  device::Contexts& contexts_;
  Requester& requester_;
  ResponderExecute& execute_;
  Accesses& accesses_;
  std::deque<Drain> drains_;
  std::deque<Move> moves_;
  std::array<u8, proto::kCommandBytes> block_{};
  static constexpr u32 kPagesAtOnce = 512;  // a longer list is read in parts
  std::array<u8, kPagesAtOnce * proto::kPageAddressBytes> page_bytes_{};
  proto::PageList list_;                   // that is being read or has arrived
  std::vector<u64> pages_;                 // of it
  std::optional<device::LocalWork> work_;  // the work request whose page list is being read
  u64 address_ = 0;
  bool busy_ = false;
  Cycle written_ = 0;
  PerPort<proto::PortEvents> port_events_{};  // not yet reported
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::CommandCounters> {
  using C = hca::blocks::CommandCounters;
  static constexpr std::string_view block = "command";
  static constexpr auto rows = make_rows(
      counter("commands", &C::commands, "commands", "commands executed"),
      counter("refused", &C::refused, "commands", "commands with another status than Ok"),
      counter("faults", &C::faults, "queue pairs", "queue pairs that entered Error by themselves"),
      counter("invalidations", &C::invalidations, "keys", "keys invalidated by the peer"),
      counter("local_works", &C::local_works, "WQEs", "work requests that changed the key table"),
      counter("waits_drain", &C::waits_drain, kWaited,
              "the end of accesses judged before a key, a queue or a queue pair was removed"),
      counter("armed", &C::armed, "queue pairs", "alternate paths armed by a packet"),
      counter("migrations", &C::migrations, "queue pairs", "migrations to the alternate path"),
      counter("waits_migration", &C::waits_migration, kWaited,
              "requests of the old port, before a queue pair migrates to another one"));
};
