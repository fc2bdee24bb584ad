// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/completion.h"

#include <fmt/format.h>
#include "testbench/host/verbs_names.h"

namespace hca::testbench {
using namespace proto;

std::vector<FieldDifference> compare_completion(const JsonAt& json, const Wc& wc,
                                                const Symbols& symbols) {
  std::vector<FieldDifference> all;
  for (const auto& item : json.value().items()) {
    const std::string& name = item.key();
    const auto number = [&](u64 got) {
      const u64 expected = symbols.value(json[name]);
      if (expected != got)
        all.push_back({"CQE", name, fmt::format("{:#x}", expected), fmt::format("{:#x}", got)});
    };
    if (name == "qp" || name == "cq")
      continue;
    else if (name == "wr_id")
      number(wc.wr_id);
    else if (name == "byte_len")
      number(wc.byte_len);
    else if (name == "imm" && wc.with_imm)
      number(wc.imm_data);
    else if (name == "invalidated" && wc.with_invalidate)
      number(wc.imm_data);
    else if (name == "imm" || name == "invalidated")
      all.push_back({"CQE", name, "a value", "none"});
    else if (name == "src_qp")
      number(wc.src_qp);
    else if (name == "srq")
      number(wc.srqn);
    else if (name == "slid")
      number(wc.slid);
    else if (name == "sl")
      number(wc.sl);
    else if (name == "pkey_index")
      number(wc.pkey_index);
    else if (name == "grh")
      number(wc.has_grh);
    else if (name == "status" && name_of(wc.status) != json[name].text())
      all.push_back({"CQE", name, json[name].text(), std::string(name_of(wc.status))});
    else if (name == "opcode" && wc_opcode_name(wc.opcode) != json[name].text())
      all.push_back({"CQE", name, json[name].text(), std::string(wc_opcode_name(wc.opcode))});
  }
  const bool wants_success = !json.has("status");
  if (wants_success && wc.status != WcStatus::Success)
    all.push_back({"CQE", "status", "SUCCESS", std::string(name_of(wc.status))});
  return all;
}

std::string describe(const QueueCompletion& c) {
  return fmt::format("QP {:#x} {} wr_id {} {} {} byte_len {}{}", c.qpn,
                     c.is_receive ? "receive" : "send", c.wc.wr_id, wc_opcode_name(c.wc.opcode),
                     name_of(c.wc.status), c.wc.byte_len,
                     c.wc.with_imm ? fmt::format(" imm {:#x}", c.wc.imm_data) : "");
}
}  // namespace hca::testbench
