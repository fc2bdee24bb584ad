// SPDX-License-Identifier: Apache-2.0
#include "testbench/generated_pages/device_doc.h"

#include <fmt/format.h>

#include <vector>

#include "model/proto/interface/commands.h"
#include "model/proto/interface/context_memory.h"
#include "model/proto/transport/qp_transitions.h"
#include "model/proto/transport/requester_rules.h"

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

std::string structure(const HeaderInfo& layout, std::string_view sentence) {
  std::string text = fmt::format(
      "\n### {}, {} bytes\n\n{}\n\n| byte | bits | field | width | meaning "
      "|\n|---|---|---|---|---|\n",
      layout.name, layout.bytes, sentence);
  for (const FieldInfo& f : layout)
    text += fmt::format("| {} | {} | {} | {} |\n", bits_of_field(f), f.name, f.bits,
                        f.is_reserved ? "0" : f.meaning);
  return text;
}

template <class H>
std::string structure(std::string_view sentence) {
  return structure(kHeaderInfo<H>, sentence);
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

std::string_view name_of_object(EventObject object) {
  constexpr std::array<std::string_view, 6> kNames{"QP",   "CQ",     "SRQ",
                                                   "port", "device", "EE context"};
  return kNames[std::size_t(object)];
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
              {unsigned(BarOffset::CqDoorbell), "CqDoorbell",
               "CQEs were consumed, events are requested"},
              {unsigned(BarOffset::EqDoorbell), "EqDoorbell",
               "EQEs were consumed, interrupts are requested"},
              {unsigned(BarOffset::CommandDoorbell), "CommandDoorbell", "a command block is ready"},
              {unsigned(BarOffset::SharedDoorbell), "SharedDoorbell",
               "receive WQEs were posted to an SRQ: a queue doorbell with its SRQN"},
              {unsigned(BarOffset::PushBuffer), "PushBuffer",
               "a queue doorbell (8 bytes) and its WQE (up to 256 bytes). A single write with all "
               "of it avoids the fetch. A push that arrives as several writes is treated as a "
               "plain doorbell: the first write, of 8 bytes or more, is a send doorbell, the "
               "others have no effect, and the WQE is fetched"}}) +
         structure<QueueDoorbell>("Announces WQEs.") +
         structure<CqDoorbell>("Reports the consumer index, and arms the queue.") +
         structure<EqDoorbell>("Reports the consumer index, and arms the queue.") +
         structure<CommandDoorbell>("Starts a command.");
}

std::string queues_section() {
  std::string text =
      "\n## Queues in host memory\n\nA queue is a ring with a power of two of slots; indices do "
      "not wrap at its end. A send WQE is its control segment followed by SGEs or inline data, up "
      "to the queue's stride; a receive WQE is its header followed by SGEs.\n\nSeveral WQEs are "
      "read at once. If one of them is unreadable (the bus returns an error), all of them are, and "
      "the faulty WQE is not identified. In the send queue all outstanding WQEs are flushed and "
      "QP_FATAL is raised (T9-18, class C). A SEND that needs an unreadable receive WQE draws a "
      "NAK for a remote operational error, QP_FATAL is raised, and all receive WQEs are flushed "
      "(T10-17, class A). An unreadable command block is neither executed nor answered. Other "
      "unreadable memory reads as ones.\n";
  text += structure<SendWqe>("The control segment of a send WQE.");
  text += "\nWork requests:\n\n| value | name | answered by |\n|---|---|---|\n";
  for (const WorkRow& row : kWorkRows)
    text += fmt::format("| {:#x} | {} | {} |\n", unsigned(row.opcode), row.name,
                        answer_row(row.answer).name);
  for (const OperandRow& row : kOperandRows)
    if (row.operands != Operands::None) text += structure(row.layout, row.sentence);
  text += structure<AddressHandle>(
      "After the control segment of every send WQE of a UD queue pair. A multicast DGID implies "
      "the group's MAC address; DMAC is then ignored.");
  text += structure<ReceiveWqe>(
              "The header of a receive WQE. For a datagram the first 40 bytes of the buffer hold "
              "the GRH or IPv6 header, or 20 zero bytes and the IPv4 header, or undefined bytes if "
              "there is no such header; ByteLen counts them.") +
          structure<Sge>("A piece of a scatter or gather list.");
  text += structure<Cqe>(
      "A completion. If the status is not success, only QPN, index and status are valid.");
  std::vector<Named> completions;
  for (const CompletionRow& row : kCompletionRows)
    completions.push_back({unsigned(row.opcode), row.name, row.meaning});
  text += values("Completion opcodes", completions);
  std::vector<Named> statuses;
  for (unsigned i = 0; i < kWcStatusNames.size(); ++i)
    statuses.push_back({i, kWcStatusNames[i], i ? "" : "the operation is complete"});
  text += values("Completion status (the values of ibv_wc_status)", statuses);
  return text;
}

