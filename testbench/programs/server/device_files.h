// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testbench/programs/server/device.h"

namespace hca::attach {
// What an operating system shows of HCAs in /sys and /dev, as files in a folder of the server's
// own: a folder for all HCAs, and one for each alone. The table of the paths, with what each
// answers, is in device_files.cpp.
class DeviceFiles {
 public:
  // Throws std::runtime_error: the folder cannot be made, or is somebody else's.
  DeviceFiles(std::filesystem::path folder, const std::vector<std::unique_ptr<Device>>& devices);
  ~DeviceFiles();
  DeviceFiles(const DeviceFiles&) = delete;
  // Writes anew what has changed.
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
