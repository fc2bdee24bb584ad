// SPDX-License-Identifier: Apache-2.0
// The path of a packet from its descriptor to its verdict, as RTL and as C++: packetizer, icrc
// inserting, icrc checking, rx_parser, responder_check.
#pragma once
#include <memory>
#include <vector>

#include "model/blocks/lib/stand_in.h"
#include "rtl/packetizer/descriptor.h"
#include "rtl/responder_check/judged.h"
#include "rtl/rx_parser/parsed.h"

namespace hca::bench {
// The stream: WRITEs of one packet each on an RC queue pair, back to back, over IPv4.
struct WriteStream {
  explicit WriteStream(u32 payload_bytes);

  proto::AddressVector address;
  const proto::OpcodeRow& opcode;
  proto::Bth bth{};  // of the first packet; the PSNs of the others follow
  proto::ExtHeaders ext{};
  std::vector<u8> payload;
  // The responder's queue pair.
  proto::QpConfig qp{};
  proto::ReceiveState state{};
  proto::Region region{};
  proto::PortAttributes port{};

  u32 frame_bytes() const;  // including the ICRC
  rtl::Descriptor descriptor() const;
  rtl::CheckedContext context() const;
};

// One implementation of the path. All judged packets must have been executed; ePSN shows it.
class HotPath {
 public:
  virtual ~HotPath() = default;
  // Runs until this many more packets have their verdict.
  virtual void run(u64 packets) = 0;
  virtual u64 cycles() const = 0;  // simulated; 0: no clock
  virtual u64 packets() const = 0;
  virtual u32 epsn() const = 0;
  virtual const std::vector<u8>& received() const = 0;  // payload of the last parsed packet
};
// Five Verilated blocks of 512 bits, a beat in each cycle, pins connected directly.
std::unique_ptr<HotPath> bare_path(const WriteStream& stream);
// The same through the wrapper of a block (rtl/cpp/block_rtl.h).
std::unique_ptr<HotPath> wrapped_path(const WriteStream& stream);
// The units of the model with the same packets.
std::unique_ptr<HotPath> twin_path(const WriteStream& stream);
}  // namespace hca::bench
