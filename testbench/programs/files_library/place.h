// SPDX-License-Identifier: Apache-2.0
// Paths in /sys and /dev at which programs look for HCAs, and the files of the server in their
// place. Called from anywhere, from inside of an allocator too: nothing here asks for memory.
#pragma once
#include <fcntl.h>

#include <climits>
#include <cstddef>

namespace hca::files_library {
// Of an absolute path that leads to one of attach::kPlaces: the path from there on, without what
// leads to it in other ways ("/sys//class/./infiniband/x" is "/sys/class/infiniband" and "/x").
struct Found {
  const char* place = nullptr;  // none: it is no such path
  const char* rest = "";
};
Found find_place(const char* path);
// N of "/dev/infiniband/uverbsN"; -1: it is none.
int node_of(const Found& found);

// Where the files are: "" before the library is set up, or without a server.
void set_root(const char* root);
// As the program knows it: what lies below the root is below "/". Other paths as they are.
const char* known_as(const char* path);

// What a call is given, and what it is to be given instead.
class Place {
 public:
  Place(int folder, const char* path);
  explicit Place(const char* path) : Place(AT_FDCWD, path) {}
  Place(const Place&) = delete;
  const char* path() const { return path_; }
  int folder() const { return folder_; }
  bool is_ours() const { return path_ == own_; }
  int node() const { return node_; }  // of a character device: its number; -1: it is none
  bool changes() const { return changes_; }

 private:
  void take(const char* path);
  const char* path_;
  int folder_, node_ = -1;
  bool changes_ = false;
  char own_[PATH_MAX];
};

// Of a descriptor that was opened here: the number of its device node; -1: it is none. Opened anew
// it is another one.
void set_node(int descriptor, int node);
int node_of(int descriptor);

// Asks the server to write anew what has changed; once for each process, and before what changes
// is read.
void refresh(const Place& place);
}  // namespace hca::files_library
