// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/files_library/place.h"
#include "testbench/programs/server/kernel_call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "testbench/programs/server/file_places.h"

namespace hca::files_library {
namespace {
// By descriptor: the number of a node, and 1. Programs open them by the handful, and first.
std::array<std::atomic<signed char>, 1024> g_nodes{};
char g_root[PATH_MAX];
std::size_t g_root_length = 0;

// A path built from its components, at most as long as the longest place.
class Components {
 public:
  // False: it has become too long.
  bool add(const char* begin, std::size_t length) {
    if (length == 0 || (length == 1 && *begin == '.')) return true;
    if (length == 2 && begin[0] == '.' && begin[1] == '.') {
      up();
      return true;
    }
    if (length_ + 1 + length >= sizeof text_) return false;
    text_[length_++] = '/';
    std::memcpy(text_ + length_, begin, length);
    length_ += length;
    return true;
  }
  std::string_view text() const { return {text_, length_}; }

 private:
  void up() {
    while (length_ && text_[--length_] != '/') {
    }
  }
  char text_[256];
  std::size_t length_ = 0;
};

bool may_lead_there(const char* path) {
  while (path[0] == '/' && path[1] == '/') ++path;
  return !std::strncmp(path, "/sys", 4) || !std::strncmp(path, "/dev", 4) ||
         std::strstr(path, "/.");
}

// The folder that a path without a leading slash is below, as the program knows it; false: not one
// from which such a path leads to a place.
bool base_of(int folder, char (&base)[PATH_MAX]) {
  long length;
  if (folder == AT_FDCWD) {
    length = attach::kernel_call(SYS_getcwd, base, sizeof base) - 1;
  } else {
    char link[40] = "/proc/self/fd/";
    char digits[12];
    std::size_t count = 0;
    if (folder < 0) return false;
    for (unsigned rest = unsigned(folder); count == 0 || rest; rest /= 10)
      digits[count++] = char('0' + rest % 10);
    std::reverse_copy(digits, digits + count, link + std::strlen(link));
    length = attach::kernel_call(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
  }
  if (length <= 0) return false;
  base[length] = 0;
  const char* const known = known_as(base);
  std::memmove(base, known, std::strlen(known) + 1);
  return !std::strcmp(base, "/") || !std::strncmp(base, "/sys", 4) ||
         !std::strncmp(base, "/dev", 4);
}
}  // namespace

Found find_place(const char* path) {
  if (path[0] != '/' || !may_lead_there(path)) return {};
  Components all;
  while (*path) {
    const std::size_t length = std::strcspn(path, "/");
    if (!all.add(path, length)) return {};
    path += length;
    for (const std::string_view place : attach::kPlaces)
      if (length && all.text() == place) return {place.data(), path};
    path += *path == '/';
  }
  return {};
}

int node_of(const Found& found) {
  constexpr std::string_view name = attach::kNodePrefix.substr(attach::kNodeFolder.size());
  if (!found.place || found.place != attach::kNodeFolder) return -1;
  const char* rest = found.rest;
  while (rest[0] == '/' && rest[1] == '/') ++rest;
  if (std::strncmp(rest, name.data(), name.size()) != 0) return -1;
  const char* const number = rest + name.size();
  if (!*number || number[1]) return -1;
  return *number >= '0' && *number <= '9' ? *number - '0' : -1;
}

void set_node(int descriptor, int node) {
  if (descriptor >= 0 && std::size_t(descriptor) < g_nodes.size())
    g_nodes[std::size_t(descriptor)] = static_cast<signed char>(node + 1);
}
int node_of(int descriptor) {
  const bool is_known = descriptor >= 0 && std::size_t(descriptor) < g_nodes.size();
  return is_known ? g_nodes[std::size_t(descriptor)] - 1 : -1;
}

void set_root(const char* root) {
  const std::size_t length = std::strlen(root);
  if (length >= sizeof g_root) return;
  std::memcpy(g_root, root, length + 1);
  g_root_length = length;
}

const char* known_as(const char* path) {
  if (!g_root_length || std::strncmp(path, g_root, g_root_length) != 0) return path;
  const char* const rest = path + g_root_length;
  return !*rest ? "/" : *rest == '/' ? rest : path;
}

Place::Place(int folder, const char* path) : path_(path), folder_(folder) {
  if (!path || !*path || !g_root_length) return;
  if (*path == '/') {
    take(path);
    return;
  }
  char whole[PATH_MAX];
  if (!base_of(folder, whole)) return;
  const std::size_t base = std::strlen(whole), length = std::strlen(path);
  if (base + 1 + length >= sizeof whole) return;
  whole[base] = '/';
  std::memcpy(whole + base + 1, path, length + 1);
  take(whole);
}

void Place::take(const char* path) {
  const Found found = find_place(path);
  if (!found.place) return;
  const std::size_t place = std::strlen(found.place), rest = std::strlen(found.rest);
  if (g_root_length + place + rest >= sizeof own_) return;
  std::memcpy(own_, g_root, g_root_length);
  std::memcpy(own_ + g_root_length, found.place, place);
  std::memcpy(own_ + g_root_length + place, found.rest, rest + 1);
  path_ = own_;
  folder_ = AT_FDCWD;
  changes_ = attach::changes(own_ + g_root_length);
  node_ = node_of(found);
  // HCAs that the program may not see do not exist for it.
  char target[2];
  if (node_ >= 0 && attach::kernel_call(SYS_readlinkat, AT_FDCWD, own_, target, sizeof target) < 0)
    node_ = -1;
}
}  // namespace hca::files_library
