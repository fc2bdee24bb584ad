// SPDX-License-Identifier: Apache-2.0
// The paths in /sys and /dev at which programs look for HCAs, and the server's files that replace
// them. Called from any context, even inside an allocator, so nothing here allocates memory.
#pragma once
#include <fcntl.h>

#include <climits>
#include <cstddef>

namespace hca::files_library {
// For an absolute path to one of attach::kPlaces: the remaining path, normalised
// ("/sys//class/./infiniband/x" gives "/sys/class/infiniband" and "/x").
struct Found {
  const char* place = nullptr;  // nullptr: not such a path
  const char* rest = "";
};
Found find_place(const char* path);
// N of "/dev/infiniband/uverbsN"; -1: another path.
int node_of(const Found& found);

// The folder of the files: "" before the library is set up, or without a server.
void set_root(const char* root);
// The path as the program knows it: a path below the root appears below "/". Other paths are
// unchanged.
const char* known_as(const char* path);

// The argument of a call, and its replacement.
class Place {
 public:
  Place(int folder, const char* path);
  explicit Place(const char* path) : Place(AT_FDCWD, path) {}
  Place(const Place&) = delete;
  const char* path() const { return path_; }
  int folder() const { return folder_; }
  bool is_ours() const { return path_ == own_; }
  int node() const { return node_; }  // number of a character device; -1: another file
  bool changes() const { return changes_; }

 private:
  void take(const char* path);
  const char* path_;
  int folder_, node_ = -1;
  bool changes_ = false;
  char own_[PATH_MAX];
};

// Records the number of the device node of a descriptor opened here; -1: none. A reopened
// descriptor gets a new number.
void set_node(int descriptor, int node);
int node_of(int descriptor);

// Requests the server to rewrite changed files; once for each process, and before a changing file
// is read.
void refresh(const Place& place);
}  // namespace hca::files_library
