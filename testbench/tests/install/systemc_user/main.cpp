// SPDX-License-Identifier: Apache-2.0
// A user's platform from the installed package: two hosts on one wire, and one RDMA WRITE.
#include <tlm/wire/wire.h>

#include <cstdio>
#include <vector>

#include "host.h"

static_assert(SC_CPLUSPLUS == 201703L, "the exported target carries the define");

namespace {
constexpr hca::u32 kBytes = 3000;  // two full packets of the path MTU 1024 and one of 952 bytes
constexpr hca::u64 kFrom = user::kBuffer + 64, kTo = user::kBuffer + 4096;

struct Platform : sc_core::sc_module {
  user::Host a{"a", 1}, b{"b", 2};
  hca::tlm_::Wire wire{"wire", hca::tlm_::WireConfig{}};

  explicit Platform(const sc_core::sc_module_name& name) : sc_module(name) {
    a.hca.wire_initiator[0].bind(wire.from_a), b.hca.wire_initiator[0].bind(wire.from_b);
    wire.to_a.bind(a.hca.wire_target[0]), wire.to_b.bind(b.hca.wire_target[0]);
  }
};

bool fail(const char* what) {
  std::fprintf(stderr, "systemc_user: %s\n", what);
  return false;
}

bool transfer(Platform& platform) {
  platform.a.connect(2), platform.b.connect(1);
  std::vector<hca::u8> sent(kBytes), got(kBytes + 2);
  for (hca::u32 i = 0; i < kBytes; ++i) sent[i] = hca::u8(7 * i + i / 256 + 1);
  platform.a.memory.write(kFrom, sent);
  if (platform.a.first_completion().phase) return fail("a completion before the post");
  platform.a.write(kFrom, kTo, kBytes);
  sc_core::sc_start(20, sc_core::SC_US);

  const hca::proto::Cqe cqe = platform.a.first_completion();
  if (!cqe.phase) return fail("no completion");
  if (cqe.status != hca::proto::WcStatus::Success || cqe.qpn != user::kQpn)
    return fail("the completion is no success of the queue pair");
  platform.b.memory.read(kTo - 1, got.data(), got.size());
  if (got.front() || got.back()) return fail("bytes around the message changed");
  if (!std::equal(sent.begin(), sent.end(), got.begin() + 1)) return fail("the bytes differ");
  if (platform.wire.frames(0) != 3) return fail("the message did not take three frames");
  return true;
}
}  // namespace

int sc_main(int, char**) try {
  Platform platform("platform");
  return transfer(platform) && !platform.a.hca.blocks().empty() ? 0 : 1;
} catch (const std::exception& error) {
  return fail(error.what()) ? 0 : 1;
}
