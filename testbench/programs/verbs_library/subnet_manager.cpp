// SPDX-License-Identifier: Apache-2.0
// libibumad, for programs that request a multicast join from InfiniBand's subnet manager. There is
// none: between two HCAs on a cable groups need no routes. The answer is that the port has joined,
// with a LID derived from the group's GID.
#include <cerrno>
#include <cstring>
#include <mutex>

#include "model/proto/bytes.h"
#include "testbench/programs/server/multicast_lid.h"
#include "testbench/programs/verbs_library/library.h"

using namespace hca;

namespace {
// A management datagram, after libibumad's own header.
constexpr std::size_t kFront = 64, kMadBytes = 256;
constexpr std::size_t kMethod = 3, kStatus = 4, kAttribute = 16, kMgid = 56, kMlid = 92;
constexpr u8 kGetResponse = 0x81, kSubnetAdministration = 3;
constexpr u16 kMemberRecord = 0x38, kUnsupported = 0x0c;

std::mutex g_mutex;
std::array<u8, kMadBytes> g_answer;
bool g_answered = false;

void answer(u8* mad) {
  const bool joins = proto::load_be<2>(mad + kAttribute) == kMemberRecord;
  mad[kMethod] = kGetResponse;
  proto::store_be<2>(mad + kStatus, joins ? 0 : kUnsupported);
  if (joins) proto::store_be<2>(mad + kMlid, attach::multicast_lid(mad + kMgid));
}
}  // namespace

HCA_VERB int umad_init() { return 0; }
HCA_VERB int umad_open_port(const char*, int) { return 0; }
HCA_VERB int umad_close_port(int) { return 0; }
HCA_VERB int umad_register(int, int management_class, int, u8, long*) {
  return management_class == kSubnetAdministration ? 0 : -EOPNOTSUPP;
}
HCA_VERB int umad_unregister(int, int) { return 0; }
HCA_VERB std::size_t umad_size() { return kFront; }
HCA_VERB void* umad_get_mad(void* umad) { return static_cast<u8*>(umad) + kFront; }
HCA_VERB int umad_set_addr(void*, int, int, int, int) { return 0; }
HCA_VERB int umad_set_pkey(void*, int) { return 0; }
HCA_VERB int umad_send(int, int, void* umad, int bytes, int, int) {
  if (bytes != int(kMadBytes)) return -EINVAL;
  const std::lock_guard guard(g_mutex);
  std::memcpy(g_answer.data(), umad_get_mad(umad), kMadBytes);
  answer(g_answer.data());
  g_answered = true;
  return 0;
}
HCA_VERB int umad_recv(int, void* umad, int* bytes, int) {
  const std::lock_guard guard(g_mutex);
  if (!g_answered) return -ETIMEDOUT;
  if (*bytes < int(kMadBytes)) return -EINVAL;
  std::memcpy(umad_get_mad(umad), g_answer.data(), kMadBytes);
  *bytes = int(kMadBytes);
  g_answered = false;
  return 0;
}
