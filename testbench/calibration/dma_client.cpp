// SPDX-License-Identifier: Apache-2.0
#include "testbench/calibration/dma_client.h"

#include <algorithm>
#include <vector>

#include "tlm/pcie/pcie_tlp_link.h"

namespace hca::testbench {
namespace {
constexpr u32 kStream = 20'000, kSingle = 1001;
constexpr u64 kBitsPerByte = 8;
constexpr u32 kWordBytes = 8;
}  // namespace

DmaClient::DmaClient(const DmaClientConfig& client, const tlm_::PcieConfig& pcie)
    : client_(client), pcie_(pcie) {}

Cycle DmaClient::cycles(u64 picoseconds) const {
  return engine::cycles_from_picoseconds(picoseconds, client_.clock);
}

// The device's own time for each request of a stream; picoseconds.
u64 DmaClient::between_reads(u32 bytes) const {
  return client_.read_interval + (bytes % kWordBytes ? client_.read_tail : 0);
}
u64 DmaClient::between_writes(u32 bytes) const {
  return client_.write_interval + (bytes - 1) / client_.write_unit * client_.write_unit_interval;
}

double DmaClient::read_rate(u32 bytes) {
  const auto link = tlm_::make_pcie_link(pcie_, client_.clock);
  Cycle at = 0, last = 0;
  u64 issued_ps = 0;
  for (u32 i = 0; i < kStream; ++i, issued_ps += between_reads(bytes)) {
    const blocks::ReadTiming read = link->read(std::max(at, cycles(issued_ps)), 0, bytes);
    at = read.next, last = read.last;
  }
  return double(u64{kStream} * bytes * kBitsPerByte) / seconds(last) * 1e-9;
}

double DmaClient::write_rate(u32 bytes) {
  const auto link = tlm_::make_pcie_link(pcie_, client_.clock);
  const Cycle gap = cycles(client_.write_gap);
  Cycle at = 0, last = 0;
  u64 issued_ps = 0;
  for (u32 i = 0; i < kStream; ++i, issued_ps += between_writes(bytes)) {
    const Cycle ready = std::max(at, cycles(issued_ps));
    const blocks::WriteTiming write = link->write(ready, ready, 0, bytes);
    at = write.next + gap, last = write.memory;
  }
  return double(u64{kStream} * bytes * kBitsPerByte) / seconds(last) * 1e-9;
}

// once(link, at): the cycle in which a measurement that begins in cycle `at` ends.
template <class Once>
DmaClient::Latency DmaClient::latency_of(Once&& once) {
  const auto link = tlm_::make_pcie_link(pcie_, client_.clock);
  std::vector<Cycle> taken;
  Cycle at = 0;
  for (u32 i = 0; i < kSingle; ++i) {
    const Cycle end = once(*link, at);
    taken.push_back(end - at), at = end;
  }
  std::sort(taken.begin(), taken.end());
  return {seconds(taken.front()) * 1e9, seconds(taken[kSingle / 2]) * 1e9};
}

DmaClient::Latency DmaClient::read_latency(u32 bytes) {
  const Cycle staging = cycles(client_.staging * bytes / 1024);
  return latency_of(
      [&](tlm_::PcieLink& link, Cycle at) { return link.read(at, 0, bytes).last + staging; });
}

// The read leaves and reaches memory after the write.
double DmaClient::write_then_read(u32 bytes) {
  const Cycle issue = cycles(client_.write_issue), staging = cycles(client_.staging * bytes / 1024);
  return latency_of([&](tlm_::PcieLink& link, Cycle at) {
           const Cycle ready = at + issue + staging;
           return link.read(link.write(ready, ready, 0, bytes).next, 0, bytes).last + staging;
         })
      .median;
}
}  // namespace hca::testbench
