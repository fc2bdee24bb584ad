// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "model/proto/interface/rights.h"
#include "model/proto/transport/psn.h"
#include "testbench/replay/replay_async.h"

namespace hca::testbench {
namespace {
constexpr u64 bits(unsigned n) { return n == 64 ? ~u64{0} : (u64{1} << n) - 1; }
constexpr u64 kMaxRegionBytes = u64{1} << 28;  // a region stands in memory of this machine, twice

enum class Shape : u8 { Number, Mtu, Text, Access, Hex, Sges, Changes };
enum class Presence : u8 { Always, Optional };
struct Field {
  std::string_view event, name;
  Shape shape;
  u64 max = 0;  // of a number
  u64 min = 0;
  Presence presence = Presence::Always;
};

// Numbers by the width of their field in the headers, verbs and structures that they go to.
constexpr std::array kFields{
    Field{"mr", "name", Shape::Text},
    Field{"mr", "addr", Shape::Number, bits(64)},
    Field{"mr", "len", Shape::Number, kMaxRegionBytes},
    Field{"mr", "access", Shape::Access},
    Field{"mr", "rkey", Shape::Number, bits(32)},
    Field{"mr", "init_seed", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"mr", "lkey", Shape::Number, bits(32), 0, Presence::Optional},

    Field{"alloc_mw", "rkey", Shape::Number, bits(32)},

    Field{"bind_mw", "qpn", Shape::Number, bits(24), 0, Presence::Optional},
    Field{"bind_mw", "wr_id", Shape::Number, bits(64), 0, Presence::Optional},
    Field{"bind_mw", "mw_rkey_new", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"bind_mw", "bind_addr", Shape::Number, bits(64), 0, Presence::Optional},
    Field{"bind_mw", "bind_len", Shape::Number, bits(64), 0, Presence::Optional},
    Field{"bind_mw", "bind_access", Shape::Access, 0, 0, Presence::Optional},
    Field{"bind_mw", "mr_lkey", Shape::Number, bits(32), 0, Presence::Optional},

    Field{"qp", "type", Shape::Text},
    Field{"qp", "qpn", Shape::Number, bits(24)},

    Field{"connect", "qpn", Shape::Number, bits(24)},
    Field{"connect", "dest_qpn", Shape::Number, bits(24)},
    Field{"connect", "sq_psn", Shape::Number, bits(24)},
    Field{"connect", "rq_psn", Shape::Number, bits(24)},
    Field{"connect", "path_mtu", Shape::Mtu},
    Field{"connect", "timeout", Shape::Number, bits(5)},
    Field{"connect", "retry_cnt", Shape::Number, bits(3)},
    Field{"connect", "rnr_retry", Shape::Number, bits(3)},
    Field{"connect", "min_rnr_timer", Shape::Number, bits(5)},
    Field{"connect", "max_rd_atomic", Shape::Number, bits(8)},
    Field{"connect", "max_dest_rd_atomic", Shape::Number, bits(8)},
    Field{"connect", "qp_access", Shape::Access},
    Field{"connect", "ipv6", Shape::Number, 1},
    Field{"connect", "traffic_class", Shape::Number, bits(8)},
    Field{"connect", "hop_limit", Shape::Number, bits(8)},
    Field{"connect", "flow_label", Shape::Number, bits(20)},
    Field{"connect", "pkey", Shape::Number, bits(16), bits(16)},  // oddity 27

    Field{"rd_ready", "qpn", Shape::Number, bits(24)},
    Field{"rd_ready", "qkey", Shape::Number, bits(32)},
    Field{"rd_ready", "min_rnr_timer", Shape::Number, bits(5)},
    Field{"rd_ready", "qp_access", Shape::Access},

    Field{"modify", "qpn", Shape::Number, bits(24)},
    Field{"modify", "state", Shape::Text, 0, 0, Presence::Optional},
    Field{"modify", "qp_access", Shape::Access, 0, 0, Presence::Optional},
    Field{"modify", "timeout", Shape::Number, bits(5), 0, Presence::Optional},
    Field{"modify", "retry_cnt", Shape::Number, bits(3), 0, Presence::Optional},
    Field{"modify", "rnr_retry", Shape::Number, bits(3), 0, Presence::Optional},
    Field{"modify", "min_rnr_timer", Shape::Number, bits(5), 0, Presence::Optional},
    Field{"modify", "max_rd_atomic", Shape::Number, bits(8), 0, Presence::Optional},
    Field{"modify", "max_dest_rd_atomic", Shape::Number, bits(8), 0, Presence::Optional},
    Field{"modify", "qkey", Shape::Number, bits(32), 0, Presence::Optional},

    Field{"post_send_failed", "qpn", Shape::Number, bits(24)},
    Field{"post_send_failed", "wr_id", Shape::Number, bits(64)},

    Field{"post_send", "qpn", Shape::Number, bits(24)},
    Field{"post_send", "wr_id", Shape::Number, bits(64)},
    Field{"post_send", "op", Shape::Text},
    Field{"post_send", "signaled", Shape::Number, 1},
    Field{"post_send", "solicited", Shape::Number, 1},
    Field{"post_send", "fence", Shape::Number, 1},
    Field{"post_send", "inline", Shape::Number, 1},
    Field{"post_send", "sge", Shape::Sges},
    Field{"post_send", "imm", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"post_send", "invalidate_rkey", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"post_send", "compare_add", Shape::Number, bits(64), 0, Presence::Optional},
    Field{"post_send", "swap", Shape::Number, bits(64), 0, Presence::Optional},
    Field{"post_send", "remote_addr", Shape::Number, bits(64), 0, Presence::Optional},
    Field{"post_send", "rkey", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"post_send", "mw_rkey_new", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"post_send", "bind_addr", Shape::Number, bits(64), 0, Presence::Optional},
    Field{"post_send", "bind_len", Shape::Number, bits(64), 0, Presence::Optional},
    Field{"post_send", "bind_access", Shape::Access, 0, 0, Presence::Optional},
    Field{"post_send", "mr_lkey", Shape::Number, bits(32), 0, Presence::Optional},

    Field{"post_send", "remote_qpn", Shape::Number, bits(24), 0, Presence::Optional},
    Field{"post_send", "remote_qkey", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"post_send", "eecn", Shape::Number, bits(24), 0, Presence::Optional},
    Field{"post_send", "remote_srqn", Shape::Number, bits(24), 0, Presence::Optional},

    Field{"post_recv", "qpn", Shape::Number, bits(24)},
    Field{"post_recv", "wr_id", Shape::Number, bits(64)},
    Field{"post_recv", "sge", Shape::Sges},

    Field{"srq", "srqn", Shape::Number, bits(24), 0, Presence::Optional},

    Field{"post_srq_recv", "srqn", Shape::Number, bits(24), 0, Presence::Optional},
    Field{"post_srq_recv", "wr_id", Shape::Number, bits(64)},
    Field{"post_srq_recv", "sge", Shape::Sges},

    Field{"wc", "queue", Shape::Text},
    Field{"wc", "qpn", Shape::Number, bits(24)},
    Field{"wc", "wr_id", Shape::Number, bits(64)},
    Field{"wc", "status", Shape::Text},
    Field{"wc", "opcode", Shape::Text, 0, 0, Presence::Optional},
    Field{"wc", "byte_len", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"wc", "wc_flags", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"wc", "imm", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"wc", "src_qp", Shape::Number, bits(24), 0, Presence::Optional},
    Field{"wc", "vendor_err", Shape::Number, bits(32), 0, Presence::Optional},

    Field{"wc", "invalidated_rkey", Shape::Number, bits(32), 0, Presence::Optional},

    Field{"async", "qpn", Shape::Number, bits(24), 0, Presence::Optional},

    Field{"qp_state", "qpn", Shape::Number, bits(24)},
    Field{"qp_state", "state", Shape::Text},
    Field{"qp_state", "sq_psn", Shape::Number, bits(24)},
    Field{"qp_state", "rq_psn", Shape::Number, bits(24)},

    Field{"mem_set", "mr", Shape::Text},
    Field{"mem_set", "off", Shape::Number, kMaxRegionBytes},
    Field{"mem_set", "hex", Shape::Hex},
    Field{"mem_final", "mr", Shape::Text},
    Field{"mem_final", "changed", Shape::Changes},

    // What is only for people, or for what the model does not have.
    Field{"fake_peer", "qpn", Shape::Number, bits(24), 0, Presence::Optional},
    Field{"raw_tx", "dest_qpn", Shape::Number, bits(24), 0, Presence::Optional},
    Field{"raw_tx", "opcode", Shape::Number, bits(8), 0, Presence::Optional},
    Field{"raw_tx", "psn", Shape::Number, bits(24), 0, Presence::Optional},
    Field{"raw_tx", "ackreq", Shape::Number, 1, 0, Presence::Optional},
    Field{"raw_tx", "padcount", Shape::Number, bits(2), 0, Presence::Optional},
    Field{"raw_tx", "paylen", Shape::Number, bits(16), 0, Presence::Optional},
    Field{"ud_ready", "qpn", Shape::Number, bits(24)},
    Field{"ud_ready", "sq_psn", Shape::Number, bits(24)},
    Field{"ud_ready", "qkey", Shape::Number, bits(32)},
    Field{"mark", "frames_so_far", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"timeout_waiting_wc", "wanted", Shape::Number, bits(32), 0, Presence::Optional},
    Field{"timeout_waiting_wc", "got", Shape::Number, bits(32), 0, Presence::Optional},
};

// A value that another one requires.
struct Needed {
  std::string_view event, name;
  bool (*is_needed)(const JsonAt& event);
};
bool is_success(const JsonAt& wc) { return wc["status"].text() == "SUCCESS"; }
bool has_immediate(const JsonAt& wc) {
  constexpr u64 kWithImmediate = 2;
  return is_success(wc) && wc["queue"].text() == "recv" &&
         (wc["wc_flags"].number() & kWithImmediate);
}
bool binds(const JsonAt& post) { return post.has("bind_addr"); }
constexpr std::array kNeeded{
    Needed{"post_send", "rkey", [](const JsonAt& e) { return e.has("remote_addr"); }},
    Needed{"post_send", "swap", [](const JsonAt& e) { return e.has("compare_add"); }},
    Needed{"post_send", "mw_rkey_new", binds},
    Needed{"post_send", "bind_len", binds},
    Needed{"post_send", "bind_access", binds},
    Needed{"post_send", "mr_lkey", binds},
    Needed{"wc", "opcode", is_success},
    Needed{"wc", "byte_len", is_success},
    Needed{"wc", "wc_flags", is_success},
    Needed{"wc", "imm", has_immediate},
};

void check_mtu(const JsonAt& value) {
  using proto::kPathMtus;
  const u64 bytes = value.number(kPathMtus.front(), kPathMtus.back());
  if (!proto::is_mtu(u32(bytes)))
    value.refuse(fmt::format("is {}", bytes), fmt::format("{}", fmt::join(kPathMtus, " | ")));
}
// [address, length, key] each.
void check_sges(const JsonAt& list) {
  for (const JsonAt& sge : list.entries()) {
    sge[0].number();
    sge[1].number(0, bits(31));
    sge[2].number(0, bits(32));
  }
}
// [offset, bytes] each.
void check_changes(const JsonAt& list) {
  for (const JsonAt& change : list.entries()) {
    change[0].number(0, kMaxRegionBytes);
    change[1].hex();
  }
}

void check(const Field& field, const JsonAt& value) {
  switch (field.shape) {
    case Shape::Number:
      value.number(field.min, field.max);
      return;
    case Shape::Mtu:
      return check_mtu(value);
    case Shape::Text:
      value.text();
      return;
    case Shape::Access:
      access_of(value);
      return;
    case Shape::Hex:
      value.hex();
      return;
    case Shape::Sges:
      return check_sges(value);
    case Shape::Changes:
      return check_changes(value);
  }
}
}  // namespace

namespace {
std::string right_words() {
  std::string words;
  for (const proto::RightRow& row : proto::kRightRows)
    if (!row.word.empty()) words += (words.empty() ? "" : ", ") + std::string(row.word);
  return words;
}
}  // namespace

proto::Rights access_of(const JsonAt& words) {
  using namespace proto;
  Rights access = 0;
  std::istringstream text(words.text());
  for (std::string word; text >> word;) {
    const auto right = std::ranges::find(kRightRows, word, &RightRow::word);
    if (right == kRightRows.end()) words.refuse("has \"" + word + "\"", right_words());
    access |= right->right;
  }
  return access;
}

void check_event_fields(std::string_view kind, const JsonAt& event) {
  for (const Field& field : kFields)
    if (field.event == kind && (field.presence == Presence::Always || event.has(field.name)))
      check(field, event[field.name]);
  for (const Needed& row : kNeeded)
    if (row.event == kind && row.is_needed(event)) event[row.name];
  if (kind == "async") check_async(event);
  if (kind == "wc")
    if (const JsonAt queue = event["queue"]; queue.text() != "send" && queue.text() != "recv")
      queue.refuse("is " + queue.value().dump(), "send | recv");
}
}  // namespace hca::testbench
