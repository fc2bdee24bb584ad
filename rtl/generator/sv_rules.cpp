// SPDX-License-Identifier: Apache-2.0
#include "rtl/generator/sv_rules.h"

#include <algorithm>
#include <vector>

#include "model/proto/transport/work_rules.h"
#include "rtl/generator/sv_text.h"
#include "rtl/responder_check/judged.h"

namespace hca::testbench {
namespace {
using namespace proto;

constexpr std::array<std::string_view, 4> kPositions{"First", "Middle", "Last", "Only"};
std::vector<Service> executed_services() {
  std::vector<Service> services;
  for (const Service s : kServices)
    if (includes(kExecuted, s)) services.push_back(s);
  return services;
}

// "RNR Timer": RnrTimer; "remote_write": RemoteWrite.
std::string joined(std::string_view words) {
  std::string out;
  bool begins = true;
  for (const char c : words) {
    const bool between = c == ' ' || c == '_';
    if (!between) out += begins ? char(std::toupper(c)) : char(std::tolower(c));
    begins = between;
  }
  return out;
}
// "T10-8/RC": RuleT10_8_RC.
std::string rule_name(std::string_view statement) {
  std::string out = "Rule";
  for (const char c : statement) out += std::isalnum(u8(c)) ? c : '_';
  return out;
}

// The rights that the packets of operations need.
std::string rights() {
  std::string out;
  for (const RightRow& right : kRightRows)
    if (std::ranges::any_of(kOperationRows, [&](const OperationRow& row) {
          return row.needed_access & right.right;
        }))
      out += number(joined(right.name), 16, right.right);
  return out;
}

std::string numbers_of_rules() {
  std::string out = names_of("Action", 4, kRequestActionNames) +
                    names_of("Cause", 5, kRequestCauseNames) +
                    names_of("QpState", 3, kQpStateNames) + names_of("Position", 2, kPositions);
  for (const NakRow& row : kNakRows) out += number("Nak" + joined(row.name), 3, u64(row.code));
  for (const Service s : executed_services())
    out += number(fmt::format("Service{}", name_of(s)), 3, u64(s));
  for (const OperationRow& row : kOperationRows)
    if (row.capability != Capability::Missing)
      out += number(fmt::format("Operation{}", row.name), 4, u64(row.operation));
  return out + names_of("InMessage", 2, std::array{"None", "Send", "Write", "Put"}) +
         number("KeyStateValid", 2, u64(KeyState::Valid)) + rights() +
         number("FlushRegion", 2, kFlushRegion) + number("AnyQp", 32, kAnyQp) +
         number("AtomicBytes", 32, kAtomicBytes) +
         number("MaxGetRequestBytes", 16, kMaxGetRequestBytes) +
         number("MaxMessageBytes", 32, kMaxMessageBytes) + number("Qp0", 24, kQp0) +
         number("Qp1", 24, kQp1) + number("Qp0Lane", 4, kQp0Lane) +
         number("Qp1Qkey", 32, kQp1Qkey) + number("DefaultGidPrefix", 64, kDefaultGidPrefix) +
         number("AckKind", 3, u64(SyndromeKind::Ack)) +
         number("RnrNakKind", 3, u64(SyndromeKind::RnrNak)) +
         number("NakKind", 3, u64(SyndromeKind::Nak)) + number("CreditsUnused", 5, kCreditsUnused) +
         size("PkeyEntries", kPkeyEntries) +
         size("ContextBits", 8 * rtl::SideBand<rtl::CheckedContext>::kBytes) +
         size("RegionBits", 8 * rtl::SideBand<rtl::CheckedRegion>::kBytes) +
         size("StateBits", 8 * rtl::SideBand<rtl::CheckedState>::kBytes) +
         size("StateRqLimitAt", lowest_bit<rtl::CheckedState>("rq_limit")) +
         size("StateOwnerAt", lowest_bit<rtl::CheckedState>("owner")) +
         size("StateOwnerConsumedAt", lowest_bit<rtl::CheckedState>("owner_consumed")) +
         size("ContextSharedAt", lowest_bit<rtl::CheckedContext>("shared")) +
         size("ContextSrqnAt", lowest_bit<rtl::CheckedContext>("srqn")) +
         size("Capabilities", kCapabilities.size()) +
         size("ContextCapabilitiesAt",
              lowest_bit<rtl::CheckedContext>(kCapabilities.back().option)) +
         "\n";
}

std::string operations() {
  std::string out =
      "  // What the packets of an opcode are: request (1 bit), operation (4), position (2).\n"
      "  function automatic logic [6:0] opcode_kind(input logic [7:0] opcode);\n"
      "    unique case (opcode)\n";
  for (const OpcodeRow& row : kOpcodeRows)
    out +=
        fmt::format("      8'h{:02x}: opcode_kind = {{1'b{}, 4'd{}, 2'd{}}};  // {}\n", row.code,
                    int(row.is_request), unsigned(row.operation), unsigned(row.position), row.name);
  return out + "      default: opcode_kind = '0;\n    endcase\n  endfunction\n\n";
}

// True: packets of the operation carry exactly 8 bytes.
bool carries_eight(Operation operation) {
  return std::ranges::any_of(kOpcodeRows, [&](const OpcodeRow& row) {
    return row.operation == operation && row.payload == PayloadRule::Eight;
  });
}

// One bit per capability, in the order of their fields in the context.
constexpr std::size_t kCapabilityBits = kCapabilities.size();
u64 capability_bit(Capability capability) {
  for (std::size_t i = 0; i < kCapabilityBits; ++i)
    if (kCapabilities[i].capability == capability) return u64{1} << (kCapabilityBits - 1 - i);
  return 0;
}

std::string operation_traits() {
  std::string out = fmt::format(
      "  // Of an operation: the message that its packets are part of, whether it takes an entry "
      "of "
      "the saved requests, is\n"
      "  // answered by READ responses, has an AtomicETH, 8 bytes at a multiple of 8, 8 bytes of "
      "payload, "
      "the capability of the\n"
      "  // device, and the right of its key and its queue pair.\n"
      "  typedef struct packed {{\n    logic [1:0] message;\n    logic saved;\n"
      "    logic reads;\n    logic atomic;\n    logic exact;\n    logic eight;\n"
      "    logic [{}:0] capability;\n    logic [15:0] right;\n  }} operation_t;\n"
      "  function automatic logic [{}:0] operation_traits(input logic [3:0] operation);\n"
      "    unique case (operation)\n",
      kCapabilityBits - 1, kCapabilityBits + 22);
  for (const OperationRow& row : kOperationRows)
    if (row.capability != Capability::Missing)
      out += fmt::format(
          "      Operation{}: operation_traits = {{2'd{}, 5'b{}{}{}{}{}, {}'d{}, 16'h{:x}}};\n",
          row.name, unsigned(row.message), int(row.is_saved()), int(row.answer == Answer::Read),
          int(row.is_atomic()), int(row.is_aligned()), int(carries_eight(row.operation)),
          kCapabilityBits, capability_bit(row.capability), row.needed_access);
  return out + "      default: operation_traits = '0;\n    endcase\n  endfunction\n\n";
}

std::string rules() {
  std::string out = "  // The rules of 9.6 and 9.7 in their order, by their statements.\n";
  out += size("RuleCount", kRequestRules.size());
  for (std::size_t i = 0; i < kRequestRules.size(); ++i)
    out += size(rule_name(kRequestRules[i].statement), i);
  out += fmt::format(
      "\n  // Those that hold for a service.\n"
      "  function automatic logic [{}:0] request_rules(input logic [2:0] service);\n"
      "    unique case (service)\n",
      kRequestRules.size() - 1);
  for (const Service s : executed_services()) {
    u64 mask = 0;
    for (std::size_t i = 0; i < kRequestRules.size(); ++i)
      if (includes(kRequestRules[i].services, s)) mask |= u64{1} << i;
    out += fmt::format("      3'd{}: request_rules = {}'h{:x};  // {}\n", unsigned(s),
                       kRequestRules.size(), mask, name_of(s));
  }
  out += fmt::format(
      "      default: request_rules = '0;\n    endcase\n  endfunction\n\n"
      "  // What becomes of a request that breaks these: action, cause, NAK code. The first one "
      "decides.\n"
      "  function automatic logic [11:0] request_verdict(input logic [{}:0] broken);\n"
      "    request_verdict = {{ActionExecute, CauseGood, 3'd0}};\n",
      kRequestRules.size() - 1);
  for (std::size_t i = kRequestRules.size(); i-- > 0;) {
    const RequestRule& rule = kRequestRules[i];
    const bool naks = is_nak(rule.action);
    std::string nak = "3'd0";
    for (const NakRow& row : kNakRows)
      if (naks && row.code == rule.nak) nak = "Nak" + joined(row.name);
    out += fmt::format("    if (broken[{}]) request_verdict = {{Action{}, Cause{}, {}}};\n",
                       rule_name(rule.statement), kRequestActionNames[std::size_t(rule.action)],
                       kRequestCauseNames[std::size_t(rule.cause)], nak);
  }
  return out + "  endfunction\n\n";
}

std::string credits() {
  std::string out =
      "  // The code of the largest count of receive WQEs that is not above `available`.\n"
      "  function automatic logic [4:0] credit_code(input logic [31:0] available);\n"
      "    credit_code = 5'd0;\n";
  for (std::size_t code = 1; code < kCredits.size(); ++code)
    out += fmt::format("    if (available >= 32'd{}) credit_code = 5'd{};\n", kCredits[code], code);
  return out + "  endfunction\n\n";
}
}  // namespace

std::string rules_part() {
  return numbers_of_rules() + operations() + operation_traits() + rules() + credits() +
         plain_struct<rtl::CheckedState>(
             "Of a context: what requests change, of the queue pair and of its receive queue.",
             "checked_state") +
         side_band<rtl::CheckedContext>("The context of a queue pair, as it answers.") +
         plain_struct<rtl::CheckedRegion>("What an R_Key names.", "region") +
         side_band<rtl::Judged>("The verdict on a request, and the context that it leaves behind.");
}
}  // namespace hca::testbench
