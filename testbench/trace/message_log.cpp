// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/message_log.h"

#include <algorithm>

#include "model/blocks/lib/per_port.h"
#include "model/blocks/lib/stage_config.h"
#include "model/proto/transport/psn.h"
#include "model/proto/wire/packet.h"

namespace hca::testbench {
using blocks::Step;
using engine::Event;

const std::array<std::string_view, kStations> kStationNames{
    "start",
    "PCIe, doorbell",
    "doorbell",
    "qp_scheduler",
    "wqe_fetch",
    "requester",
    "packetizer",
    "icrc_unit, inserted",
    "port, transmit",
    "wire",
    "port, receive",
    "icrc_unit, checked",
    "responder_check",
    "responder_execute",
    "responder_execute, data",
    "responder_reply",
    "answer: icrc_unit, inserted",
    "answer: port, transmit",
    "answer: wire",
    "answer: port, receive",
    "answer: icrc_unit, checked",
    "response_check",
    "requester, completion",
    "completion",
    "PCIe, CQE",
    "host, doorbell register",
    "host, notice",
};

namespace {
constexpr u32 kIndexMask = 0xffff;
u64& at_of(std::array<u64, kStations>& at, Station station) { return at[std::size_t(station)]; }
}  // namespace

// Requests are judged by their headers while the payload still comes.
MessageTimes::Way MessageTimes::way() const {
  Way passed;
  for (std::size_t s = 0; s < kStations; ++s)
    if (at[s] <= at[std::size_t(Station::Taken)] && at[s] != kNever)
      passed.insert(Station(s), at[s]);
  return passed;
}

// The meaning of a block's event for messages.
struct BlockRow {
  using Log = MessageLog;
  using Chip = Log::Chip;
  struct Seen {
    Log& log;
    Chip& chip;
    unsigned port;
    const Event& event;
    u64 at;
    u32 qpn() const { return u32(event.a); }
    u32 psn() const { return u32(event.b); }
    Log::Queue* queue() const { return log.queue_of(chip, qpn()); }
    Log::Queue* peer() const { return log.peer_of(chip, qpn()); }
  };
  std::string_view block;
  Step kind;
  void (*take)(const Seen&);
  static const std::array<BlockRow, 16> kRows;

  // The WQEs of a turn.
  template <Station station>
  static void turn(const Seen& s) {
    Log::Queue* queue = s.queue();
    for (u64 i = 0; queue && i < s.event.c; ++i)
      if (auto* message = Log::by_index(*queue, u32(s.event.b + i)))
        at_of(message->at, station) = s.at;
  }
  // A packet that this chip sends: of its own message, or of the peer's.
  template <Station request, Station response>
  static void sent(const Seen& s) {
    if (s.event.c) return Log::stamp(s.queue(), s.psn(), request, s.at);
    Log::stamp_answer(s.peer(), s.psn(), response, s.at);
  }
  template <Station request, Station response>
  static void received(const Seen& s, u64 at) {
    if (!s.event.c) return Log::stamp_answer(s.queue(), s.psn(), response, at);
    Log::stamp(s.peer(), s.psn(), request, at);
  }
  // An event of a request, on the responder's side.
  template <Station station>
  static void judged(const Seen& s) {
    Log::stamp(s.peer(), s.psn(), station, s.at);
  }
  // An event of a request, on the requester's side.
  template <Station station>
  static void own(const Seen& s) {
    Log::stamp(s.queue(), s.psn(), station, s.at);
  }

