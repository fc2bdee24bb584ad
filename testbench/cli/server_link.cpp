// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/server_link.h"

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace hca::cli {
ServerLink::ServerLink(const std::string& socket, double seconds) : socket_(socket) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kBetween{20};
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!(end_ = attach::connect_to(socket)) && Clock::now() < end)
    std::this_thread::sleep_for(kBetween);
  if (!end_) throw std::runtime_error(attach::no_server(socket, errno));
}

attach::Reply ServerLink::ask(attach::Verb verb, u64 cookie) const {
  attach::Request request;
  request.verb = verb;
  request.cookie = cookie;
  return ask(request);
}

attach::Reply ServerLink::ask(const attach::Request& request) const {
  attach::Reply reply;
  if (!attach::send_message(end_.get(), request) || !attach::receive_message(end_.get(), reply))
    throw std::runtime_error(attach::no_server(socket_, errno));
  return reply;
}
}  // namespace hca::cli
