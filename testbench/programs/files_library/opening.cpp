// SPDX-License-Identifier: Apache-2.0
// Files and folders that are opened or listed.
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "testbench/programs/files_library/calls.h"

// NOLINTBEGIN(bugprone-reserved-identifier): names of the C library
extern "C" {
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
}

using namespace hca::files_library;

namespace {
// Nobody writes to them.
int refuse_to_write(const Place& place) {
  errno = HCA_NEXT(access)(place.path(), F_OK) ? ENOENT : EACCES;
  return -1;
}
// A device node is opened for reading: writes to it are refused.
template <class Open>
int open_as(int folder, const char* path, int flags, Open open) {
  const Place place(folder, path);
  if (place.node() >= 0) {
    flags = (flags & ~(O_ACCMODE | O_CREAT | O_TRUNC)) | O_RDONLY;
  } else if (place.is_ours() && (flags & O_ACCMODE) != O_RDONLY) {
    return refuse_to_write(place);
  }
  refresh(place);
  const int opened = open(place.folder(), place.path(), flags);
  set_node(opened, place.node());
  return opened;
}
template <class Open>
FILE* open_stream(const char* path, const char* mode, Open open) {
  const Place place(path);
  const bool writes = mode && std::strpbrk(mode, "wa+");
  if (place.is_ours() && writes && place.node() < 0) {
    refuse_to_write(place);
    return nullptr;
  }
  refresh(place);
  return open(place.path(), place.node() >= 0 ? "r" : mode);
}
mode_t mode_of(int flags, va_list rest) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}
}  // namespace

#define HCA_OPEN(name)                                                           \
  HCA_INSTEAD int name(const char* path, int flags, ...) {                       \
    va_list rest;                                                                \
    va_start(rest, flags);                                                       \
    const mode_t mode = mode_of(flags, rest);                                    \
    va_end(rest);                                                                \
    return open_as(AT_FDCWD, path, flags, [&](int, const char* where, int how) { \
      return HCA_NEXT(name)(where, how, mode);                                   \
    });                                                                          \
  }
HCA_OPEN(open)
HCA_OPEN(open64)
#define HCA_OPENAT(name)                                                            \
  HCA_INSTEAD int name(int folder, const char* path, int flags, ...) {              \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    const mode_t mode = mode_of(flags, rest);                                       \
    va_end(rest);                                                                   \
    return open_as(folder, path, flags, [&](int from, const char* where, int how) { \
      return HCA_NEXT(name)(from, where, how, mode);                                \
    });                                                                             \
  }
HCA_OPENAT(openat)
HCA_OPENAT(openat64)

HCA_INSTEAD int __open_2(const char* path, int flags) {
  return open_as(AT_FDCWD, path, flags,
                 [](int, const char* where, int how) { return HCA_NEXT(__open_2)(where, how); });
}
HCA_INSTEAD int __open64_2(const char* path, int flags) {
  return open_as(AT_FDCWD, path, flags,
                 [](int, const char* where, int how) { return HCA_NEXT(__open64_2)(where, how); });
}
HCA_INSTEAD int __openat_2(int folder, const char* path, int flags) {
  return open_as(folder, path, flags, [](int from, const char* where, int how) {
    return HCA_NEXT(__openat_2)(from, where, how);
  });
}
HCA_INSTEAD int __openat64_2(int folder, const char* path, int flags) {
  return open_as(folder, path, flags, [](int from, const char* where, int how) {
    return HCA_NEXT(__openat64_2)(from, where, how);
  });
}

#define HCA_FOPEN(name)                                                     \
  HCA_INSTEAD FILE* name(const char* path, const char* mode) {              \
    return open_stream(path, mode, [](const char* where, const char* how) { \
      return HCA_NEXT(name)(where, how);                                    \
    });                                                                     \
  }
