// SPDX-License-Identifier: Apache-2.0
// Functions that examine a path without opening it.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "testbench/programs/files_library/calls.h"
#include "testbench/programs/server/file_places.h"

// NOLINTBEGIN(bugprone-reserved-identifier): names of the C library
extern "C" {
int __xstat(int, const char*, struct stat*) noexcept;
int __xstat64(int, const char*, struct stat64*) noexcept;
int __lxstat(int, const char*, struct stat*) noexcept;
int __lxstat64(int, const char*, struct stat64*) noexcept;
int __fxstat(int, int, struct stat*) noexcept;
int __fxstat64(int, int, struct stat64*) noexcept;
int __fxstatat(int, int, const char*, struct stat*, int) noexcept;
int __fxstatat64(int, int, const char*, struct stat64*, int) noexcept;
ssize_t __readlink_chk(const char*, char*, size_t, size_t) noexcept;
ssize_t __readlinkat_chk(int, const char*, char*, size_t, size_t) noexcept;
char* __realpath_chk(const char*, char*, size_t) noexcept;
char* __getcwd_chk(char*, size_t, size_t) noexcept;
}

using namespace hca;
using namespace hca::files_library;

namespace {
constexpr mode_t kNodeMode = S_IFCHR | 0666;

constexpr unsigned kNullMajor = 1, kNullMinor = 3;  // of /dev/null, which is there instead

// A device node has the numbers of the verbs.
template <class Stat>
int as_node(int result, int node, Stat* status) {
  if (result == 0 && node >= 0 && status->st_rdev == makedev(kNullMajor, kNullMinor)) {
    status->st_mode = kNodeMode;
    status->st_rdev = makedev(attach::kVerbsMajor, attach::kVerbsMinor + unsigned(node));
  }
  return result;
}
// The node of a path, or of the descriptor itself.
int node_at(const Place& place, const char* path) {
  return path && !*path ? node_of(place.folder()) : place.node();
}
// Here it is a link, which must stay hidden.
int without_link(const Place& place, int flags) {
  return place.node() >= 0 ? flags & ~AT_SYMLINK_NOFOLLOW : flags;
}
}  // namespace

#define HCA_STAT(name, linked, Type)                                         \
  HCA_INSTEAD int name(const char* path, struct Type* status) noexcept {     \
    const Place place(path);                                                 \
    const auto call = place.node() >= 0 ? HCA_NEXT(linked) : HCA_NEXT(name); \
    return as_node(call(place.path(), status), place.node(), status);        \
  }
HCA_STAT(stat, stat, stat)
HCA_STAT(stat64, stat64, stat64)
HCA_STAT(lstat, stat, stat)
HCA_STAT(lstat64, stat64, stat64)
#define HCA_XSTAT(name, linked, Type)                                                 \
  HCA_INSTEAD int name(int version, const char* path, struct Type* status) noexcept { \
    const Place place(path);                                                          \
    const auto call = place.node() >= 0 ? HCA_NEXT(linked) : HCA_NEXT(name);          \
    return as_node(call(version, place.path(), status), place.node(), status);        \
  }
HCA_XSTAT(__xstat, __xstat, stat)
HCA_XSTAT(__xstat64, __xstat64, stat64)
HCA_XSTAT(__lxstat, __xstat, stat)
HCA_XSTAT(__lxstat64, __xstat64, stat64)
#define HCA_STATAT(name, Type)                                                                  \
  HCA_INSTEAD int name(int folder, const char* path, struct Type* status, int flags) noexcept { \
    const Place place(folder, path);                                                            \
    return as_node(                                                                             \
        HCA_NEXT(name)(place.folder(), place.path(), status, without_link(place, flags)),       \
        node_at(place, path), status);                                                          \
  }
HCA_STATAT(fstatat, stat)
HCA_STATAT(fstatat64, stat64)
#define HCA_XSTATAT(name, Type)                                                                    \
  HCA_INSTEAD int name(int version, int folder, const char* path, struct Type* status,             \
                       int flags) noexcept {                                                       \
    const Place place(folder, path);                                                               \
    return as_node(                                                                                \
        HCA_NEXT(name)(version, place.folder(), place.path(), status, without_link(place, flags)), \
        node_at(place, path), status);                                                             \
  }
HCA_XSTATAT(__fxstatat, stat)
HCA_XSTATAT(__fxstatat64, stat64)
#define HCA_FSTAT(name, Type)                                                        \
  HCA_INSTEAD int name(int descriptor, struct Type* status) noexcept {               \
    return as_node(HCA_NEXT(name)(descriptor, status), node_of(descriptor), status); \
  }
HCA_FSTAT(fstat, stat)
HCA_FSTAT(fstat64, stat64)
#define HCA_FXSTAT(name, Type)                                                                \
  HCA_INSTEAD int name(int version, int descriptor, struct Type* status) noexcept {           \
    return as_node(HCA_NEXT(name)(version, descriptor, status), node_of(descriptor), status); \
  }
HCA_FXSTAT(__fxstat, stat)
HCA_FXSTAT(__fxstat64, stat64)
HCA_INSTEAD int statx(int folder, const char* path, int flags, unsigned mask,
                      struct statx* status) noexcept {
  const Place place(folder, path);
  const int result =
      HCA_NEXT(statx)(place.folder(), place.path(), without_link(place, flags), mask, status);
  const int node = node_at(place, path);
  const bool is_null = status->stx_rdev_major == kNullMajor && status->stx_rdev_minor == kNullMinor;
  if (result == 0 && node >= 0 && is_null) {
    status->stx_mode = kNodeMode;
    status->stx_rdev_major = attach::kVerbsMajor;
    status->stx_rdev_minor = attach::kVerbsMinor + unsigned(node);
  }
  return result;
}

