// SPDX-License-Identifier: Apache-2.0
// A host of a user's platform: memory, PCIe link and HCA, and a minimal driver that connects one
// queue pair.
#pragma once
#include <model/proto/interface/commands.h>
#include <model/proto/memory/key.h>
#include <model/systemc/hca.h>
#include <tlm/host_memory/memory_target.h>
#include <tlm/pcie/pcie_link.h>

#include <stdexcept>
#include <string>

namespace user {
using namespace hca::proto;
using hca::u32;
using hca::u64;
using hca::u8;

inline constexpr u32 kPd = 1, kCqn = 1, kQpn = 16, kKey = 0x100;
inline constexpr u64 kCommandBlock = 0x1000, kCqRing = 0x2000, kSendRing = 0x3000;
inline constexpr u64 kReceiveRing = 0x4000, kBuffer = 0x10'0000, kBufferBytes = 0x1'0000;
inline constexpr u8 kAccess = kLocalWrite | kRemoteWrite;

class Host : public sc_core::sc_module {
 public:
  hca::tlm_::HostMemory memory;
  hca::tlm_::MemoryTarget target{"target", memory};
  hca::Hca hca;

  Host(const sc_core::sc_module_name& name, u8 number)
      : sc_module(name), hca("hca", config(), pcie()), number_(number) {
    processor_.bind(hca.mmio_target);
    hca.dma_initiator.bind(target.dma_target);
  }

  // All steps up to a queue pair in RTS that sends to the host with number `peer`.
  void connect(u8 peer) {
    PortAttributes port{};
    port.framing = u8(Framing::RoceV2Ip4);
    port.mtu = 4096;
    port.mac = mac_of(number_);
    port.gids[0] = make_gid(0, gid_low_of(number_));
    execute(CommandOpcode::SetPort, 1, port);
    execute(CommandOpcode::AllocPd, kPd, PdAttributes{});
    execute(CommandOpcode::CreateCq, kCqn, QueueAttributes{kCqRing, 4, 0});
    execute(CommandOpcode::RegisterMr, key_index(kKey),
            MrAttributes{kBuffer, kBufferBytes, kBuffer, kPd, kKey, kAccess});
    execute(CommandOpcode::CreateQp, kQpn,
            QpCreate{u8(Service::Rc), false, kPd, kCqn, kCqn, kSendRing, kReceiveRing, 4, 4, 6, 5});
    QpAttributes a{};
    a.port = 1;
    a.access = kAccess;
    a.path_mtu = 1024;
    a.dest_qpn = kQpn;
    a.hop_limit = 64;
    a.max_rd_atomic = a.max_dest_rd_atomic = 1;
    a.min_rnr_timer = 12;
    a.timeout = 14;
    a.retry_count = 7;
    a.rnr_retry = 7;
    a.udp_source_port = kFirstUdpSourcePort;
    a.dmac = mac_of(peer);
    a.dgid_low = gid_low_of(peer);
    modify(a, QpState::Init, kQpPkeyIndex | kQpPort | kQpAccess);
    modify(a, QpState::Rtr,
           kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer);
    modify(a, QpState::Rts, kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic);
  }

  // The first send WQE: one RDMA WRITE from this host's buffer to the peer's, and its doorbell.
  void write(u64 from, u64 to, u32 bytes) {
    SendWqe wqe{};
    wqe.opcode = WorkOpcode::RdmaWrite;
    wqe.signaled = true;
    wqe.sge_count = 1;
    wqe.remote_va = to;
    wqe.rkey = kKey;
    put(kSendRing, wqe);
    put(kSendRing + kSendWqeBytes, Sge{from, kKey, bytes});
    ring(BarOffset::SendDoorbell, QueueDoorbell{kQpn, 1});
  }
  Cqe first_completion() const { return get<Cqe>(kCqRing); }

 private:
  static hca::blocks::ChipConfig config() {
    hca::blocks::ChipConfig config;
    config.link_control.mode = hca::blocks::FlowControl::Endless;  // one WRITE fills no buffer
    return config;
  }
  static std::unique_ptr<hca::blocks::HostTiming> pcie() {
    return std::make_unique<hca::tlm_::PcieLink>(hca::tlm_::PcieConfig{}, config().core.hertz());
  }
  static u64 mac_of(u8 number) { return 0x0200'0000'0000 + number; }
  static u64 gid_low_of(u8 number) { return 0xffff'0a00'0000 + number; }  // ::ffff:10.0.0.x

  template <class H>
  void put(u64 address, const H& value) {
    std::array<u8, bytes_of<H>()> bytes;
    encode(value, bytes.data());
    memory.write(address, bytes);
  }
  template <class H>
  H get(u64 address) const {
    std::array<u8, bytes_of<H>()> bytes;
    memory.read(address, bytes.data(), bytes.size());
    return decode<H>(bytes.data());
  }
  template <class Doorbell>
  void ring(BarOffset offset, const Doorbell& doorbell) {
    std::array<u8, 8> bytes;
    encode(doorbell, bytes.data());
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(u32(offset));
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(bytes.size());
    payload.set_streaming_width(bytes.size());
    sc_core::sc_time delay(200, sc_core::SC_NS);
    processor_->b_transport(payload, delay);
    if (payload.is_response_error()) throw std::runtime_error("the doorbell was refused");
  }
  template <class Body>
  void execute(CommandOpcode opcode, u32 object, const Body& body) {
    put(kCommandBlock, CommandHeader{opcode, CommandStatus::Ok, false, object});
    put(kCommandBlock + kCommandHeaderBytes, body);
    ring(BarOffset::CommandDoorbell, CommandDoorbell{kCommandBlock});
    for (unsigned i = 0; i < 100 && !get<CommandHeader>(kCommandBlock).done; ++i)
      sc_core::sc_start(1, sc_core::SC_US);
    const CommandHeader header = get<CommandHeader>(kCommandBlock);
    if (!header.done || header.status != CommandStatus::Ok)
      throw std::runtime_error("command " + std::to_string(unsigned(opcode)) + ": " +
                               (header.done ? std::string(name_of(header.status)) : "no answer"));
  }
  void modify(QpAttributes& a, QpState state, u32 mask) {
    a.state = state;
    a.mask = kQpState | mask;
    execute(CommandOpcode::ModifyQp, kQpn, a);
  }

  u8 number_;
  tlm_utils::simple_initiator_socket<Host> processor_{"processor"};
};
}  // namespace user
