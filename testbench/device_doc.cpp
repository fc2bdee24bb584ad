// SPDX-License-Identifier: Apache-2.0
#include "testbench/device_doc.h"

#include <fmt/format.h>

#include <vector>

#include "model/proto/commands.h"
#include "model/proto/qp_transitions.h"
#include "model/proto/requester_rules.h"

namespace hca::testbench {
namespace {
using namespace proto;

std::string bits_of_field(const FieldInfo& f) {
  const unsigned first = f.bit_at / 8, last = (f.bit_at + f.bits - 1) / 8;
  const unsigned high = 7 - f.bit_at % 8, low = 7 - (f.bit_at + f.bits - 1) % 8;
  const std::string bytes =
      first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  if (high == 7 && low == 0) return fmt::format("{} |", bytes);
  return fmt::format("{} | {}", bytes,
                     high == low ? fmt::format("{}", high) : fmt::format("{}:{}", high, low));
}

template <class H>
std::string structure(std::string_view sentence) {
  std::string text = fmt::format(
      "\n### {}, {} bytes\n\n{}\n\n| byte | bits | field | width | meaning "
      "|\n|---|---|---|---|---|\n",
      Layout<H>::name, bytes_of<H>(), sentence);
  for (const FieldInfo& f : kFieldTable<H>)
    text += fmt::format("| {} | {} | {} | {} |\n", bits_of_field(f), f.name, f.bits,
                        f.is_reserved ? "0" : f.meaning);
  return text;
}

struct Named {
  unsigned value;
  std::string_view name, sentence;
};
std::string values(std::string_view title, const std::vector<Named>& rows) {
  std::string text = fmt::format("\n{}:\n\n| value | name | meaning |\n|---|---|---|\n", title);
  for (const Named& row : rows)
    text += fmt::format("| {:#x} | {} | {} |\n", row.value, row.name, row.sentence);
  return text;
}

std::string bar_section() {
  return "\n## The BAR\n\nOne user page of 4 KiB. Each doorbell is one 64-bit write; anything else "
         "is counted and ignored.\n" +
         values(
             "Registers",
             {{unsigned(BarOffset::SendDoorbell), "SendDoorbell",
               "send WQEs were posted: a queue doorbell"},
              {unsigned(BarOffset::ReceiveDoorbell), "ReceiveDoorbell",
               "receive WQEs were posted: a queue doorbell"},
              {unsigned(BarOffset::CqDoorbell), "CqDoorbell", "CQEs were taken, events are wanted"},
              {unsigned(BarOffset::CommandDoorbell), "CommandDoorbell", "a command block is ready"},
              {unsigned(BarOffset::PushBuffer), "PushBuffer",
               "a queue doorbell (8 bytes) and the WQE it announces (up to 256 bytes) in one "
               "write"}}) +
         structure<QueueDoorbell>("Announces WQEs.") +
         structure<CqDoorbell>("Tells how far software is, and arms.") +
         structure<CommandDoorbell>("Starts a command.");
}

std::string queues_section() {
  std::string text =
      "\n## Queues in host memory\n\nRings of a power of two of slots; indices run freely. A send "
      "WQE is its control "
      "segment and then SGEs or inline data, up to the queue's stride; a receive WQE is its header "
      "and then SGEs.\n";
  text += structure<SendWqe>("The control segment of a send WQE.");
  text += "\nWork requests:\n\n| value | name | answered by |\n|---|---|---|\n";
  static constexpr std::array kAnswers{"Acknowledge", "READ responses", "ATOMIC Acknowledge"};
  for (const WorkRow& row : kWorkRows)
    text += fmt::format("| {:#x} | {} | {} |\n", unsigned(row.opcode), row.name,
                        kAnswers[std::size_t(row.answer)]);
  text += structure<AtomicOperands>(
      "Behind the control segment of an ATOMIC, in front of its SGE. Memory holds the number low "
      "byte first.");
  text += structure<ReceiveWqe>("The header of a receive WQE.") +
          structure<Sge>("A piece of a scatter or gather list.");
  text += structure<Cqe>(
      "A completion. On another status than success only QPN, index and status are meaningful.");
  text += values("Completion opcodes",
                 {{unsigned(CqeOpcode::Send), "Send", "a SEND of any kind"},
                  {unsigned(CqeOpcode::RdmaWrite), "RdmaWrite", "an RDMA WRITE of any kind"},
                  {unsigned(CqeOpcode::Receive), "Receive", "a SEND arrived"},
                  {unsigned(CqeOpcode::ReceiveRdmaImmediate), "ReceiveRdmaImmediate",
                   "a WRITE with Immediate arrived"}});
  std::vector<Named> statuses;
  for (unsigned i = 0; i < kWcStatusNames.size(); ++i)
    statuses.push_back({i, kWcStatusNames[i], i ? "" : "the operation is complete"});
  text += values("Completion status (the values of ibv_wc_status)", statuses);
  text += structure<Eqe>(
      "An event. Completion events go to the EQ of their CQ, asynchronous ones to EQ 1.");
  text += values("Event types",
                 {{unsigned(EventType::Completion), "Completion", "an armed CQ has a CQE"},
                  {unsigned(EventType::QpFatal), "QpFatal", "IBV_EVENT_QP_FATAL"},
                  {unsigned(EventType::QpReqErr), "QpReqErr", "IBV_EVENT_QP_REQ_ERR"},
                  {unsigned(EventType::QpAccessErr), "QpAccessErr", "IBV_EVENT_QP_ACCESS_ERR"},
                  {unsigned(EventType::CqErr), "CqErr", "IBV_EVENT_CQ_ERR: the CQ ran over"}});
  return text;
}

std::string commands_section() {
  std::string text = fmt::format(
      "\n## Commands\n\nA block of {} bytes: the header, then the structure of the command. The "
      "HCA reads it, "
      "executes it between two packets and writes it back, `Done` with it.\n",
      kCommandBytes);
  text += structure<CommandHeader>("In front of each command.");
  text +=
      values("Commands",
             {{unsigned(CommandOpcode::SetPort), "SetPort", "port attributes"},
              {unsigned(CommandOpcode::QueryPort), "QueryPort", "port attributes come back"},
              {unsigned(CommandOpcode::CreateEq), "CreateEq", "object: EQN; queue attributes"},
              {unsigned(CommandOpcode::CreateCq), "CreateCq", "object: CQN; queue attributes"},
              {unsigned(CommandOpcode::RegisterMr), "RegisterMr", "MR attributes"},
              {unsigned(CommandOpcode::DeregisterMr), "DeregisterMr", "object: key"},
              {unsigned(CommandOpcode::CreateQp), "CreateQp", "object: QPN; QP creation"},
              {unsigned(CommandOpcode::ModifyQp), "ModifyQp", "object: QPN; QP attributes"},
              {unsigned(CommandOpcode::QueryQp), "QueryQp", "object: QPN; QP attributes come back"},
              {unsigned(CommandOpcode::DestroyQp), "DestroyQp", "object: QPN"}});
  std::vector<Named> statuses;
  for (const CommandStatusRow& row : kCommandStatuses)
    statuses.push_back({unsigned(row.status), row.name, row.meaning});
  text += values("Status", statuses);
  text += structure<PortAttributes>("Of SetPort and QueryPort.") +
          structure<QueueAttributes>("Of CreateCq and CreateEq.");
  text += structure<MrAttributes>("Of RegisterMr.") + structure<QpCreate>("Of CreateQp.");
  text += structure<QpAttributes>("Of ModifyQp and QueryQp.");
  return text;
}

std::string transitions_section() {
  constexpr std::array<std::string_view, 16> bits{
      "State",   "P_KeyIndex", "Port",     "Access",          "path",
      "PathMTU", "DestQP",     "RqPSN",    "MaxDestRdAtomic", "MinRnrTimer",
      "Timeout", "RetryCount", "RnrRetry", "SqPSN",           "MaxRdAtomic",
      "Q_Key"};
  const auto names = [&](u32 mask) {
    std::string list;
    for (unsigned i = 0; i < bits.size(); ++i)
      if (mask >> i & 1) list += (list.empty() ? "" : ", ") + std::string(bits[i]);
    return list;
  };
  std::string text = "\nThe bits of `Mask`, from bit 0: ";
  for (unsigned i = 0; i < bits.size(); ++i) text += (i ? ", " : "") + std::string(bits[i]);
  text +=
      ".\n\nTransitions of a reliable connection (Reset and Error can be entered from every state "
      "with State alone):\n\n"
      "| from | to | required | optional | statement |\n|---|---|---|---|---|\n";
  for (const QpTransition& t : kRcTransitions)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", name_of(t.from), name_of(t.to),
                        names(t.required), names(t.optional), t.statement);
  return text;
}
}  // namespace

std::string device_document() {
  return "# The device\n\nWhat host software and the HCA share: one BAR and structures in host "
         "memory. Bit 7 is the most significant bit "
         "of a byte, numbers are big-endian, fields without a meaning are 0.\n" +
         bar_section() + queues_section() + commands_section() + transitions_section();
}
}  // namespace hca::testbench
