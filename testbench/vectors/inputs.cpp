// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "testbench/packets/packed_file.h"
#include "testbench/text/json_at.h"
#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace fs = std::filesystem;

namespace {
bool is_capture(const fs::path& file) {
  const fs::path name = is_packed_extension(file.extension().string()) ? file.stem() : file;
  return name.extension() == ".pcap" || name.extension() == ".pcapng" || name.extension() == ".cap";
}
// The JSON text of a capture, which is read with it.
bool belongs_to_capture(const fs::path& file) {
  return file.extension() == ".json" && (fs::exists(fs::path(file).replace_extension(".pcap")) ||
                                         fs::exists(fs::path(file).replace_extension(".pcapng")));
}
// A broken JSON text is a vector that does not load: it must not be passed over.
bool is_vector_file(const fs::path& file) {
  if (file.extension() != ".json") return false;
  const auto text = read_text_file(file.string());
  const auto is_shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    return depth <= kDeepestJson;
  };
  const nlohmann::json json = nlohmann::json::parse(text.value_or(""), is_shallow, false);
  return json.is_discarded() || is_vector(json);
}

void take_vector(ReplayInputs& in, const std::string& file) try {
  in.vectors.push_back(load_vector(file));
} catch (const std::exception& error) {
  in.unreadable.push_back({file, error.what()});
}
}  // namespace

ReplayInputs find_inputs(std::span<const std::string> paths) {
  ReplayInputs in;
  for (const std::string& path : paths) {
    std::vector<std::string> files{path};
    const bool is_folder = fs::is_directory(path);
    if (is_folder) {
      files.clear();
      for (const auto& entry : fs::recursive_directory_iterator(path))
        if (entry.is_regular_file()) files.push_back(entry.path().string());
      std::sort(files.begin(), files.end());
    }
    for (const std::string& file : files)
      if (is_capture(file))
        in.captures.push_back(file);
      else if (is_folder && belongs_to_capture(file))
        continue;
      else if (is_vector_file(file))
        take_vector(in, file);
      else if (is_folder)
        ++in.passed_over;
      else
        throw std::runtime_error(path +
                                 ": neither a capture nor a vector; allowed: .pcap, .pcapng, .cap, "
                                 "each also packed as .gz, .zst or .xz, "
                                 ".json with \"vector\": \"" +
                                 std::string(kVectorSchema) + "\"");
  }
  return in;
}

void check_statements(ReplayInputs& in, std::span<const Statement> statements) {
  std::map<std::string_view, const Statement*> active;
  for (const Statement& s : statements)
    if (s.is_active()) active[s.id] = &s;
  std::erase_if(in.vectors, [&](const Vector& v) {
    const auto wrong = std::find_if(v.statements.begin(), v.statements.end(),
                                    [&](const std::string& id) { return !active.contains(id); });
    if (wrong == v.statements.end()) return false;
    in.unreadable.push_back(
        {v.path, fmt::format("{}: for: '{}' is no active statement; allowed: those of "
                             "requirements.csv",
                             v.path, *wrong)});
    return true;
  });
  for (Vector& v : in.vectors)
    for (const std::string& id : v.statements)
      for (const std::string& number : active.at(id)->ibta_numbers)
        if (!std::count(v.ibta.begin(), v.ibta.end(), number)) v.ibta.push_back(number);
}

std::optional<std::string> find_beside(std::span<const std::string> paths,
                                       const std::string& name) {
  for (const std::string& path : paths)
    if (const fs::path file = fs::path(path) / name; fs::exists(file)) return file.string();
  for (const std::string& path : paths)
    for (fs::path at = fs::weakly_canonical(path); at.has_relative_path();) {
      at = at.parent_path();
      if (const fs::path file = at / name; fs::exists(file)) return file.string();
    }
  return std::nullopt;
}
}  // namespace hca::testbench
