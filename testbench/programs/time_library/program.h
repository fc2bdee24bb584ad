// SPDX-License-Identifier: Apache-2.0
// State of the program, and the part of its threads' turns shared by turns.cpp and open.cpp.
#pragma once
#include <array>
#include <mutex>

#include "testbench/programs/server/packet_socket.h"
#include "testbench/programs/server/protocol.h"
#include "testbench/programs/server/turns.h"

namespace hca::time_library {
struct Program {
  std::mutex mutex;
  std::array<char, 108> path{};  // of the server; the maximum length of a socket address
  std::array<char, attach::kNameBytes> device{};  // it runs on this device's host
  attach::Descriptor socket, wake;
  attach::SharedProcess* shared = nullptr;
  u32 number = 0;
  std::atomic<bool> open{false};
};
Program& program();

// The calling thread's entry, with its turn; nullptr: the program is not in simulated time.
attach::SharedThread* mine();
void set_slot(attach::SharedThread& slot);  // of the calling thread
}  // namespace hca::time_library
