// SPDX-License-Identifier: Apache-2.0
// By hand on the link of pcie_by_hand.h: 16 bytes a cycle of 4 ns. A stream of 20 000 requests ends
// with the latency of its last one, less than 1 in 1000 of it.
#include "testbench/calibration/dma_client.h"

#include <catch2/catch.hpp>

#include "testbench/tests/tlm/pcie/pcie_by_hand.h"

namespace hca::testbench {
namespace {
DmaClient client(const DmaClientConfig& config) { return {config, tlm_::plain()}; }
DmaClientConfig at_clock_of_link() {
  DmaClientConfig config;
  config.clock = tlm_::kHertz;
  return config;
}
auto is(double gbit_s) { return Approx(gbit_s).epsilon(0.001); }
}  // namespace

TEST_CASE("a DMA client takes its time for each unit of a write", "[dma_client]") {
  DmaClientConfig config = at_clock_of_link();
  // 128 bytes are 9.5 cycles of the link.
  CHECK(client(config).write_rate(128) == is(128 * 8 / 38.0));
  config.write_interval = 60'000, config.write_unit = 128, config.write_unit_interval = 20'000;
  CHECK(client(config).write_rate(1) == is(1 * 8 / 60.0));
  CHECK(client(config).write_rate(128) == is(128 * 8 / 60.0));
  CHECK(client(config).write_rate(129) == is(129 * 8 / 80.0));
  CHECK(client(config).write_rate(256) == is(256 * 8 / 80.0));
  CHECK(client(config).write_rate(257) == is(257 * 8 / 100.0));
}

TEST_CASE("a DMA client leaves a gap behind each write", "[dma_client]") {
  DmaClientConfig config = at_clock_of_link();
  config.write_gap = 8'000;
  // It has left in the tenth cycle; two more.
  CHECK(client(config).write_rate(128) == is(128 * 8 / 48.0));
}

TEST_CASE("a DMA client takes longer for a read that ends within a word", "[dma_client]") {
  DmaClientConfig config = at_clock_of_link();
  config.read_interval = 40'000, config.read_tail = 10'000;
  CHECK(client(config).read_rate(64) == is(64 * 8 / 40.0));
  CHECK(client(config).read_rate(63) == is(63 * 8 / 50.0));
  CHECK(client(config).read_rate(65) == is(65 * 8 / 50.0));
  CHECK(client(config).read_rate(72) == is(72 * 8 / 40.0));
}
}  // namespace hca::testbench