std::string events_section() {
  std::string text = fmt::format(
      "\n## Events\n\nCompletion events go to the EQ that their CQ names, asynchronous ones to EQ "
      "{}. A full EQ loses events. When an armed EQ gets an EQE, the message of its interrupt "
      "vector is written after the EQE, and the EQ is no longer armed; a masked vector keeps the "
      "message pending. CQE, EQE and message become visible in this order.\n",
      kAsyncEq);
  text +=
      "\nThe events of a CQ can be moderated (`EventCount`, `EventPeriod`). A CQ armed for the "
      "next completion raises its event when it has `EventCount` unread CQEs, or `EventPeriod` "
      "after it was armed and had the first of them, whichever comes first. A CQE in error, or a "
      "solicited one for which the CQ is armed, raises the event at once. ModifyCq restarts the "
      "period; its new values apply to the waiting CQEs.\n";
  text += structure<Eqe>("An armed CQ has a CQE.");
  text += structure<Aeqe>(
      "An asynchronous event: two 64-bit little-endian words; the table shows each from its bit 63 "
      "on.");
  text +=
      "\nAsynchronous events:\n\n| code | source | name | object | meaning | statement "
      "|\n|---|---|---|---|---|---|\n";
  for (const EventRow& row : kAsyncEvents)
    text += fmt::format("| {:#x} | {:#x} | IBV_EVENT_{} | {} | {} | {} |\n", row.code, row.source,
                        row.name, name_of_object(row.object), row.meaning, row.statement);
  text +=
      "\nCodes of the driver's list that the device never reports:\n\n| code | meaning | why "
      "|\n|---|---|---|\n";
  for (const UnusedEventCode& row : kUnusedEventCodes)
    text += fmt::format("| {:#x} | {} | {} |\n", row.code, row.meaning, row.reason);
  return text;
}

std::string rights() {
  static constexpr std::array kGivenTo{"regions", "regions, queue pairs",
                                       "regions, queue pairs, windows",
                                       "regions, queue pairs, windows; optional"};
  static_assert(kGivenTo.size() == std::size_t(GivenTo::Optional) + 1);
  std::string text =
      "\nRights of keys and queue pairs (`Access`). An optional right needs the device's "
      "option:\n\n| bit | name | given to | meaning |\n|---|---|---|---|\n";
  for (const RightRow& row : kRightRows)
    text += fmt::format("| {} | {} | {} | {} |\n", row.right, row.name,
                        kGivenTo[std::size_t(row.given_to)], row.meaning);
  return text;
}