HCA_INSTEAD int access(const char* path, int mode) noexcept {
  return HCA_NEXT(access)(Place(path).path(), mode);
}
HCA_INSTEAD int euidaccess(const char* path, int mode) noexcept {
  return HCA_NEXT(euidaccess)(Place(path).path(), mode);
}
HCA_INSTEAD int eaccess(const char* path, int mode) noexcept {
  return HCA_NEXT(eaccess)(Place(path).path(), mode);
}
HCA_INSTEAD int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  const Place place(folder, path);
  return HCA_NEXT(faccessat)(place.folder(), place.path(), mode, flags);
}

#define HCA_OF_FILE_SYSTEM(name)                                         \
  HCA_INSTEAD int name(const char* path, struct name* status) noexcept { \
    return HCA_NEXT(name)(Place(path).path(), status);                   \
  }
HCA_OF_FILE_SYSTEM(statfs)
HCA_OF_FILE_SYSTEM(statfs64)
HCA_OF_FILE_SYSTEM(statvfs)
HCA_OF_FILE_SYSTEM(statvfs64)
HCA_INSTEAD ssize_t getxattr(const char* path, const char* name, void* value,
                             size_t bytes) noexcept {
  return HCA_NEXT(getxattr)(Place(path).path(), name, value, bytes);
}
HCA_INSTEAD ssize_t lgetxattr(const char* path, const char* name, void* value,
                              size_t bytes) noexcept {
  return HCA_NEXT(lgetxattr)(Place(path).path(), name, value, bytes);
}
HCA_INSTEAD ssize_t listxattr(const char* path, char* names, size_t bytes) noexcept {
  return HCA_NEXT(listxattr)(Place(path).path(), names, bytes);
}
HCA_INSTEAD ssize_t llistxattr(const char* path, char* names, size_t bytes) noexcept {
  return HCA_NEXT(llistxattr)(Place(path).path(), names, bytes);
}

// ---- Links, and paths without them
namespace {
template <class Read>
ssize_t read_link(int folder, const char* path, Read read) {
  const Place place(folder, path);
  if (place.node() >= 0) {
    errno = EINVAL;
    return -1;
  }  // a device is no link
  return read(place.folder(), place.path());
}
// `resolved`: nullptr, or room for PATH_MAX.
char* real_path(const char* path, char* resolved) {
  const Place place(path);
  if (!place.is_ours()) return HCA_NEXT(realpath)(path, resolved);
  char found[PATH_MAX];
  if (!HCA_NEXT(realpath)(place.path(), found)) return nullptr;
  const char* const known = known_as(place.node() >= 0 ? place.path() : found);
  return resolved ? std::strcpy(resolved, known) : strdup(known);
}
char* known_folder(char* folder) {
  if (!folder) return nullptr;
  const char* const known = known_as(folder);
  std::memmove(folder, known, std::strlen(known) + 1);
  return folder;
}
}  // namespace

HCA_INSTEAD ssize_t readlink(const char* path, char* to, size_t bytes) noexcept {
  return read_link(AT_FDCWD, path,
                   [&](int, const char* where) { return HCA_NEXT(readlink)(where, to, bytes); });
}
HCA_INSTEAD ssize_t __readlink_chk(const char* path, char* to, size_t bytes, size_t room) noexcept {
  return read_link(AT_FDCWD, path, [&](int, const char* where) {
    return HCA_NEXT(__readlink_chk)(where, to, bytes, room);
  });
}
HCA_INSTEAD ssize_t readlinkat(int folder, const char* path, char* to, size_t bytes) noexcept {
  return read_link(folder, path, [&](int from, const char* where) {
    return HCA_NEXT(readlinkat)(from, where, to, bytes);
  });
}
HCA_INSTEAD ssize_t __readlinkat_chk(int folder, const char* path, char* to, size_t bytes,
                                     size_t room) noexcept {
  return read_link(folder, path, [&](int from, const char* where) {
    return HCA_NEXT(__readlinkat_chk)(from, where, to, bytes, room);
  });
}
HCA_INSTEAD char* realpath(const char* path, char* resolved) noexcept {
  return real_path(path, resolved);
}
HCA_INSTEAD char* __realpath_chk(const char* path, char* resolved, size_t room) noexcept {
  if (room < PATH_MAX) return HCA_NEXT(__realpath_chk)(path, resolved, room);  // which aborts
  return real_path(path, resolved);
}
HCA_INSTEAD char* canonicalize_file_name(const char* path) noexcept {
  return real_path(path, nullptr);
}
HCA_INSTEAD char* getcwd(char* to, size_t room) noexcept {
  return known_folder(HCA_NEXT(getcwd)(to, room));
}
HCA_INSTEAD char* __getcwd_chk(char* to, size_t bytes, size_t room) noexcept {
  return known_folder(HCA_NEXT(__getcwd_chk)(to, bytes, room));
}
HCA_INSTEAD char* get_current_dir_name() noexcept {
  return known_folder(HCA_NEXT(get_current_dir_name)());
}
// NOLINTEND(bugprone-reserved-identifier)
