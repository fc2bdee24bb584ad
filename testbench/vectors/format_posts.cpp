// SPDX-License-Identifier: Apache-2.0
// The format of steps that post work requests.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "testbench/host/verbs_names.h"
#include "testbench/vectors/format_values.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::array<std::string_view, 3> kFlagNames{"fence", "solicited", "inline"};
constexpr u64 kMaxSrqNumber = 0xffffff;
constexpr u64 kMaxSrqSize = 1 << 15, kMaxCqSize = 1 << 16;
constexpr FormatKey kError{"error", one_of_names<kPostErrors>};

void an_operation(const JsonAt& json, const SetupPlan*) {
  if (!work_opcode_of(json.text())) json.refuse("is '" + json.text() + "'", work_opcode_names());
}
void some_flags(const JsonAt& json, const SetupPlan*) {
  const std::vector<JsonAt> flags = json.entries();
  must_hold_some(json);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    must_be_one(flags[i], kFlagNames);
    for (std::size_t before = 0; before < i; ++before)
      if (flags[i].text() == flags[before].text())
        flags[i].refuse("occurs twice", "each flag once");
  }
}
constexpr std::array kMemoryKeys{
    FormatKey{"va", a_number<>},         FormatKey{"bytes", a_number<>},
    FormatKey{"key", a_number<~u32{0}>}, FormatKey{"access", a_number<0xffff>},
    FormatKey{"physical", a_number<>},   FormatKey{"log_page", a_number<0xff>}};
void a_memory(const JsonAt& json, const SetupPlan* plan) { check_object(json, kMemoryKeys, plan); }
void an_address_handle(const JsonAt& json, const SetupPlan* plan) {
  check_fields(json, kHeaderInfo<AddressHandle>, *plan);
}
void an_rd_address(const JsonAt& json, const SetupPlan* plan) {
  check_fields(json, kHeaderInfo<RdAddress>, *plan);
}
// Whose fields they are depends on the operation: check_operands().
void some_operands(const JsonAt&, const SetupPlan*) {}
void a_place_in_list(const JsonAt& json, const SetupPlan*) { json.number(); }

constexpr std::array kSendWrKeys{
    FormatKey{"op", an_operation, true}, FormatKey{"wr_id", a_number<>},
    FormatKey{"sge", an_sge_list},       FormatKey{"inline", bytes_or_none},
    FormatKey{"remote", a_number<>},     FormatKey{"rkey", a_number<~u32{0}>},
    FormatKey{"imm", a_number<~u32{0}>}, FormatKey{"invalidate", a_number<~u32{0}>},
    FormatKey{"compare", a_number<>},    FormatKey{"swap", a_number<>},
    FormatKey{"add", a_number<>},        FormatKey{"memory", a_memory},
    FormatKey{"ah", an_address_handle},  FormatKey{"rd", an_rd_address},
    FormatKey{"flags", some_flags},      FormatKey{"remote_srq", a_number<kMaxSrqNumber>},
    FormatKey{"unsignaled", only_true},  FormatKey{"operands", some_operands}};
constexpr std::array kRecvWrKeys{FormatKey{"wr_id", a_number<>}, FormatKey{"sge", an_sge_list}};
constexpr std::array kSendKeys =
    joined(kSendWrKeys, std::array{kQp, FormatKey{"push", a_truth}, kError});
constexpr std::array kRecvKeys = joined(kRecvWrKeys, std::array{kQp, kSrq, kError});
constexpr std::array kRawKeys =
    joined(kRecvWrKeys, std::array{kQp, kSrq, FormatKey{"queue", one_of_names<kQueueNames>},
                                   FormatKey{"fields", [](const JsonAt&, const SetupPlan*) {}}});

constexpr std::array kSendClashes{Clash{"sge", "inline", "one of sge and inline"},
                                  Clash{"imm", "invalidate", "one of imm and invalidate"},
                                  Clash{"compare", "add", "one of compare and add"}};
constexpr std::array kSrqClashes{Clash{"srq", "qp", "an SRQ, or a queue pair"},
                                 Clash{"srq", "queue", "an SRQ, or a queue of a queue pair"}};
// Keys that only some operations use.
struct OfOperations {
  std::string_view key;
  std::array<std::string_view, 2> operations;
};
constexpr std::array kOfOperations{OfOperations{"imm", {"SEND_WITH_IMM", "RDMA_WRITE_WITH_IMM"}},
                                   OfOperations{"invalidate", {"SEND_WITH_INV", "LOCAL_INV"}},
                                   OfOperations{"compare", {"ATOMIC_CMP_AND_SWP"}},
                                   OfOperations{"swap", {"ATOMIC_CMP_AND_SWP"}},
                                   OfOperations{"add", {"ATOMIC_FETCH_AND_ADD"}},
                                   OfOperations{"memory", {"BIND_MW", "REG_MR"}}};

