// SPDX-License-Identifier: Apache-2.0
// The opcode table against the specification's own table T3, written out here as it is printed
// there.
#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "model/proto/wire/opcodes.h"

using namespace hca;
using namespace hca::proto;

namespace {

// name | RC UC RD XRC | headers of RC and UC | of RD | of XRC. P: a payload may follow.
constexpr const char* kT3 = R"(
SEND First                     | 00 | 20 | 40 | A0 | P                  | RDETH DETH P               | XRCETH P
SEND Middle                    | 01 | 21 | 41 | A1 | P                  | RDETH DETH P               | XRCETH P
SEND Last                      | 02 | 22 | 42 | A2 | P                  | RDETH DETH P               | XRCETH P
SEND Last with Immediate       | 03 | 23 | 43 | A3 | ImmDt P            | RDETH DETH ImmDt P         | XRCETH ImmDt P
SEND Only                      | 04 | 24 | 44 | A4 | P                  | RDETH DETH P               | XRCETH P
SEND Only with Immediate       | 05 | 25 | 45 | A5 | ImmDt P            | RDETH DETH ImmDt P         | XRCETH ImmDt P
RDMA WRITE First               | 06 | 26 | 46 | A6 | RETH P             | RDETH DETH RETH P          | XRCETH RETH P
RDMA WRITE Middle              | 07 | 27 | 47 | A7 | P                  | RDETH DETH P               | XRCETH P
RDMA WRITE Last                | 08 | 28 | 48 | A8 | P                  | RDETH DETH P               | XRCETH P
RDMA WRITE Last with Immediate | 09 | 29 | 49 | A9 | ImmDt P            | RDETH DETH ImmDt P         | XRCETH ImmDt P
RDMA WRITE Only                | 0A | 2A | 4A | AA | RETH P             | RDETH DETH RETH P          | XRCETH RETH P
RDMA WRITE Only with Immediate | 0B | 2B | 4B | AB | RETH ImmDt P       | RDETH DETH RETH ImmDt P    | XRCETH RETH ImmDt P
RDMA READ Request              | 0C | - | 4C | AC | RETH               | RDETH DETH RETH            | XRCETH RETH
RDMA READ Response First       | 0D | - | 4D | AD | AETH P             | RDETH AETH P               | AETH P
RDMA READ Response Middle      | 0E | - | 4E | AE | P                  | RDETH P                    | P
RDMA READ Response Last        | 0F | - | 4F | AF | AETH P             | RDETH AETH P               | AETH P
RDMA READ Response Only        | 10 | - | 50 | B0 | AETH P             | RDETH AETH P               | AETH P
Acknowledge                    | 11 | - | 51 | B1 | AETH               | RDETH AETH                 | AETH
ATOMIC Acknowledge             | 12 | - | 52 | B2 | AETH AtomicAckETH  | RDETH AETH AtomicAckETH    | AETH AtomicAckETH
CmpSwap                        | 13 | - | 53 | B3 | AtomicETH          | RDETH DETH AtomicETH       | XRCETH AtomicETH
FetchAdd                       | 14 | - | 54 | B4 | AtomicETH          | RDETH DETH AtomicETH       | XRCETH AtomicETH
RESYNC                         | - | - | 55 | - | -                  | RDETH DETH                 | -
SEND Last with Invalidate      | 16 | - | - | B6 | IETH P             | -                          | XRCETH IETH P
SEND Only with Invalidate      | 17 | - | - | B7 | IETH P             | -                          | XRCETH IETH P
GET class operation            | 1A | - | 5A | BA | EOETH P            | RDETH DETH EOETH P         | XRCETH EOETH P
PUT class operation            | 1B | - | 5B | BB | EOETH P            | RDETH DETH EOETH P         | XRCETH EOETH P
FLUSH                          | 1C | - | 5C | BC | FETH RETH          | RDETH DETH FETH RETH       | XRCETH FETH RETH
ATOMIC WRITE                   | 1D | - | - | - | RETH P             |                            |
)";

struct Expected {
  std::string name;
  std::string headers;
};

std::string trimmed(const std::string& s) {
  const std::size_t first = s.find_first_not_of(' ');
  return first == std::string::npos ? "" : s.substr(first, s.find_last_not_of(' ') - first + 1);
}

std::map<unsigned, Expected> expected_opcodes() {
  std::map<unsigned, Expected> all;
  std::istringstream table(kT3);
  for (std::string line; std::getline(table, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(trimmed(cell));
    if (cells.size() < 6) continue;
    cells.resize(8);
    const std::string headers[4] = {cells[5], cells[5], cells[6], cells[7]};
    for (int service = 0; service < 4; ++service) {
      const std::string& code = cells[1 + service];
      if (code != "-") all[std::stoul(code, nullptr, 16)] = {cells[0], headers[service]};
    }
  }
  all[0x64] = {"SEND Only", "DETH P"};
  all[0x65] = {"SEND Only with Immediate", "DETH ImmDt P"};
  all[0x80] = {"CN", "CNP"};
  all[0x81] = {"CNP", "CNP"};
  return all;
}

std::string headers_of(const OpcodeRow& row) {
  std::string all;
  row.ext.for_each([&](Ext e) { all += std::string(kExtHeaders[unsigned(e)].name) + " "; });
  return trimmed(row.payload == PayloadRule::None ? all : all + "P");
}

}  // namespace

