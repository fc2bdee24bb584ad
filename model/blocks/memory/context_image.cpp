// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/context_image.h"

#include <algorithm>

#include "model/proto/bytes.h"

namespace hca::blocks {
using namespace proto;

namespace {
// A sequence of big-endian numbers.
class Image {
 public:
  explicit Image(std::span<u8> out) : at_(out.data()) {}
  template <class... N>
  void put(N... numbers) {
    (put_one(numbers), ...);
  }

 private:
  template <class N>
  void put_one(N number) {
    store_be<sizeof(N)>(at_, u64(number));
    at_ += sizeof(N);
  }
  u8* at_;
};

void write_qp(const device::Contexts& c, u64 number, Image image) {
  const QpConfig& qp = c.qps[number];
  const SendState& s = c.send_of(number);
  const ReceiveState& r = c.receive_of(number);
  image.put(u8(qp.allocated), u8(qp.state), u8(qp.service), qp.port, qp.qpn, qp.pd, qp.send_cq,
            qp.receive_cq, qp.dest_qpn, qp.qkey, qp.srqn, qp.xrcd, qp.path_mtu, qp.sq.address,
            qp.rq.address, u8(qp.side));
  image.put(s.next_psn, s.unacked_psn, s.sent_psn, s.send_psn, s.started, s.completed, s.ssn,
            s.limit_ssn, s.reads_started, s.reads_answered, s.reads_placed, s.epoch, s.retries_left,
            s.rnr_retries_left);
  image.put(r.epsn, r.msn, r.rq_posted, r.rq_consumed, r.write_va, r.write_rkey, r.write_left,
            r.write_bytes, r.xrc_srqn, r.reads_accepted, u8(r.message), u8(r.nak_sent));
}

void write_cq(const device::EventRing& cq, Image image) {
  image.put(u8(cq.allocated), cq.log_entries, u8(cq.overflowed), u8(cq.armed), cq.eqn, cq.address,
            cq.producer, cq.consumer, cq.written, cq.solicited, cq.event_count, cq.event_period);
}

void write_mpt(const Region& region, Image image) {
  image.put(region.start, region.bytes, region.physical, region.origin, region.pd, region.key,
            region.qpn, region.links, region.access, region.log_page, u8(region.state),
            u8(region.kind));
}

void write_mtt(const Region& region, u64 line, u8 log_page, Image image) {
  const u8 log = region.pages ? region.log_page : log_page;
  const u64 pages = ((region.start - region.origin + region.bytes) + (u64{1} << log) - 1) >> log;
  for (u64 page = line * kPagesOfLine; page < std::min(pages, (line + 1) * kPagesOfLine); ++page)
    image.put(region.pages ? region.pages[page] : region.physical + (page << log));
}
}  // namespace

void write_image(const device::Contexts& c, ContextKind kind, u64 number, u8 log_page,
                 std::span<u8> out) {
  std::fill(out.begin(), out.end(), u8{0});
  const Image image(out);
  switch (kind) {
    case ContextKind::Qp:
      if (number < c.qps.size()) write_qp(c, number, image);
      break;
    case ContextKind::Cq:
      if (number < c.cqs.size()) write_cq(c.cqs[number], image);
      break;
    case ContextKind::Mpt:
      if (number < c.regions.size()) write_mpt(c.regions[number], image);
      break;
    case ContextKind::Mtt:
      if (const u32 index = key_index_of_mtt(number); index < c.regions.size())
        write_mtt(c.regions[index], line_of_mtt(number), log_page, image);
      break;
    case ContextKind::Wqe:  // the host's
      break;
  }
}
}  // namespace hca::blocks
