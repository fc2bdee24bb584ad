// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/general_services.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "model/proto/memory/key.h"
#include "model/proto/wire/datagram.h"

namespace hca::cm {
namespace {
using proto::QpState;
constexpr u32 kReceives = 256, kSends = 64;
constexpr u32 kReceivedBytes = proto::kDatagramHeaderBytes + proto::kMadBytes;
constexpr u64 kSlotBytes = 320;  // of a receive
static_assert(kReceivedBytes <= kSlotBytes);
constexpr u8 kHopLimit = 64;

template <class Object>
Object& made(Object* object, const char* what) {
  if (!object) throw std::runtime_error(std::string("general services: ") + what + " is refused");
  return *object;
}
testbench::QpInitAttr attributes(testbench::Cq& cq) {
  testbench::QpInitAttr a;
  a.service = proto::Service::Ud;
  a.send_cq = a.recv_cq = &cq;
  a.max_send_wr = kSends;
  a.max_recv_wr = kReceives;
  a.max_inline_data = proto::kMadBytes;
  a.privileged = true;  // its buffers need no region
  return a;
}
}  // namespace

GeneralServices::GeneralServices(testbench::Node& node, const proto::PortAttributes& port,
                                 const testbench::CompChannel& events,
                                 std::function<u64(const proto::Gid&)> mac_of, Received received)
    : node_(node),
      framing_(proto::Framing(port.framing)),
      mac_of_(std::move(mac_of)),
      received_(std::move(received)),
      cq_(made(node.verbs.create_cq(2 * (kReceives + kSends), &events), "CreateCq")),
      qp_(made(node.verbs.create_qp(attributes(cq_), proto::kQp1), "CreateQp")),
      buffers_(node.verbs.alloc(kReceives * kSlotBytes)),
      outgoing_(node.verbs.alloc(proto::kMadBytes)) {
  proto::QpAttributes change{};
  change.mask = proto::kQpState | proto::kQpPkeyIndex | proto::kQpQkey | proto::kQpPort;
  change.state = QpState::Init;
  change.port = 1;
  change.qkey = proto::kQp1Qkey;
  modify(change);
  change.mask = proto::kQpState;
  change.state = QpState::Rtr;
  modify(change);
  change.mask = proto::kQpState | proto::kQpSqPsn;
  change.state = QpState::Rts;
  modify(change);
  for (u64 slot = 0; slot < kReceives; ++slot) post_receive(slot);
  node_.verbs.req_notify_cq(cq_, false);
}

void GeneralServices::modify(const proto::QpAttributes& change) {
  if (node_.verbs.modify_qp(qp_, change) != testbench::Error::None)
    throw std::runtime_error("general services: ModifyQp is refused");
}

void GeneralServices::post_receive(u64 slot) {
  const testbench::SgeList buffer{buffers_ + slot * kSlotBytes, kSlotBytes, 0};
  node_.verbs.post_recv(qp_, testbench::RecvWr{slot, {&buffer, 1}});
}

void GeneralServices::send(const Mad& mad, const Place& to) {
  if (testbench::VerbsContext::free_send_slots(qp_) && waiting_.empty())
    post(mad, to);
  else
    waiting_.emplace_back(mad, to);
}

void GeneralServices::post(const Mad& mad, const Place& to) {
  node_.memory.write(outgoing_, mad.bytes().data(), mad.bytes().size());
  const testbench::SgeList buffer{outgoing_, proto::kMadBytes, 0};
  testbench::SendWr wr;
  wr.sg_list = {&buffer, 1};
  wr.send_flags = testbench::kSignaled | testbench::kInline;
  proto::AddressHandle& ah = wr.ah;
  ah.dest_qpn = proto::kQp1;
  ah.qkey = proto::kQp1Qkey;
  ah.dlid = to.lid;
  ah.hop_limit = kHopLimit;
  ah.udp_source_port = proto::kFirstUdpSourcePort;
  ah.global = framing_ == proto::Framing::IbGlobal;
  ah.dgid_high = proto::load_be<8>(to.gid.data());
  ah.dgid_low = proto::load_be<8>(to.gid.data() + 8);
  if (!proto::is_native(framing_)) ah.dmac = mac_of_(proto::Gid{to.gid});
  node_.verbs.post_send(qp_, wr);
}

// The sender's address precedes the message (G15.3).
void GeneralServices::received(u64 slot, const testbench::Wc& wc) {
  std::array<u8, kSlotBytes> bytes{};
  node_.memory.read(buffers_ + slot * kSlotBytes, bytes.data(), bytes.size());
  Place from;
  from.lid = proto::is_native(framing_) ? wc.slid : u16(0);
  if (framing_ == proto::Framing::RoceV2Ip4) {
    const u8* const header =
        bytes.data() + proto::kDatagramHeaderBytes - proto::bytes_of<proto::Ipv4>();
    from.gid = proto::gid_of_ipv4(proto::decode<proto::Ipv4>(header).source).bytes;
  } else if (proto::has_network_header(framing_)) {
    from.gid = proto::decode<proto::Grh>(bytes.data()).sgid.bytes;
  }
  const auto mad =
      Mad::parse(std::span(bytes).subspan(proto::kDatagramHeaderBytes, proto::kMadBytes));
  if (mad) received_(*mad, from);
}

void GeneralServices::poll() {
  std::array<testbench::Wc, 16> completions;
  do {
    while (const u32 count = node_.verbs.poll_cq(cq_, completions)) {
      for (const testbench::Wc& wc : std::span(completions).first(count)) {
        if (!proto::is_of_receive(wc.opcode)) continue;
        if (wc.status == proto::WcStatus::Success && wc.byte_len == kReceivedBytes)
          received(wc.wr_id, wc);
        post_receive(wc.wr_id);
      }
      while (!waiting_.empty() && testbench::VerbsContext::free_send_slots(qp_)) {
        post(waiting_.front().first, waiting_.front().second);
        waiting_.pop_front();
      }
    }
    node_.verbs.req_notify_cq(cq_, false);
  } while (node_.verbs.has_completion(cq_));
}
}  // namespace hca::cm
