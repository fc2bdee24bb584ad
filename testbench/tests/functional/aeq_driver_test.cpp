// SPDX-License-Identifier: Apache-2.0
// What a driver of AEQ-1 to AEQ-24 does with each entry that the device writes.
#include <catch2/catch.hpp>

#include <vector>

#include "model/proto/transport/transport_options.h"
#include "testbench/host/aeq_driver.h"

namespace hca::testbench {
using namespace proto;

namespace {
Aeqe entry_of(const EventRow& row, u32 number) {
  std::array<u8, kEqeBytes> bytes;
  encode_event({row.type, number}, 0, true, false, true, bytes.data());
  return decode_aeqe(bytes.data());
}
}  // namespace

TEST_CASE("an entry ends a queue pair for the driver exactly if the device has ended it",
          "[functional][AEQ-8][AEQ-12]") {
  constexpr u32 kNumber = 5;
  for (const EventRow& row : kAsyncEvents) {
    std::vector<u32> ended;
    AeqDriver driver({[](u32) { return true; }, [](u32) { return true; },
                      [&](u32 qpn) { ended.push_back(qpn); }});
    driver.take(entry_of(row, kNumber));
    const bool tells_error = row.type == EventType::QpFatal || row.type == EventType::QpReqErr ||
                             row.type == EventType::QpAccessErr;
    INFO(row.name);
    CHECK(ended == (tells_error ? std::vector<u32>{kNumber} : std::vector<u32>{}));
    CHECK(driver.totals.cq_errors == (row.type == EventType::CqErr));
    CHECK(driver.qps.count(kNumber) == (tells_error || row.type == EventType::QpSuspended));
  }
}

TEST_CASE("an entry has the state of its queue pair in bits 56 to 54 of word 1",
          "[functional][AEQ-10]") {
  std::array<u8, kEqeBytes> bytes;
  encode_event({EventType::CommEst, 1}, 0, true, false, true, bytes.data());
  CHECK((bytes[14] >> 6 | (bytes[15] & 1) << 2) == 4);  // RTR
  encode_event({EventType::CommEst, 1}, 0, true, false, false, bytes.data());
  CHECK((bytes[14] >> 6 | (bytes[15] & 1) << 2) == 0);
}
}  // namespace hca::testbench
