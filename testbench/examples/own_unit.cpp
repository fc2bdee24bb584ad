// SPDX-License-Identifier: Apache-2.0
// A block of a user's own in the place of a unit of the model: the ICRC of what host a sends and
// of what host b checks, in two whole HCAs and one RDMA WRITE between them. This one does as the
// unit does and counts; another would hand the frame to a user's RTL and take back what it left.
#include <model/blocks/lib/stand_in.h>
#include <model/blocks/port/icrc_unit.h>
#include <tlm/wire/wire.h>

#include <cstdio>
#include <vector>

#include "testbench/examples/host.h"

namespace {
using hca::u32;
using hca::u64;
using hca::u8;
constexpr u32 kBytes = 3000;  // two full packets of the path MTU 1024 and one of 952 bytes
constexpr u64 kFrom = user::kBuffer + 64, kTo = user::kBuffer + 4096;

struct OwnIcrc : hca::blocks::StandIn<hca::blocks::IcrcItem> {
  u32 items = 0;
  void process(hca::blocks::IcrcItem& item) override {
    ++items;
    item.process();
  }
};

struct Platform : sc_core::sc_module {
  OwnIcrc generates, checks;  // before the HCAs: they must outlive the chips
  user::Host a{"a", 1}, b{"b", 2};
  hca::tlm_::Wire wire{"wire", hca::tlm_::WireConfig{}};

  explicit Platform(const sc_core::sc_module_name& name) : sc_module(name) {
    a.hca.wire_initiator[0].bind(wire.from_a);
    b.hca.wire_initiator[0].bind(wire.from_b);
    wire.to_a.bind(a.hca.wire_target[0]);
    wire.to_b.bind(b.hca.wire_target[0]);
    hca::blocks::StandIns sender, receiver;
    sender.port[0].icrc_out = &generates;
    receiver.port[0].icrc_in = &checks;
    a.hca.replace(sender);
    b.hca.replace(receiver);
  }
};

bool fail(const char* what) {
  std::fprintf(stderr, "own_unit: %s\n", what);
  return false;
}

bool transfer(Platform& platform) {
  platform.a.connect(2);
  platform.b.connect(1);
  std::vector<u8> sent(kBytes), got(kBytes);
  for (u32 i = 0; i < kBytes; ++i) sent[i] = u8(7 * i + i / 256 + 1);
  platform.a.memory.write(kFrom, sent);
  platform.a.write(kFrom, kTo, kBytes);
  sc_core::sc_start(20, sc_core::SC_US);
  const hca::proto::Cqe cqe = platform.a.first_completion();
  if (!cqe.phase || cqe.status != hca::proto::WcStatus::Success)
    return fail("the WRITE has not succeeded");
  platform.b.memory.read(kTo, got.data(), got.size());
  if (sent != got) return fail("the bytes differ");
  return true;
}
}  // namespace

int sc_main(int, char**) try {
  Platform platform("platform");
  if (!transfer(platform)) return 1;
  std::printf("%u packets got their ICRC from the block, %u were checked by it\n",
              platform.generates.items, platform.checks.items);
  return 0;
} catch (const std::exception& error) {
  return fail(error.what()) ? 0 : 1;
}
