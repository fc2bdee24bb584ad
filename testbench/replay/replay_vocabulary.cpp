// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace hca::testbench {
namespace {
using enum EventRole;
constexpr std::array kKinds{
    // clang-format off
    EventKind{"mr",                 Host,   true,  "a region is registered; without init_seed it holds zeros, and the data that it sends are learned", ""},
    EventKind{"alloc_mw",           Host,   true,  "a memory window is allocated", ""},
    EventKind{"bind_mw",            Host,   true,  "a window of type 1 is bound", ""},
    EventKind{"bind_mw1",           Host,   true,  "the same by another name", "bind_mw"},
    EventKind{"srq",                Host,   true,  "an SRQ is made: one of XRC has srqn, another is made when a queue pair needs it", ""},
    EventKind{"qp",                 Host,   true,  "a queue pair is made", ""},
    EventKind{"connect",            Host,   true,  "a queue pair is taken to RTS", ""},
    EventKind{"ud_ready",           Host,   true,  "a datagram queue pair is taken to RTS", ""},
    EventKind{"rd_ready",           Host,   true,  "a queue pair of RD is taken to RTS", ""},
    EventKind{"modify",             Host,   true,  "a queue pair is taken to another state, or has other attributes", ""},
    EventKind{"destroy_qp",         Host,   true,  "the queue pairs of a side are destroyed", ""},
    EventKind{"post_send",          Host,   true,  "a send work request", ""},
    EventKind{"post_recv",          Host,   true,  "a receive work request", ""},
    EventKind{"post_srq_recv",      Host,   true,  "a receive work request to the SRQ", ""},
    EventKind{"post_send_failed",   Remark, true,  "the library refused the post of this wr_id: it never reached the device", ""},
    EventKind{"mem_set",            Host,   true,  "bytes of a region are written by the host", ""},
    EventKind{"wc",                 Seen,   true,  "a completion", ""},
    EventKind{"async",              Seen,   true,  "an asynchronous event", ""},
    EventKind{"qp_state",           Seen,   true,  "the result of a query of a queue pair", ""},
    EventKind{"mem_final",          Seen,   true,  "the contents of a region at the end", ""},
    EventKind{"fake_peer",          Remark, true,  "this side is hand-made", ""},
    EventKind{"raw_tx",             Remark, true,  "a hand-made frame", ""},
    EventKind{"timeout_waiting_wc", Remark, true,  "completions did not come", ""},
    EventKind{"rule",               Remark, false, "the configured faults of the wire", ""},
    EventKind{"mark",               Remark, false, "a remark", ""},
    // clang-format on
};
}  // namespace

std::span<const EventKind> event_kinds() { return kKinds; }

const EventKind& event_kind(const JsonAt& event) {
  const std::string& name = event["ev"].text();
  const auto row = std::ranges::find(kKinds, name, &EventKind::name);
  if (row != kKinds.end()) return *row;
  std::string names;
  for (const EventKind& kind : kKinds)
    names += (names.empty() ? "" : " | ") + std::string(kind.name);
  event["ev"].refuse(
      fmt::format("is {}, which a replay does not know; it would need the corresponding command or "
                  "post, as one of the events below; a remark for people is a mark",
                  event["ev"].value().dump()),
      names);
}
}  // namespace hca::testbench