HCA_FOPEN(fopen)
HCA_FOPEN(fopen64)
#define HCA_FREOPEN(name)                                                    \
  HCA_INSTEAD FILE* name(const char* path, const char* mode, FILE* stream) { \
    return open_stream(path, mode, [&](const char* where, const char* how) { \
      return HCA_NEXT(name)(where, how, stream);                             \
    });                                                                      \
  }
HCA_FREOPEN(freopen)
HCA_FREOPEN(freopen64)

HCA_INSTEAD DIR* opendir(const char* path) {
  const Place place(path);
  refresh(place);
  return HCA_NEXT(opendir)(place.path());
}
HCA_INSTEAD int scandir(const char* path, dirent*** names, int (*wants)(const dirent*),
                        int (*order)(const dirent**, const dirent**)) {
  const Place place(path);
  refresh(place);
  return HCA_NEXT(scandir)(place.path(), names, wants, order);
}
HCA_INSTEAD int scandir64(const char* path, dirent64*** names, int (*wants)(const dirent64*),
                          int (*order)(const dirent64**, const dirent64**)) {
  const Place place(path);
  refresh(place);
  return HCA_NEXT(scandir64)(place.path(), names, wants, order);
}
HCA_INSTEAD int chdir(const char* path) noexcept { return HCA_NEXT(chdir)(Place(path).path()); }
HCA_INSTEAD int inotify_add_watch(int fd, const char* path, uint32_t mask) noexcept {
  return HCA_NEXT(inotify_add_watch)(fd, Place(path).path(), mask);
}

// The C library looks at folders by functions that it is given: those of this library.
namespace {
template <class Glob, class Stat>
int glob_here(const char* pattern, int flags, Glob* found, Stat status, Stat link_status,
              int (*next)(const char*, int, int (*)(const char*, int), Glob*),
              int (*failed)(const char*, int), void* (*read)(void*)) {
  const bool may_be =
      pattern && (!std::strncmp(pattern, "/sys", 4) || !std::strncmp(pattern, "/dev", 4));
  if (!may_be || flags & GLOB_ALTDIRFUNC) return next(pattern, flags, failed, found);
  found->gl_opendir = [](const char* path) -> void* { return opendir(path); };
  found->gl_closedir = [](void* folder) { closedir(static_cast<DIR*>(folder)); };
  found->gl_readdir = reinterpret_cast<decltype(found->gl_readdir)>(read);
  found->gl_stat = status;
  found->gl_lstat = link_status;
  const int result = next(pattern, flags | GLOB_ALTDIRFUNC, failed, found);
  found->gl_flags &= ~GLOB_ALTDIRFUNC;
  return result;
}
}  // namespace
HCA_INSTEAD int glob(const char* pattern, int flags, int (*failed)(const char*, int),
                     glob_t* found) noexcept {
  using Status = int (*)(const char*, struct stat*);
  return glob_here<glob_t, Status>(
      pattern, flags, found, [](const char* path, struct stat* to) { return stat(path, to); },
      [](const char* path, struct stat* to) { return lstat(path, to); },
      [](const char* p, int f, int (*e)(const char*, int), glob_t* g) {
        return HCA_NEXT(glob)(p, f, e, g);
      },
      failed, [](void* folder) -> void* { return readdir(static_cast<DIR*>(folder)); });
}
HCA_INSTEAD int glob64(const char* pattern, int flags, int (*failed)(const char*, int),
                       glob64_t* found) noexcept {
  using Status = int (*)(const char*, struct stat64*);
  return glob_here<glob64_t, Status>(
      pattern, flags, found, [](const char* path, struct stat64* to) { return stat64(path, to); },
      [](const char* path, struct stat64* to) { return lstat64(path, to); },
      [](const char* p, int f, int (*e)(const char*, int), glob64_t* g) {
        return HCA_NEXT(glob64)(p, f, e, g);
      },
      failed, [](void* folder) -> void* { return readdir64(static_cast<DIR*>(folder)); });
}
// NOLINTEND(bugprone-reserved-identifier)