std::string commands_section() {
  std::string text = fmt::format(
      "\n## Commands\n\nA command takes effect between two packets: an access judged before it is "
      "completed, a later one is refused or dropped. A command that removes a key, a queue or a "
      "queue pair is written back when the accesses judged before it have ended: from then on the "
      "device does not access that memory.\n\nA command block has {} bytes: the header, then the "
      "structure of the command. The HCA reads it, executes it between two packets and writes it "
      "back with `Done` set.\n",
      kCommandBytes);
  text += structure<CommandHeader>("Before each command's structure.");
  const auto table = [&](std::string_view title, const auto& rows, auto value) {
    text += fmt::format("\n{}:\n\n| value | name | meaning |\n|---|---|---|\n", title);
    for (const auto& row : rows)
      text += fmt::format("| {:#x} | {} | {} |\n", unsigned(row.*value), row.name, row.meaning);
  };
  table("Commands", kCommandOpcodes, &CommandOpcodeRow::opcode);
  table("Status", kCommandStatuses, &CommandStatusRow::status);
  text += structure<DeviceAttributes>("Used by QueryDevice.") +
          structure<ContextMemoryAttributes>("Used by SetContextMemory.");
  text +=
      "\nTables of contexts, one after the other:\n\n| table | entries | bytes of one "
      "|\n|---|---|---|\n";
  for (const ContextKindRow& row : kContextTables)
    if (row.bytes)
      text += fmt::format("| {}: {} | {} | {} |\n", row.name, row.meaning, row.entries, row.bytes);
  text += structure<PortAttributes>("Used by SetPort and QueryPort.") +
          structure<QueueAttributes>("Used by CreateCq, ModifyCq, CreateEq, QueryCq and QueryEq.");
  text +=
      rights() + structure<PdAttributes>("Used by QueryPd.") +
      structure<MrAttributes>("Used by RegisterMr, ReregisterMr, AllocMr and QueryMr.") +
      structure<MwAttributes>("Used by AllocMw, BindMw and QueryMw.") +
      structure<QpCreate>(
          "Used by CreateQp and QueryQpCreate. QPN 0 and 1 exist once in the device, bound to one "
          "port like any other.");
  text += structure<QpAttributes>("Used by ModifyQp and QueryQp.");
  text += structure<SrqAttributes>("Used by CreateSrq, ModifySrq and QuerySrq.");
  text += structure<VectorAttributes>(
      "Used by SetVector and QueryVector: an entry of the MSI-X table, masked at first.");
  text += structure<MulticastAttributes>("Used by AttachMulticast and DetachMulticast.");
  text += structure<DropCounters>(
      "Used by QueryDrops: packets dropped since the beginning, one counter a cause.");
  text += structure<TransportCounters>(
      "Used by QueryTransport: irregularities on reliable queue pairs since the beginning, one "
      "counter "
      "a cause.");
  return text;
}

std::string names_of(Services services) {
  std::string list;
  for (const Service service : kServices)
    if (includes(services, service))
      list += (list.empty() ? "" : ", ") + std::string(name_of(service));
  return services == kEeContext ? "EE context" : list;
}

std::string transitions_section() {
  const auto names = [&](u32 mask) {
    std::string list;
    for (unsigned i = 0; i < kQpMaskNames.size(); ++i)
      if (mask >> i & 1) list += (list.empty() ? "" : ", ") + std::string(kQpMaskNames[i]);
    return list;
  };
  std::string text = "\nThe bits of `Mask`, from bit 0: ";
  for (unsigned i = 0; i < kQpMaskNames.size(); ++i)
    text += (i ? ", " : "") + std::string(kQpMaskNames[i]);
  text +=
      ".\n\nTransitions by service. Reset and Error can be entered from every state with only "
      "State; attributes that SQD allows to change are refused while it drains:\n\n| service | "
      "from | to | required | optional | statement |\n|---|---|---|---|---|---|\n";
  for (const QpTransition& t : kTransitions)
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", names_of(t.services), name_of(t.from),
                        name_of(t.to), names(t.required), names(t.optional), t.statement);
  return text;
}
}  // namespace

std::string device_document() {
  return "# The device\n\nHost software and the HCA share one BAR and structures in host memory. "
         "Bit 7 is the most significant bit of a byte, numbers are big-endian, unused fields are "
         "0.\n" +
         bar_section() + queues_section() + events_section() + commands_section() +
         transitions_section();
}
}  // namespace hca::testbench
