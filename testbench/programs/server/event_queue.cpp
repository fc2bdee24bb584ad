// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/event_queue.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace hca::attach {
namespace {
constexpr std::size_t kMostWaiting = 1 << 16;

// False: there is no room for it. A record goes as a whole or not at all.
bool send_record(const Descriptor& end, std::span<const u64> record) {
  const ssize_t sent =
      send(end.get(), record.data(), record.size_bytes(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}
}  // namespace

EventQueue::EventQueue(std::size_t words) : words_(words) {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()))
    throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
  out_ = Descriptor(ends[0]);
  in_ = Descriptor(ends[1]);
}

bool EventQueue::write(std::span<const u64> record) {
  flush();
  if (!has_waiting() && send_record(in_, record)) return true;
  if (waiting_.size() < kMostWaiting)
    waiting_.emplace_back(record.begin(), record.end());
  else
    std::fprintf(stderr, "hca: an event is lost: a program reads none\n");
  return false;
}

bool EventQueue::flush() {
  bool any = false;
  for (; has_waiting() && send_record(in_, waiting_.front()); any = true) waiting_.pop_front();
  return any;
}

// All that is unread.
std::vector<u64> EventQueue::peek(int flags) const {
  int bytes = 0;
  if (ioctl(out_.get(), FIONREAD, &bytes)) bytes = 0;
  std::vector<u64> words(std::size_t(bytes) / sizeof(u64));
  const ssize_t got = words.empty() ? 0
                                    : recv(out_.get(), words.data(), words.size() * sizeof(u64),
                                           MSG_DONTWAIT | flags);
  words.resize(got > 0 ? std::size_t(got) / sizeof(u64) : 0);
  return words;
}

void EventQueue::remove(const std::function<bool(std::span<const u64> record)>& wanted) {
  std::erase_if(waiting_, wanted);
  const auto walk = [&](const std::vector<u64>& unread, const auto& visit) {
    for (std::size_t at = 0; at + words_ <= unread.size(); at += words_)
      visit(std::span(unread).subspan(at, words_));
  };
  bool any = false;
  walk(peek(MSG_PEEK), [&](std::span<const u64> record) { any |= wanted(record); });
  if (!any) return;
  // The others are put back before the waiting ones.
  std::deque<std::vector<u64>> kept;
  walk(peek(0), [&](std::span<const u64> record) {
    if (!wanted(record)) kept.emplace_back(record.begin(), record.end());
  });
  waiting_.insert(waiting_.begin(), kept.begin(), kept.end());
  flush();
}
}  // namespace hca::attach
