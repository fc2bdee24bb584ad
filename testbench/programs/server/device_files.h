// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testbench/programs/server/device.h"

namespace hca::attach {
// The files in /sys and /dev by which an operating system shows HCAs, in the server's own folder:
// one for all HCAs, and one for each. The table of paths and contents is in device_files.cpp.
class DeviceFiles {
 public:
  // Throws std::runtime_error: the folder cannot be created, or belongs to somebody else.
  DeviceFiles(std::filesystem::path folder, const std::vector<std::unique_ptr<Device>>& devices);
  ~DeviceFiles();
  DeviceFiles(const DeviceFiles&) = delete;
  // Rewrites changed files.
  void refresh();

 private:
  void remove();
  void show(const Device& device, std::size_t index, const std::filesystem::path& view);
  void write(const std::filesystem::path& file, const std::string& text);

  const std::filesystem::path folder_;
  const std::vector<std::unique_ptr<Device>>& devices_;
  std::map<std::filesystem::path, std::string> texts_;
};
}  // namespace hca::attach
