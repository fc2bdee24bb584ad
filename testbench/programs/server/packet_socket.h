// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "testbench/programs/server/protocol.h"

namespace hca::attach {
// A file descriptor that closes itself.
class Descriptor {
 public:
  constexpr explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  constexpr ~Descriptor() {
    if (fd_ >= 0) close();
  }
  void close();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Sends or receives one message with its descriptors. False: see errno; ECONNRESET if the peer has
// closed its end.
bool send_packet(int socket, std::span<const u8> bytes, std::span<const int> descriptors = {});
bool receive_packet(int socket, std::span<u8> bytes,
                    std::vector<Descriptor>* descriptors = nullptr);

template <class Message>
bool send_message(int socket, const Message& message, std::span<const int> descriptors = {}) {
  return send_packet(socket, {reinterpret_cast<const u8*>(&message), sizeof message}, descriptors);
}
template <class Message>
bool receive_message(int socket, Message& message, std::vector<Descriptor>* descriptors = nullptr) {
  return receive_packet(socket, {reinterpret_cast<u8*>(&message), sizeof message}, descriptors);
}

// Connects to the server at this path; an empty descriptor: see errno.
Descriptor connect_to(const std::string& path);
// Listens at this path. Throws std::runtime_error: the path is too long, already served, ...
Descriptor listen_at(const std::string& path);
// The `hca run` to which this process belongs; 0: none.
inline u32 run_of_environment() {
  const char* const number = std::getenv(kRunVariable);
  return number ? u32(std::strtoul(number, nullptr, 10)) : 0;
}
// One line about the problem with the server at this path, from errno.
std::string no_server(const std::string& path, int error);
}  // namespace hca::attach
