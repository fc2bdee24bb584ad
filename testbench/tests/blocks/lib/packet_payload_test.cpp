// SPDX-License-Identifier: Apache-2.0
// Packets that hold only the begin of their payload.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "model/blocks/memory/dma_request.h"

namespace hca::blocks {
namespace {
// Headers of 62 bytes: Ethernet, IPv4, UDP, BTH and 8 more.
proto::FrameShape shape(u32 payload) {
  return {proto::Framing::RoceV2Ip4, 14, 42, 62, payload, 62 + payload};
}
}  // namespace

TEST_CASE("a timed packet holds the first 8 bytes of its payload", "[packet]") {
  PacketPool pool(Payload::Timed);
  Packet* const p = pool.take();
  p->set_shape(shape(1024));
  p->frame_bytes = 62 + 1024 + 4;
  CHECK(p->is_cut());
  CHECK(p->bytes().size() == 70);
  CHECK(p->on_link().size() == 1090);
  // The payload in pieces of 5, 7 and 1012 bytes: 5, 3 and 0 of these are held.
  const PayloadPiece first = p->piece(62, 5), second = p->piece(67, 7), rest = p->piece(74, 1012);
  CHECK((first.bytes == 5 && first.held == 5 && first.at == p->frame() + 62));
  CHECK((second.bytes == 7 && second.held == 3));
  CHECK((rest.bytes == 1012 && rest.held == 0));
  DmaRequest request;
  request.set_write(0x1000, second, nullptr, true, 1, 2);
  CHECK((request.bytes == 7 && request.moved == 3 && request.write && request.notify));
  request.set_read(0x1000, rest, nullptr, true);
  CHECK((request.bytes == 1012 && request.moved == 0 && !request.write));
  // One of 8 bytes is whole, and so is the next one from the pool.
  p->set_shape(shape(1024));
  PacketPool::give_back(p);
  Packet* const again = pool.take();
  REQUIRE(again == p);
  again->set_shape(shape(8));
  CHECK_FALSE(again->is_cut());
  PacketPool::give_back(again);
}

TEST_CASE("a packet that carries its payload holds all of it", "[packet]") {
  PacketPool pool;
  Packet* const p = pool.take();
  p->set_shape(shape(4096));
  p->frame_bytes = 62 + 4096 + 4;
  CHECK_FALSE(p->is_cut());
  CHECK(p->bytes().size() == 4162);
  CHECK(p->piece(74, 1012).held == 1012);
  PacketPool::give_back(p);
}

TEST_CASE("frames of timed packets have no room for their payload", "[packet]") {
  CHECK(PacketPool(Payload::Timed).capacity() + 4096 - 8 == PacketPool().capacity());
  PacketPool pool(Payload::Timed);
  Packet *a = pool.take(), *b = pool.take();
  const auto between = reinterpret_cast<u8*>(a) - reinterpret_cast<u8*>(b);
  CHECK(std::size_t(std::abs(between)) < sizeof(Packet) + 300);
  PacketPool::give_back(a), PacketPool::give_back(b);
}
}  // namespace hca::blocks