// The fields of what stands between a WQE and its SGEs, where no key names it.
void check_operands(const JsonAt& wr, const SetupPlan& plan) {
  const WorkRow& work = *work_row(*work_opcode_of(wr["op"].text()));
  const OperandRow& row = row_of(work.operands);
  if (row.given_by == GivenBy::Fields) return check_fields(wr["operands"], row.layout, plan);
  std::string words;
  for (const WorkRow& other : kWorkRows)
    if (row_of(other.operands).given_by == GivenBy::Fields)
      words += (words.empty() ? "" : ", ") + std::string(other.word);
  wr["operands"].refuse("are not for " + wr["op"].text(), words);
}

void check_send_wr(const JsonAt& wr, FormatKeys keys, const PlannedQp& qp, const SetupPlan& plan) {
  check_object(wr, keys, &plan);
  check_clashes(wr, kSendClashes);
  for (const OfOperations& row : kOfOperations)
    if (wr.has(row.key) &&
        !std::count(row.operations.begin(), row.operations.end(), wr["op"].text()))
      wr[row.key].refuse("is not for " + wr["op"].text(),
                         fmt::format("{}{}{}", row.operations[0],
                                     row.operations[1].empty() ? "" : ", ", row.operations[1]));
  if (wr.has("operands")) check_operands(wr, plan);
  if (wr.has("ah") && qp.init.service != Service::Ud)
    wr["ah"].refuse("is not for this queue pair", "queue pairs of service UD");
  if (wr.has("rd") && qp.init.service != Service::Rd)
    wr["rd"].refuse("is not for this queue pair", "queue pairs of service RD");
  if (wr.has("remote_srq") && qp.init.service != Service::Xrc)
    wr["remote_srq"].refuse("is not for this queue pair", "queue pairs of service XRC");
}
// A step that posts is one work request, or a "list" of them for one call.
template <class Each>
void check_posts(const JsonAt& json, FormatKeys of_list, const SetupPlan& plan, const Each& each) {
  check_object(json, of_list, &plan);
  if (json.has("bad") != json.has("error"))
    json.refuse("has one of bad and error", "both, or none of them");
  const std::vector<JsonAt> list = json["list"].entries();
  must_hold_some(json["list"]);
  if (json.has("bad")) json["bad"].number(0, list.size() - 1);
  for (const JsonAt& wr : list) each(wr);
}
void a_list_of_wrs(const JsonAt& json, const SetupPlan*) { json.entries(); }
constexpr std::array kListKeys{kQp, FormatKey{"list", a_list_of_wrs, true},
                               FormatKey{"bad", a_place_in_list}, kError};
constexpr std::array kRecvListKeys = joined(kListKeys, std::array{kSrq});

constexpr std::array kResizeKeys{FormatKey{"srq", an_srq, true},
                                 FormatKey{"max_wr", a_number<kMaxSrqSize>, true}, kError};
constexpr std::array kResizeCqKeys{FormatKey{"cq", a_cq, true},
                                   FormatKey{"entries", a_number<kMaxCqSize>, true}, kError};
}  // namespace

void check_post_send(const JsonAt& json, const SetupPlan* plan) {
  if (!json.has("list")) {
    check_object(json, kSendKeys, plan);
    return check_send_wr(json, kSendKeys, plan->qp_of(json), *plan);
  }
  check_posts(json, kListKeys, *plan,
              [&](const JsonAt& wr) { check_send_wr(wr, kSendWrKeys, plan->qp_of(json), *plan); });
}
void check_post_recv(const JsonAt& json, const SetupPlan* plan) {
  if (json.has("list"))
    check_posts(json, kRecvListKeys, *plan,
                [&](const JsonAt& wr) { check_object(wr, kRecvWrKeys, plan); });
  else
    check_object(json, kRecvKeys, plan);
  check_clashes(json, kSrqClashes);
  if (!json.has("srq")) plan->qp_of(json);
}
void check_post_raw(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kRawKeys, plan);
  check_clashes(json, kSrqClashes);
  if (!json.has("srq")) plan->qp_of(json);
  const bool receives = json.has("srq") || (json.has("queue") && json["queue"].text() == "receive");
  if (json.has("fields"))
    check_fields(json["fields"], receives ? kHeaderInfo<ReceiveWqe> : kHeaderInfo<SendWqe>, *plan);
}
void check_resize_srq(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kResizeKeys, plan);
}
void check_resize_cq(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kResizeCqKeys, plan);
}

}  // namespace hca::testbench
