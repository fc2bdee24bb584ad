// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_completion.h"

#include <algorithm>

#include "testbench/host/verbs_names.h"
#include "testbench/replay/replay_host.h"

namespace hca::testbench {
namespace {
// As a number of proto::WcStatus; an unknown name is after the last.
u64 status_value(std::string_view name) {
  const auto& names = proto::kWcStatusNames;
  return u64(std::find(names.begin(), names.end(), name) - names.begin());
}

class FieldComparison {
 public:
  FieldComparison(std::string_view header, Situation s, AllowedUses& uses)
      : header_(header), s_(s), uses_(uses) {}
  void text(const char* name, const std::string& expected, const std::string& got) {
    if (expected != got) found.push_back({std::string(header_), name, expected, got});
  }
  void number(const char* name, u64 expected, u64 got) {
    text(name, std::to_string(expected), std::to_string(got));
  }
  // Whether a row says that these may differ.
  bool allows(const char* name, u64 recorded, u64 ours) {
    s_.recorded_value = recorded;
    s_.our_value = ours;
    return s_.qp && find_allowed(header_, name, s_, uses_);
  }
  std::vector<FieldDifference> found;

 private:
  std::string_view header_;
  Situation s_;
  AllowedUses& uses_;
};

// The fields of a good completion.
void compare_contents(const ReplayEvent& e, const Wc& wc, bool datagram, FieldComparison& all) {
  constexpr u64 with_grh = 1, with_imm = 2, with_invalidate = 4;
  all.text("opcode", e.text("opcode"), std::string(wc_opcode_name(wc.opcode)));
  all.number("byte_len", e.number("byte_len"), wc.byte_len);
  if (e.has("src_qp")) all.number("src_qp", e.number("src_qp"), wc.src_qp);
  if (e.text("queue") != "recv") return;
  const bool has_imm = e.number("wc_flags") & with_imm,
             has_inv = e.number("wc_flags") & with_invalidate;
  // The recording device sets it on connections too.
  if (datagram) all.number("with_grh", e.number("wc_flags") & with_grh, wc.has_grh);
  all.number("with_imm", has_imm, wc.with_imm);
  all.number("with_invalidate", has_inv, wc.with_invalidate);
  for (const char* name : {"imm", "invalidated_rkey"})
    if ((has_imm || has_inv) && e.has(name)) all.number(name, e.number(name), wc.imm_data);
}
}  // namespace

std::vector<FieldDifference> compare_completion(const ReplayEvent& e, Situation s,
                                                AllowedUses& uses) {
  const Wc& wc = *s.our_wc;
  s.recorded_wc = &e;
  FieldComparison all("wc", s, uses);
  all.number("wr_id", e.number("wr_id"), wc.wr_id);
  const std::string status = e.text("status");
  const std::string ours(proto::name_of(wc.status));
  const bool may = s.post && all.found.empty();
  if (status != ours && !(may && all.allows("status", status_value(status), u64(wc.status))))
    all.text("status", status, ours);
  if (const u64 code = e.has("vendor_err") ? e.number("vendor_err") : 0)
    if (!all.allows("vendor_err", code, 0)) all.number("vendor_err", code, 0);
  if (status == ours && status == "SUCCESS")
    compare_contents(e, wc, s.qp && s.qp->connect.has("qkey"), all);
  return std::move(all.found);
}

std::vector<FieldDifference> compare_state(const ReplayEvent& e, const proto::QpAttributes& now,
                                           Situation s, AllowedUses& uses) {
  FieldComparison all("QP", s, uses);
  const std::string state(state_name(now.state));
  const bool fell = e.text("state") == "ERR" && state != "ERR";
  if (!fell || !all.allows("state", 1, 0)) all.text("state", e.text("state"), state);
  for (const auto& [name, ours] : {std::pair{"sq_psn", now.sq_psn}, {"rq_psn", now.rq_psn}})
    if (e.number(name) != ours && !all.allows(name, e.number(name), ours))
      all.number(name, e.number(name), ours);
  return std::move(all.found);
}
}  // namespace hca::testbench