  static void doorbell(const Seen& s) {
    Log::Queue* queue = s.queue();
    if (!queue) return;
    for (u32 i = queue->open.size(); i--;) {
      auto& message = queue->open.at(i);
      if (at_of(message.at, Station::Doorbell) != MessageTimes::kNever) return;
      if (((s.event.b - 1 - message.index) & kIndexMask) <= kIndexMask / 2)
        at_of(message.at, Station::Doorbell) = s.at;
    }
  }
  static void requester(const Seen& s) {
    Log::Queue* queue = s.queue();
    auto* message = queue ? Log::by_index(*queue, u32(s.event.c)) : nullptr;
    if (!message) return;
    if (!message->sent) message->first_psn = message->last_psn = s.psn();
    message->sent = true;
    if (proto::psn_distance(message->last_psn, s.psn()) > 0) message->last_psn = s.psn();
    at_of(message->at, Station::Requester) = s.at;
  }
  static void arrived(const Seen& s) { s.chip.arrived[s.port] = s.at; }
  // The port does not know a packet's numbers yet: its arrival is the one before its check.
  static void checked(const Seen& s) {
    received<Station::Receive, Station::AnswerReceive>(s, s.chip.arrived[s.port]);
    received<Station::Checked, Station::AnswerChecked>(s, s.at);
  }
  // The responses of a READ have PSNs of its own.
  static void data(const Seen& s) {
    Log::Queue* queue = s.peer();
    auto* message = queue ? Log::by_psn(*queue, s.psn()) : nullptr;
    if (!message) return;
    if (proto::psn_distance(message->last_psn, s.psn()) > 0) message->last_psn = s.psn();
    at_of(message->at, Station::Data) = s.at;
  }
  static void reply(const Seen& s) {
    Log::Queue* queue = s.peer();
    if (!queue) return;
    Log::Answer* a = Log::answer(*queue, s.psn());
    if (!a) a = &(queue->answers.add() = Log::Answer(s.psn()));
    a->at(Station::Reply) = s.at;
  }
  static void response_check(const Seen& s) {
    Log::stamp_answer(s.queue(), s.psn(), Station::ResponseCheck, s.at);
  }
  static void completed(const Seen& s) {
    Log::Queue* queue = s.queue();
    if (auto* message = queue ? Log::by_index(*queue, u32(s.event.b)) : nullptr)
      Log::complete(*queue, *message, s.at);
  }
  static void completion(const Seen& s) {
    if (proto::is_of_receive(proto::CqeOpcode(s.event.c))) return;
    Log::Queue* queue = s.queue();
    auto* message = queue ? Log::by_index(*queue, u32(s.event.b)) : nullptr;
    if (!message) return;
    at_of(message->at, Station::Completion) = s.at;
    s.chip.of_cq(queue->cqn).push({s.qpn(), message->index});
  }
};

const std::array<BlockRow, 16> BlockRow::kRows{{
    {"doorbell", Step::Passed, doorbell},
    {"qp_scheduler", Step::Passed, turn<Station::Scheduler>},
    {"wqe_fetch", Step::Passed, turn<Station::WqeFetch>},
    {"requester", Step::Passed, requester},
    {"packetizer", Step::Passed, own<Station::Packetizer>},
    {"icrc_unit", Step::Passed, sent<Station::Inserted, Station::AnswerInserted>},
    {"port", Step::Passed, sent<Station::Transmit, Station::AnswerTransmit>},
    {"port", Step::Arrived, arrived},
    {"icrc_unit", Step::Received, checked},
    {"responder_check", Step::Passed, judged<Station::ResponderCheck>},
    {"responder_execute", Step::Passed, judged<Station::Execute>},
    {"responder_execute", Step::Completed, data},
    {"responder_reply", Step::Passed, reply},
    {"response_check", Step::Passed, response_check},
    {"requester", Step::Completed, completed},
    {"completion", Step::Passed, completion},
}};

MessageLog::MessageLog(Testbed& testbed, Sink sink, Frames frames)
    : testbed_(testbed),
      sink_(std::move(sink)),
      frames_(std::move(frames)),
      chips_(testbed.nodes()) {
  for (unsigned i = 0; i < testbed.nodes(); ++i) {
    Chip& chip = chips_[i];
    Node& node = testbed.node(i);
    chip.log = this, chip.number = i, chip.period = node.hca.period().value();
    chip.arrived.resize(node.hca.ports());
    node.hca.probes().attach(chip);
    node.cpu.meters.push_back(&chip);
  }
  for (unsigned wire = 0; wire < testbed.wires(); ++wire)
    taps_.push_back(testbed.wire(wire).add_tap(
        [this, wire](u8 sender, sc_core::sc_time at, const proto::FrameView& bytes) {
          frame(testbed_.ends_of_wire(wire)[other_end(sender)].node, at.value(), bytes);
        }));
  connect(false);
}

MessageLog::~MessageLog() {
  for (Chip& chip : chips_) {
    testbed_.node(chip.number).hca.probes().detach(chip);
    std::erase(testbed_.node(chip.number).cpu.meters, &chip);
  }
  for (unsigned wire = 0; wire < taps_.size(); ++wire) testbed_.wire(wire).remove_tap(taps_[wire]);
}

// The queue pairs that are there; what was posted before is not followed, but from the start of the
// run.
void MessageLog::connect(bool from_start) {
  for (const auto& [key, ends] : testbed_.bundles())
    for (const Endpoint& end : ends)
      for (const QpPair& pair : pairs_of(end)) {
        Chip& chip = chips_[end.node];
        QueuePair& known = chip.qp(pair.own->qpn);
        if (!known.queue) known.queue = &chip.queues.emplace_back();
        Queue& queue = *known.queue;
        queue.posted = from_start ? 0 : pair.own->sq_posted;
        queue.cqn = end.send_cq->cqn;
        known.peer = &chips_[end.peer->node];
        known.peer_qpn = pair.other->qpn;
      }
}

MessageLog::QueuePair& MessageLog::Chip::qp(u32 qpn) {
  if (qpn >= qps.size()) qps.resize(std::size_t{qpn} + 1);
  return qps[qpn];
}

blocks::Ring<std::pair<u32, u32>>& MessageLog::Chip::of_cq(u32 cqn) {
  if (cqn >= to_write.size()) to_write.resize(std::size_t{cqn} + 1);
  return to_write[cqn];
}

MessageLog::Open* MessageLog::by_index(Queue& queue, u32 index) {
  if (queue.open.empty()) return nullptr;
  const u32 place = (index - queue.open.front().index) & kIndexMask;
  return place < queue.open.size() ? &queue.open.at(place) : nullptr;
}

// The last sent message that does not begin after this PSN.
MessageLog::Open* MessageLog::by_psn(Queue& queue, u32 psn) {
  auto& open = queue.open;
  const auto begins = [&](u32 place) {
    const Open& m = open.at(place);
    return m.sent && proto::psn_distance(m.first_psn, psn) >= 0;
  };
  if (open.empty() || !begins(0)) return nullptr;
  // The place among messages of as many packets as the first one.
  const Open& first = open.front();
  const u32 packets = u32(proto::psn_distance(first.first_psn, first.last_psn)) + 1;
  const u32 guess =
      std::min(u32(proto::psn_distance(first.first_psn, psn)) / packets, open.size() - 1);
  if (begins(guess) && (guess + 1 == open.size() || !begins(guess + 1))) return &open.at(guess);
  u32 last = 0;  // begins; the one at `behind` does not
  for (u32 behind = open.size(); behind - last > 1;) {
    const u32 middle = last + (behind - last) / 2;
    (begins(middle) ? last : behind) = middle;
  }
  return &open.at(last);
}

void MessageLog::stamp(Queue* queue, u32 psn, Station station, u64 at) {
  Open* message = queue ? by_psn(*queue, psn) : nullptr;
  if (message && at_of(message->at, Station::Completed) == MessageTimes::kNever)
    at_of(message->at, station) = at;
}

// There is at most one with a PSN.
MessageLog::Answer* MessageLog::answer(Queue& queue, u32 psn) {
  auto& answers = queue.answers;
  if (answers.empty()) return nullptr;
  // The place among answers to one packet each.
  const u32 guess = proto::psn_sub(psn, answers.front().psn);
  if (guess < answers.size() && answers.at(guess).psn == psn) return &answers.at(guess);
  for (u32 i = answers.size(); i--;)
    if (answers.at(i).psn == psn) return &answers.at(i);
  return nullptr;
}

void MessageLog::stamp_answer(Queue* queue, u32 psn, Station station, u64 at) {
  if (Answer* a = queue ? answer(*queue, psn) : nullptr) a->at(station) = at;
}

// By the first answer that covers all of it. Those that cover less are not asked for again.
void MessageLog::complete(Queue& queue, Open& message, u64 at) {
  at_of(message.at, Station::Completed) = at;
  auto& answers = queue.answers;
  const auto distance = [&](const Answer& a) {
    return proto::psn_distance(message.last_psn, a.psn);
  };
  while (!answers.empty() && distance(answers.front()) < 0) answers.drop();
  const Answer* first = nullptr;
  for (u32 i = 0; i < answers.size() && !(first && distance(*first) == 0); ++i)
    if (const Answer& a = answers.at(i);
        distance(a) >= 0 && (!first || distance(a) < distance(*first)))
      first = &a;
  if (first) std::ranges::copy(first->times, message.at.begin() + Answer::kFirst);
}

bool MessageLog::Chip::wants(std::string_view block) const {
  const unsigned ports = unsigned(arrived.size());
  return std::ranges::any_of(BlockRow::kRows, [&](const BlockRow& row) {
    for (unsigned port = 0; port < ports; ++port)
      if (block == row.block || block == blocks::port_block_name(ports, port, row.block))
        return true;
    return false;
  });
}

void MessageLog::take(Chip& chip, const Event& event) {
  const std::size_t at = std::size_t{event.block} * kKinds + event.kind;
  if (at >= chip.rows.size()) resolve(chip, event.block);
  if (const BlockOfPort& block = chip.rows[at]; block.row)
    block.row->take({*this, chip, block.port, event, event.at * chip.period});
}

// The rows of all blocks up to this one.
void MessageLog::resolve(Chip& chip, u16 last) {
  Hca& hca = testbed_.node(chip.number).hca;
  const engine::ProbeHub& hub = hca.probes();
  for (u16 block = u16(chip.rows.size() / kKinds); block <= last; ++block) {
    chip.rows.resize(chip.rows.size() + kKinds);
    for (const BlockRow& row : BlockRow::kRows)
      for (unsigned port = 0; port < hca.ports(); ++port)
        if (const auto name = hub.name(block);
            name == row.block || name == blocks::port_block_name(hca.ports(), port, row.block))
          chip.rows[std::size_t{block} * kKinds + std::size_t(row.kind)] = {&row, port};
  }
}

void MessageLog::frame(unsigned node, u64 picoseconds, const proto::FrameView& bytes) {
  proto::ParsedPacket packet;
  if (proto::parse(bytes, testbed_.link(), packet) != proto::PacketVerdict::Good) return;
  if (frames_) frames_(node, picoseconds, bytes, packet);
  Chip& receiver = chips_[node];
  if (packet.opcode->is_request)
    stamp(peer_of(receiver, packet.bth.dest_qp), packet.bth.psn, Station::Wire, picoseconds);
  else
    stamp_answer(queue_of(receiver, packet.bth.dest_qp), packet.bth.psn, Station::AnswerWire,
                 picoseconds);
}

void MessageLog::Chip::rang(Cycle at, Cycle at_bar, u32 offset, std::span<const u8> data) {
  using proto::BarOffset;
  const BarOffset bell = BarOffset(offset % proto::kUserPageBytes);
  if ((bell != BarOffset::SendDoorbell && bell != BarOffset::PushBuffer) ||
      data.size() < proto::bytes_of<proto::QueueDoorbell>())
    return;
  if (queues.empty()) log->connect(true);
  const auto [qpn, producer] = proto::decode<proto::QueueDoorbell>(data.data());
  Queue* queue = log->queue_of(*this, qpn);
  for (; queue && (queue->posted & kIndexMask) != producer; ++queue->posted) {
    Open& message = queue->open.add() = Open{};
    message.chip = number;
    message.qpn = qpn;
    message.index = queue->posted & kIndexMask;
    at_of(message.at, Station::Rung) = at * period;
    at_of(message.at, Station::AtBar) = at_bar * period;
  }
}

void MessageLog::Chip::wrote(Cycle at, u32 cqn, u64 cqes) {
  auto& waiting = of_cq(cqn);
  for (; cqes && !waiting.empty(); --cqes, waiting.drop()) {
    const auto [qpn, index] = waiting.front();
    Queue* queue = log->queue_of(*this, qpn);
    if (Open* message = queue ? by_index(*queue, index) : nullptr)
      at_of(message->at, Station::CqeWritten) = at * period;
  }
}

// A core that is in a doorbell register when the CQE is written looks at it when it is out.
void MessageLog::Chip::completed(const TakenMessage& taken) {
  Queue* queue = log->queue_of(*this, taken.qpn);
  if (!queue || queue->open.empty()) return;
  Open& message = queue->open.front();
  message.bytes = taken.bytes;
  message.operation = Operation(taken.operation), message.entry = taken.entry;
  if (const u64 written = at_of(message.at, Station::CqeWritten);
      written != MessageTimes::kNever && taken.unlocked * period > written &&
      taken.unlocked <= taken.at)
    at_of(message.at, Station::Unlocked) = taken.unlocked * period;
  at_of(message.at, Station::Taken) = taken.at * period;
  log->sink_(message);
  queue->open.drop();
}
}  // namespace hca::testbench
