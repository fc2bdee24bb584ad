// SPDX-License-Identifier: Apache-2.0
// Packets, work requests and commands at random as the steps of a vector that expects nothing: most
// go on as a peer and a host would, some are wrong at a corner.
#pragma once
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/engine/random.h"
#include "testbench/vectors/vector.h"

namespace hca::testbench::malice {
class RandomVector {
 public:
  // The same numbers give the same vector. Its queue pairs are rc, uc and ud.
  RandomVector(u64 seed, u32 steps);
  Vector take() { return std::move(vector_); }

 private:
  using Json = nlohmann::json;
  // What a requester or responder would do next, as far as is known here.
  struct Asked {
    const char* answer;  // opcode
    u32 psn, packets, bytes;
  };
  struct End {
    std::string name, service;
    u32 path_mtu = 256;
    u32 expected = 0, next = 0;      // PSNs: of the next request to it, of its next request
    std::string message;             // that has begun: "SEND", "RDMA WRITE", or none
    u32 left = 0, msn = 0;           // bytes of it
    std::vector<Asked> outstanding;  // of what it sent
    Json last;                       // packet that it got
  };

  template <class T, std::size_t n>
  const T& one_of(const std::array<T, n>& list) {
    return list[random_.below(n)];
  }
  bool chance(u32 percent) { return random_.chance(percent, 100); }
  u32 psn_near(u32 psn);
  u32 length(u32 path_mtu, u32 packets);
  Json place(u32 bytes);  // an SGE

  void set_up();
  void step();
  void add(const char* verb, Json json);
  void post_receive(End& end);
  void post_send(End& end);
  void request(End& end);
  void datagram(End& end);
  void response(End& end);
  void revive(End& end);
  void give(End& end, Json packet);
  void spoil(const End& end, Json& packet);

  engine::Random random_;
  Vector vector_;
  std::array<End, 3> ends_;
  u32 wr_id_ = 0;
};

// The vector without each step that `fails` does not need.
Vector shrink(Vector vector, const std::function<bool(const Vector&)>& fails);
}  // namespace hca::testbench::malice
