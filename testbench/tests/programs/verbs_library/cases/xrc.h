// SPDX-License-Identifier: Apache-2.0
// The objects of XRC, for the cases.
#pragma once
#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
// A file without a name.
class NamelessFile {
 public:
  NamelessFile();
  ~NamelessFile();
  NamelessFile(const NamelessFile&) = delete;
  const int fd;
};

// `fd` -1: a domain without a file.
ibv_xrcd* open_domain(ibv_context* context, int fd = -1, int oflags = 0);
ibv_srq* make_xrc_srq(const End& end, ibv_xrcd* domain, ibv_cq* cq);
ibv_qp* make_initiator(const End& end, std::uint64_t send_ops = 0);
ibv_qp* make_target(ibv_context* context, ibv_xrcd* domain);
ibv_qp* open_target(ibv_context* context, ibv_xrcd* domain, std::uint32_t qpn);
std::uint32_t number_of(ibv_srq* srq);
int post_shared(ibv_srq* srq, ibv_sge sge, std::uint64_t id);
// The next completion of this CQ, with a time limit; status -1: none came.
ibv_wc next_completion(ibv_cq* cq);
}  // namespace cases
