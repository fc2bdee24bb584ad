// SPDX-License-Identifier: Apache-2.0
// One device of a replay runner whose wire leads back to it: pairs of its queue pairs communicate,
// and a test can intercept frames in flight.
#pragma once
#include <memory>
#include <vector>

#include "model/proto/wire/packet.h"
#include "testbench/host/replay_device.h"
#include "testbench/host/verbs.h"

namespace hca::testbench {
struct LoopOptions {
  proto::Service service = proto::Service::Rc;
  u32 entries = 16, sges = 4, inline_bytes = 64;
  u32 receive_sges = 0;  // 0: as many as `sges`
  u8 timeout = 14, retry_count = 2;
  Srq* srq = nullptr;  // of the receiving end
  u16 dlid = 0;        // native InfiniBand
};

class Loop {
 public:
  static constexpr u64 kMemory = u64{1} << 32, kBytes = 1 << 16;
  static constexpr u64 kMac = 0x020000000001;
  static constexpr u32 kIp = 0x0a000001, kQkey = 0x1234;

  explicit Loop(const ReplayRunner& runner, proto::Framing framing = proto::Framing::RoceV2Ip4);

  static proto::PortAttributes port(proto::Framing framing);
  struct Ends {
    Qp *from = nullptr, *to = nullptr;
  };
  // In RTS, connected to each other.
  Ends connect(const LoopOptions& options = {});
  QpInitAttr init_of(const LoopOptions& options) const;

  // Works and carries frames until none is in flight.
  void carry();
  // Takes the frames in flight.
  std::vector<Frame> take();
  void give(const std::vector<Frame>& frames);

  // A WRITE or SEND of `bytes` from offset 0 of the memory; a WRITE goes to offset `to`.
  SendWr wr_of(const Ends& ends, u64 wr_id, const SgeList& sge, u64 to) const;
  Error post(const Ends& ends, u64 wr_id, u32 bytes, u64 to = kBytes / 2);
  Error post_receive(const Ends& ends, u64 wr_id, u32 bytes, u64 to = kBytes / 2);
  SgeList sge(u64 offset, u32 bytes) const { return {kMemory + offset, bytes, mr.lkey}; }
  std::vector<u8> bytes(u64 offset, u64 count);
  // The value of the byte that the sender sends at this offset.
  static u8 byte_at(u64 offset) { return u8(7 * offset + 3); }
  bool arrived(u32 bytes, u64 to = kBytes / 2);

  using Results = std::vector<std::pair<u64, proto::WcStatus>>;
  Results poll(Cq* of);
  std::vector<proto::EventType> events();
  proto::DropCounters drops();
  template <class Body>
  proto::CommandStatus command(proto::CommandOpcode opcode, u32 object, const Body& body) {
    const VerbsContext::Command command = verbs.begin(opcode, object, body);
    device->run();
    return verbs.done(command) ? verbs.status(command) : proto::CommandStatus::BadOpcode;
  }

  const std::unique_ptr<ReplayDevice> device;
  VerbsContext verbs;
  CompChannel* async = nullptr;
  Cq *send_cq = nullptr, *recv_cq = nullptr;
  Mr mr;

 private:
  void bring_up(Qp& qp, u32 peer, const LoopOptions& options);
};
}  // namespace hca::testbench
