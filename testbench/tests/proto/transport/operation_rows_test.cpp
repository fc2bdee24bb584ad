// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>

#include "model/proto/transport/work_rules.h"

namespace hca::proto {
namespace {
std::set<unsigned> codes_of_rc(bool (*has)(const OpcodeRow&)) {
  std::set<unsigned> codes;
  for (const OpcodeRow& row : kOpcodeRows)
    if (row.service == Service::Rc && has(row)) codes.insert(row.code);
  return codes;
}
}  // namespace

TEST_CASE("the opcodes that take a receive WQE, and that end what took one",
          "[operations][G23.1]") {
  CHECK(codes_of_rc([](const OpcodeRow& row) { return row.takes_receive(); }) ==
        std::set<unsigned>{0x00, 0x04, 0x05, 0x09, 0x0b, 0x17});
  CHECK(codes_of_rc([](const OpcodeRow& row) {
          return ends_message(row.position) && row.ends_receive();
        }) == std::set<unsigned>{0x02, 0x03, 0x04, 0x05, 0x09, 0x0b, 0x16, 0x17});
}

TEST_CASE("the rights that operations need, and those that are saved",
          "[operations][G22.2][G31.1][G29]") {
  const auto rights = [](unsigned code) { return opcode_row(u8(code))->traits().needed_access; };
  for (const unsigned write : {0x06u, 0x07u, 0x08u, 0x09u, 0x0au, 0x0bu})
    CHECK(rights(write) == kRemoteWrite);
  CHECK(rights(0x0c) == kRemoteRead);
  for (const unsigned atomic : {0x13u, 0x14u}) CHECK(rights(atomic) == kRemoteAtomic);
  for (const unsigned send : {0x00u, 0x04u, 0x16u}) CHECK(rights(send) == 0);
  CHECK(codes_of_rc([](const OpcodeRow& row) { return row.traits().is_saved(); }) ==
        std::set<unsigned>{0x0c, 0x13, 0x14, 0x1a, 0x1c, 0x1d});
  CHECK(rights(0x1a) == kRemoteRead);
  CHECK(rights(0x1b) == kRemoteWrite);
  CHECK(rights(0x1d) == kRemoteAtomicWrite);
}

TEST_CASE("a FLUSH needs the rights of its placement types", "[operations][EXT-14]") {
  ParsedPacket packet{};
  packet.opcode = opcode_row(0x1c);
  struct PlacementRow {
    u8 placement;
    Rights needed;
  };
  for (const auto& [placement, needed] : {PlacementRow{1, kFlushGlobal},
                                          {2, kFlushPersistent},
                                          {3, kFlushGlobal | kFlushPersistent}}) {
    packet.feth.placement_type = placement;
    CHECK(needed_rights(packet) == needed);
  }
}

TEST_CASE("rights of an optional operation are those of a device that has it",
          "[operations][EXT-21]") {
  TransportOptions options;
  CHECK(optional_rights(options) == 0);
  options.flush = true;
  CHECK(optional_rights(options) == (kFlushGlobal | kFlushPersistent));
  options.flush = false, options.atomic_write = true;
  CHECK(optional_rights(options) == kRemoteAtomicWrite);
}

TEST_CASE("an operation that no row executes is refused, whatever the rights",
          "[operations][T10-2/RC]") {
  QpConfig qp;
  qp.state = QpState::Rts, qp.access = 0xffff, qp.max_dest_rd_atomic = 16;
  ReceiveState state;
  state.rq_posted = 1;
  for (const OpcodeRow& row : kOpcodeRows) {
    if (row.service != Service::Rc || !row.is_request ||
        row.traits().capability == Capability::Base)
      continue;
    CAPTURE(row.name);
    ParsedPacket packet{};
    packet.opcode = &row, packet.bth.opcode = row.code, packet.bth.pkey = 0xffff;
    CHECK(request::unsupported({packet, {}, qp, state, nullptr}));
  }
}

TEST_CASE("a queue pair of a service without responder takes nothing", "[operations][C9-38]") {
  for (const Service service : {Service(4), Service(6), Service(7)}) {
    QpConfig qp;
    qp.service = service, qp.state = QpState::Rts, qp.access = 0xff;
    const ReceiveState state;
    ParsedPacket packet{};
    packet.opcode = opcode_row(service, Operation::Send, Position::Only);
    packet.bth.opcode = u8(unsigned(service) << 5 | 0x04);
    const RequestVerdict verdict = judge_request({packet, {}, qp, state, nullptr});
    CHECK(verdict.action == RequestAction::Drop);
    CHECK(verdict.statement == "C9-38");
  }
}
}  // namespace hca::proto