TEST_CASE("every opcode byte is what T3 says, all others are reserved",
          "[proto][opcodes][C9-2][BTH-4]") {
  const auto expected = expected_opcodes();
  REQUIRE(expected.size() == 27 + 12 + 25 + 26 + 2 + 2);  // RC UC RD XRC UD CNP
  CHECK(kOpcodeRows.size() == expected.size());
  for (unsigned code = 0; code < 256; ++code) {
    const OpcodeRow* row = opcode_row(u8(code));
    INFO("opcode " << code);
    REQUIRE((row != nullptr) == (expected.count(code) == 1));
    if (row == nullptr) continue;
    CHECK(row->code == code);
    CHECK(row->name == expected.at(code).name);
    CHECK(headers_of(*row) == expected.at(code).headers);
    CHECK(unsigned(row->service) == code >> 5);
  }
}

TEST_CASE("requests go to the responder, responses to the requester", "[proto][opcodes][T3]") {
  for (const OpcodeRow& row : kOpcodeRows) {
    const unsigned low = row.code & 0x1F;
    const bool request =
        low <= 0x0C || (low >= 0x13 && low <= 0x17) || (low >= 0x1A && low <= 0x1D);
    INFO(row.name);
    CHECK(row.is_request == (request && row.service != Service::Cnp));
  }
}

TEST_CASE("operation and position follow from the name", "[proto][opcodes][C9-2]") {
  for (const OpcodeRow& row : kOpcodeRows) {
    INFO(row.name);
    const auto says = [&](const char* word) {
      return row.name.find(word) != std::string_view::npos;
    };
    CHECK((row.position == Position::First) == says("First"));
    CHECK((row.position == Position::Middle) == says("Middle"));
    CHECK((row.position == Position::Last) == says("Last"));
    CHECK((row.operation == Operation::Send) == says("SEND"));
    CHECK((row.operation == Operation::Write) == says("RDMA WRITE"));
    CHECK((row.operation == Operation::ReadRequest) == says("READ Request"));
    CHECK((row.operation == Operation::ReadResponse) == says("READ Response"));
    CHECK((row.operation == Operation::Acknowledge) == (row.name == "Acknowledge"));
    CHECK((row.operation == Operation::AtomicAcknowledge) == says("ATOMIC Ack"));
    CHECK((row.operation == Operation::CompareSwap) == says("CmpSwap"));
    CHECK((row.operation == Operation::FetchAdd) == says("FetchAdd"));
    CHECK((row.operation == Operation::Resync) == says("RESYNC"));
    CHECK((row.operation == Operation::Flush) == says("FLUSH"));
    CHECK((row.operation == Operation::AtomicWrite) == says("ATOMIC WRITE"));
    CHECK(row.has(Ext::ImmDt) == says("Immediate"));
    CHECK(row.has(Ext::Ieth) == says("Invalidate"));
  }
}

TEST_CASE("payload lengths are legal as T7 says",
          "[proto][opcodes][T7-l1][T7-l2][T7-l3][T7-l4][T7-l5]") {
  for (const OpcodeRow& row : kOpcodeRows) {
    if (row.operation == Operation::Get || row.operation == Operation::Put) continue;
    INFO(row.name);
    const bool data = row.operation == Operation::Send || row.operation == Operation::Write ||
                      row.operation == Operation::ReadResponse;
    const bool full = row.position == Position::First || row.position == Position::Middle;
    const bool eight = row.operation == Operation::AtomicWrite;
    for (const u32 pmtu : {256u, 4096u}) {
      const auto ok = [&](u32 bytes) { return payload_length_ok(row.payload, bytes, pmtu); };
      CHECK(ok(0) == (data ? row.position == Position::Only : !eight));
      CHECK(ok(1) == (data && !full));
      CHECK(ok(8) == ((data && !full) || eight));
      CHECK(ok(pmtu - 1) == (data && !full));
      CHECK(ok(pmtu) == data);
      CHECK_FALSE(ok(pmtu + 1));
    }
  }
}

TEST_CASE("a row is found by what it does", "[proto][opcodes]") {
  CHECK(opcode_row(Service::Rc, Operation::Write, Position::Only)->code == 0x0A);
  CHECK(opcode_row(Service::Rc, Operation::Write, Position::Only, Ext::ImmDt)->code == 0x0B);
  CHECK(opcode_row(Service::Xrc, Operation::Send, Position::Last, Ext::Ieth)->code == 0xB6);
  CHECK(opcode_row(Service::Ud, Operation::Send, Position::Only)->code == 0x64);
  CHECK(opcode_row(Service::Uc, Operation::ReadRequest, Position::Only) == nullptr);
  CHECK(opcode_row(Service::Uc, Operation::Send, Position::Last, Ext::Ieth) == nullptr);
}

TEST_CASE("each row of a service is found by what it does, and nothing else is",
          "[proto][opcodes]") {
  std::size_t found = 0;
  for (const Service service : kServices)
    for (unsigned operation = 0; operation <= unsigned(Operation::AtomicWrite); ++operation)
      for (const Position position :
           {Position::First, Position::Middle, Position::Last, Position::Only})
        for (const ExtSet carried : {ExtSet{}, ExtSet(Ext::ImmDt), ExtSet(Ext::Ieth)}) {
          const OpcodeRow* row = opcode_row(service, Operation(operation), position, carried);
          if (!row) continue;
          ++found;
          CHECK(row->service == service);
          CHECK(row->operation == Operation(operation));
          CHECK(row->position == position);
          CHECK(row->has(Ext::ImmDt) == carried.has(Ext::ImmDt));
          CHECK(row->has(Ext::Ieth) == carried.has(Ext::Ieth));
        }
  CHECK(found == kOpcodeRows.size() - 2);  // all but the congestion notifications
}
