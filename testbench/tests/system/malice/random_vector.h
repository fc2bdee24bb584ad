// SPDX-License-Identifier: Apache-2.0
// Random packets, work requests and commands as the steps of a vector without expectations: most
// are valid continuations, some have one error.
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
  // The same arguments give the same vector. Its queue pairs are rc, uc, ud, and
  // of XRC the initiator ini and the target tgt, whose requests name the SRQs x and y.
  RandomVector(u64 seed, u32 steps);
  Vector take() { return std::move(vector_); }

 private:
  using Json = nlohmann::json;
  // The next action of a requester or responder, as far as it is known here.
  struct Asked {
    const char* answer;  // opcode
    u32 psn, packets, bytes;
  };
  struct End {
    std::string name, service, side;  // side: of XRC
    u32 path_mtu = 256;
    u32 expected = 0, next = 0;      // PSNs: of the next request to it, of its next request
    std::string message;             // in progress: "SEND", "RDMA WRITE", or none
    u32 left = 0, msn = 0;           // bytes left of it; MSN
    std::vector<Asked> outstanding;  // requests that it sent
    Json last;                       // last packet that it received

    bool is_reliable() const { return service == "RC" || service == "XRC"; }
    bool sends() const { return side != "target"; }
    bool receives() const { return side != "initiator"; }
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
  std::array<End, 5> ends_;
  u32 wr_id_ = 0;
};

// Removes each step that `fails` does not need.
Vector shrink(Vector vector, const std::function<bool(const Vector&)>& fails);
}  // namespace hca::testbench::malice
