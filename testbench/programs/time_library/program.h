// SPDX-License-Identifier: Apache-2.0
// The program, and what turns.cpp and open.cpp share of its threads' turns.
#pragma once
#include <array>
#include <mutex>

#include "testbench/programs/server/packet_socket.h"
#include "testbench/programs/server/protocol.h"
#include "testbench/programs/server/turns.h"

namespace hca::time_library {
struct Program {
  std::mutex mutex;
  std::array<char, 108> path{};  // of the server: so long an address of a socket can be
  std::array<char, attach::kNameBytes> device{};  // whose host it runs on
  attach::Descriptor socket, wake;
  attach::SharedProcess* shared = nullptr;
  u32 number = 0;
  std::atomic<bool> open{false};
};
Program& program();

// The calling thread's place, with its turn; nullptr: the program is not in simulated time.
attach::SharedThread* mine();
void set_slot(attach::SharedThread& slot);  // of the calling thread
}  // namespace hca::time_library
