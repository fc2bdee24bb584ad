// SPDX-License-Identifier: Apache-2.0
// Steps of the model as side bands at the input of their RTL blocks; first, last and bytes stay.
#pragma once
#include "model/blocks/twins/completion_unit.h"
#include "model/blocks/twins/requester_psn_unit.h"
#include "rtl/completion/cq_step.h"
#include "rtl/requester_psn/psn_step.h"

namespace hca::testbench {
// `number`: device::context_number().
inline void put_step(u32 number, const blocks::PsnRequest& r, rtl::PsnStepBeat& c) {
  c.op = u8(r.step);
  c.kind = u8(r.kind);
  c.ee = number >> 24;
  c.qpn = number & proto::kPsnMask;
  c.psn = r.psn;
  c.index = r.index;
  c.byte_len = r.byte_len;
}
inline void put_step(u32 cqn, const blocks::CqRequest& r, rtl::CqStepBeat& c) {
  const proto::Cqe& e = r.cqe;
  c.op = u8(r.step);
  c.cqn = cqn;
  c.consumer = r.consumer;
  c.opcode = u8(e.opcode);
  c.status = u8(e.status);
  c.vendor_error = e.vendor_error;
  c.with_immediate = e.with_immediate;
  c.with_invalidate = e.with_invalidate;
  c.solicited = e.solicited;
  c.has_grh = e.has_grh;
  c.qpn = e.qpn;
  c.wqe_index = e.wqe_index;
  c.byte_len = e.byte_len;
  c.immediate = e.immediate;
  c.src_qp = e.src_qp;
  c.srqn = e.srqn;
  c.slid = e.slid;
  c.pkey_index = e.pkey_index;
  c.sl = e.sl;
}
}  // namespace hca::testbench
