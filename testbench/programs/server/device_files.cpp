// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/device_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>

#include "model/blocks/chip.h"
#include "model/blocks/lib/per_port.h"
#include "model/device/contexts.h"
#include "model/proto/wire/framing.h"
#include "testbench/programs/server/file_places.h"

namespace hca::attach {
namespace fs = std::filesystem;
namespace {
// The subject of a row. `entry`: of a table of the port.
struct Subject {
  const Device& device;
  std::size_t index;
  unsigned port = 0, entry = 0;

  const DeviceInfo& info() const { return device.info(); }
  const proto::PortAttributes& attributes() const {
    return device.node().hca.contexts().ports[port];
  }
  bool is_native() const { return proto::is_native(device.framing()); }
  const proto::Gid& gid() const { return attributes().gids[entry]; }
  bool has_gid() const {
    return std::ranges::any_of(gid().bytes, [](u8 byte) { return byte != 0; });
  }
};
enum class Each : u8 { Device, Port, Gid, Pkey };

std::string guid_text(u64 guid) {
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48, guid >> 32 & 0xffff,
                     guid >> 16 & 0xffff, guid & 0xffff);
}
std::string gid_text(const Subject& s) {
  std::string text;
  for (std::size_t i = 0; i < s.gid().bytes.size(); i += 2)
    text += fmt::format("{}{:02x}{:02x}", i ? ":" : "", s.gid().bytes[i], s.gid().bytes[i + 1]);
  return text;
}
std::string gid_type(const Subject& s) {
  const bool v2 = !s.is_native() && s.device.framing() != proto::Framing::RoceV1;
  return s.has_gid() ? v2 ? "RoCE v2" : "IB/RoCE v1" : "";
}

// The rates of InfiniBand: a lane's speed as ibv_port_attr has it, Gb/s of it, what it is called.
struct SpeedRow {
  u32 speed;
  double gbps;
  const char* name;
};
constexpr std::array kSpeeds{SpeedRow{4, 10, "QDR"},  SpeedRow{8, 10, "FDR10"},
                             SpeedRow{16, 14, "FDR"}, SpeedRow{32, 25, "EDR"},
                             SpeedRow{64, 50, "HDR"}, SpeedRow{128, 100, "NDR"}};
std::string rate_text(const Subject& s) {
  const DeviceInfo::Rate& rate = s.info().active[s.port];
  const unsigned lanes = rate.width == 1 ? 1 : 2 * rate.width;  // 2: 4 lanes, 4: 8
  const auto row = std::ranges::find(kSpeeds, rate.speed, &SpeedRow::speed);
  if (row == kSpeeds.end()) return "0 Gb/sec";
  return fmt::format("{} Gb/sec ({}X {})", row->gbps * lanes, lanes, row->name);
}

std::string cpus_text(bool as_list) {
  std::ifstream file(as_list ? "/sys/devices/system/cpu/online"
                             : "/sys/devices/system/cpu/cpu0/topology/package_cpus");
  std::string text;
  std::getline(file, text);
  return text;
}
std::string uevent_text(const Subject& s) {
  return fmt::format("DRIVER=hca\nPCI_CLASS={}\nPCI_ID={:04X}:{:04X}\nPCI_SLOT_NAME={}",
                     s.is_native() ? "20700" : "20000", s.info().vendor_id & 0xffff,
                     s.info().vendor_part_id & 0xffff, pci_address(s.index));
}
// GT/s of a lane, by generation.
std::string pcie_speed(const Subject& s) {
  constexpr std::array kSpeedOf{"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
  return fmt::format("{} GT/s PCIe", kSpeedOf[s.info().pcie_generation - 1]);
}

// ---- The table: a path, its number of instances, its contents. {pci}, {hca}, {n} are replaced by
// those of the HCA, {port} and {entry} by their numbers.
struct TextRow {
  Each each;
  std::string_view path;
  std::string (*text)(const Subject&);  // "": the file is not there
};
// clang-format off
constexpr std::array kTexts{
    TextRow{Each::Device, "{pci}/vendor", [](const Subject& s) { return fmt::format("{:#06x}", s.info().vendor_id & 0xffff); }},
    TextRow{Each::Device, "{pci}/device", [](const Subject& s) { return fmt::format("{:#06x}", s.info().vendor_part_id & 0xffff); }},
    TextRow{Each::Device, "{pci}/subsystem_vendor", [](const Subject& s) { return fmt::format("{:#06x}", s.info().vendor_id & 0xffff); }},
    TextRow{Each::Device, "{pci}/subsystem_device", [](const Subject&) -> std::string { return "0x0000"; }},
    TextRow{Each::Device, "{pci}/class", [](const Subject& s) -> std::string { return s.is_native() ? "0x020700" : "0x020000"; }},
    TextRow{Each::Device, "{pci}/revision", [](const Subject& s) { return fmt::format("{:#04x}", s.info().hw_ver & 0xff); }},
    TextRow{Each::Device, "{pci}/numa_node", [](const Subject&) -> std::string { return "-1"; }},
    TextRow{Each::Device, "{pci}/local_cpus", [](const Subject&) { return cpus_text(false); }},
    TextRow{Each::Device, "{pci}/local_cpulist", [](const Subject&) { return cpus_text(true); }},
    TextRow{Each::Device, "{pci}/current_link_speed", pcie_speed},
    TextRow{Each::Device, "{pci}/max_link_speed", pcie_speed},
    TextRow{Each::Device, "{pci}/current_link_width", [](const Subject& s) { return std::to_string(s.info().pcie_lanes); }},
    TextRow{Each::Device, "{pci}/max_link_width", [](const Subject& s) { return std::to_string(s.info().pcie_lanes); }},
    TextRow{Each::Device, "{pci}/uevent", uevent_text},
    TextRow{Each::Device, "{pci}/infiniband_verbs/uverbs{n}/abi_version", [](const Subject&) -> std::string { return "1"; }},
    TextRow{Each::Device, "{pci}/infiniband_verbs/uverbs{n}/ibdev", [](const Subject& s) { return s.device.name(); }},
    TextRow{Each::Device, "{pci}/infiniband_verbs/uverbs{n}/dev", [](const Subject& s) { return fmt::format("{}:{}", kVerbsMajor, kVerbsMinor + s.index); }},
    TextRow{Each::Device, "{pci}/infiniband_verbs/uverbs{n}/uevent", [](const Subject& s) { return fmt::format("MAJOR={}\nMINOR={}\nDEVNAME=infiniband/uverbs{}", kVerbsMajor, kVerbsMinor + s.index, s.index); }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/node_type", [](const Subject&) -> std::string { return "1: CA"; }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/node_guid", [](const Subject& s) { return guid_text(s.info().node_guid); }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/sys_image_guid", [](const Subject& s) { return guid_text(s.info().node_guid); }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/node_desc", [](const Subject& s) { return s.device.name(); }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/fw_ver", [](const Subject& s) -> std::string { return s.info().fw_ver.data(); }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/hw_rev", [](const Subject& s) { return fmt::format("{:x}", s.info().hw_ver); }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/hca_type", [](const Subject& s) { return fmt::format("MT{}", s.info().vendor_part_id); }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/board_id", [](const Subject&) -> std::string { return "HCA_MODEL"; }},
    TextRow{Each::Device, "{pci}/infiniband/{hca}/uevent", [](const Subject& s) { return "NAME=" + s.device.name(); }},
    TextRow{Each::Port, "lid", [](const Subject& s) { return fmt::format("{:#x}", s.is_native() ? s.attributes().lid : 0); }},
    TextRow{Each::Port, "lid_mask_count", [](const Subject&) -> std::string { return "0"; }},
    TextRow{Each::Port, "sm_lid", [](const Subject& s) -> std::string { return s.is_native() ? "0x1" : "0x0"; }},
    TextRow{Each::Port, "sm_sl", [](const Subject&) -> std::string { return "0"; }},
    TextRow{Each::Port, "cap_mask", [](const Subject&) -> std::string { return "0x00010000"; }},  // IBV_PORT_CM_SUP
    TextRow{Each::Port, "link_layer", [](const Subject& s) -> std::string { return s.is_native() ? "InfiniBand" : "Ethernet"; }},
    TextRow{Each::Port, "state", [](const Subject& s) -> std::string { return proto::is_down(s.attributes()) ? "1: DOWN" : "4: ACTIVE"; }},
    TextRow{Each::Port, "phys_state", [](const Subject& s) -> std::string { return proto::is_down(s.attributes()) ? "2: Polling" : "5: LinkUp"; }},
    TextRow{Each::Port, "rate", rate_text},
    TextRow{Each::Gid, "gids/{entry}", gid_text},
    TextRow{Each::Gid, "gid_attrs/types/{entry}", gid_type},
    TextRow{Each::Pkey, "pkeys/{entry}", [](const Subject& s) { return fmt::format("{:#06x}", s.attributes().pkeys[s.entry]); }},
};
// In `counters` of a port, as Linux names them: a counter of the block `port`, and by what it is divided.
struct CounterRow {
  std::string_view name, counter;
  u64 divisor = 1;
};
constexpr std::array kCounters{
    CounterRow{"port_xmit_data", "tx_bytes", 4}, CounterRow{"port_xmit_packets", "tx_packets"},
    CounterRow{"port_rcv_data", "rx_bytes", 4},  CounterRow{"port_rcv_packets", "rx_packets"},
    CounterRow{"port_xmit_wait", "waits_link"},  CounterRow{"port_rcv_errors", "rx_bad_frame"},
    CounterRow{"link_downed", ""},               CounterRow{"link_error_recovery", ""},
    CounterRow{"symbol_error", ""},              CounterRow{"port_xmit_discards", ""},
    CounterRow{"VL15_dropped", ""},              CounterRow{"excessive_buffer_overrun_errors", ""},
    CounterRow{"port_rcv_constraint_errors", ""}, CounterRow{"port_xmit_constraint_errors", ""},
    CounterRow{"port_rcv_remote_physical_errors", ""}, CounterRow{"port_rcv_switch_relay_errors", ""},
    CounterRow{"local_link_integrity_errors", ""},
};
struct LinkRow {
  std::string_view path, to;
};
constexpr std::array kLinks{
    LinkRow{"/sys/class/infiniband/{hca}", "../../devices/pci8000:00/{pci}/infiniband/{hca}"},
    LinkRow{"/sys/class/infiniband_verbs/uverbs{n}", "../../devices/pci8000:00/{pci}/infiniband_verbs/uverbs{n}"},
    LinkRow{"/sys/bus/pci/devices/{pci}", "../../../devices/pci8000:00/{pci}"},
    LinkRow{"/sys/dev/char/231:{minor}", "../../devices/pci8000:00/{pci}/infiniband_verbs/uverbs{n}"},
    LinkRow{"/sys/devices/pci8000:00/{pci}/subsystem", "../../../bus/pci"},
    LinkRow{"/sys/devices/pci8000:00/{pci}/infiniband/{hca}/device", "../../../{pci}"},
    LinkRow{"/sys/devices/pci8000:00/{pci}/infiniband/{hca}/subsystem", "../../../../../class/infiniband"},
    LinkRow{"/sys/devices/pci8000:00/{pci}/infiniband_verbs/uverbs{n}/device", "../../../{pci}"},
    LinkRow{"/sys/devices/pci8000:00/{pci}/infiniband_verbs/uverbs{n}/subsystem", "../../../../../class/infiniband_verbs"},
    // A character device that anybody may open, and that knows no command; its numbers are told by the library.
    LinkRow{"/dev/infiniband/uverbs{n}", "/dev/null"},
};
struct SystemRow {
  std::string_view path, text;
};
constexpr std::array kSystem{SystemRow{"/sys/class/infiniband_verbs/abi_version", "6"},
                             SystemRow{"/sys/class/infiniband_mad/abi_version", "5"}};
// clang-format on

std::string filled_in(std::string_view pattern, const Subject& s) {
  return fmt::format(fmt::runtime(pattern), fmt::arg("pci", pci_address(s.index)),
                     fmt::arg("hca", s.device.name()), fmt::arg("n", s.index),
                     fmt::arg("minor", kVerbsMinor + s.index), fmt::arg("entry", s.entry));
}
std::string folder_of(const Subject& s, Each each) {
  std::string folder(kPciRoot);
  if (each == Each::Device) return folder + "/";
  return fmt::format("{}/{}/infiniband/{}/ports/{}/", folder, pci_address(s.index), s.device.name(),
                     s.port + 1);
}

using Texts = std::map<std::string, std::string>;  // by path

// Counters have the names of fields in a structure of the device: BadIcrc is bad_icrc.
std::string lower_snake(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::isupper(u8(c)) && !text.empty()) text += '_';
    text += char(std::tolower(u8(c)));
  }
  return text;
}
template <class Structure>
void add_fields(Texts& texts, const std::string& folder, const Structure& structure) {
  hca::with_rows(
      [&](const auto&... row) {
        ((texts[folder + lower_snake(row.name)] = std::to_string(structure.*row.at)), ...);
      },
      proto::Layout<Structure>::fields);
}
void add_counters(Texts& texts, const Subject& s) {
  std::map<std::string_view, u64> values;
  const Hca& hca = s.device.node().hca;
  const std::string wanted = blocks::port_block_name(hca.ports(), s.port, "port");
  hca.chip().for_each_counters([&](std::string_view block, const auto& counters) {
    if (block != wanted) return;
    engine::for_each_counter(counters,
                             [&](const auto& row, u64 value) { values[row.name] += value; });
  });
  const std::string folder = folder_of(s, Each::Port);
  for (const CounterRow& row : kCounters)
    texts[fmt::format("{}counters/{}", folder, row.name)] =
        std::to_string(row.counter.empty() ? 0 : values[row.counter] / row.divisor);
  const device::Contexts& contexts = s.device.node().hca.contexts();
  add_fields(texts, folder + "hw_counters/", contexts.drops[s.port]);
  add_fields(texts, folder + "hw_counters/transport_", contexts.transport[s.port]);
}

// All files of an HCA, or those that change.
Texts texts_of(const Device& device, std::size_t index, bool all) {
  Texts texts;
  const auto add = [&](const TextRow& row, const Subject& subject) {
    const std::string path = folder_of(subject, row.each) + filled_in(row.path, subject);
    if (!all && !changes(path)) return;
    if (std::string text = row.text(subject); !text.empty()) texts[path] = std::move(text);
  };
  for (const TextRow& row : kTexts)
    if (row.each == Each::Device) add(row, {device, index});
  for (unsigned port = 0; port < device.info().ports; ++port) {
    for (const TextRow& row : kTexts) {
      if (row.each == Each::Device) continue;
      const unsigned entries = row.each == Each::Gid    ? proto::kGidEntries
                               : row.each == Each::Pkey ? proto::kPkeyEntries
                                                        : 1;
      for (unsigned entry = 0; entry < entries; ++entry) add(row, {device, index, port, entry});
    }
    add_counters(texts, {device, index, port});
  }
  return texts;
}

constexpr std::string_view kMark = "of_hca_serve";
// Folders that everybody may read: the socket has its own access rights.
class OpenToAll {
 public:
  OpenToAll() = default;
  OpenToAll(const OpenToAll&) = delete;
  ~OpenToAll() { umask(before_); }

 private:
  const mode_t before_ = umask(022);
};
fs::path below(const fs::path& view, std::string_view path) { return view / path.substr(1); }
}  // namespace

DeviceFiles::DeviceFiles(fs::path folder, const std::vector<std::unique_ptr<Device>>& devices)
    : folder_(std::move(folder)), devices_(devices) {
  const OpenToAll folders;
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("--socket: '{}': {}", folder_.string(), why));
  };
  std::error_code error;
  const bool is_there = fs::exists(fs::symlink_status(folder_));
  if (is_there && !fs::exists(folder_ / kMark) && !fs::is_empty(folder_, error))
    refuse("is there, and not of an `hca serve`: the files of the HCAs have no place");
  try {
    remove();  // of a server that was killed
    fs::create_directory(folder_);
    std::ofstream(folder_ / kMark) << "files that programs find in /sys and /dev\n";
    for (std::size_t i = 0; i < devices_.size(); ++i)
      for (const fs::path& view : {folder_ / kAllDevices, folder_ / devices_[i]->name()})
        show(*devices_[i], i, view);
  } catch (const fs::filesystem_error& failed) {
    refuse(failed.code().message());
  }
}
DeviceFiles::~DeviceFiles() { remove(); }

// The mark is removed last: if the server is killed in between, the rest is still recognised as a
// server's.
void DeviceFiles::remove() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error))
    if (entry.path().filename() != kMark) fs::remove_all(entry.path(), error);
  fs::remove_all(folder_, error);
}

void DeviceFiles::show(const Device& device, std::size_t index, const fs::path& view) {
  for (const SystemRow& row : kSystem) write(below(view, row.path), std::string(row.text));
  for (const auto& [path, text] : texts_of(device, index, true)) write(below(view, path), text);
  for (const LinkRow& row : kLinks) {
    const fs::path link = below(view, filled_in(row.path, {device, index}));
    fs::create_directories(link.parent_path());
    fs::create_symlink(filled_in(row.to, {device, index}), link);
  }
}

// Whoever reads it meanwhile reads the old one or the new one.
void DeviceFiles::write(const fs::path& file, const std::string& text) {
  std::string& written = texts_[file];
  if (written == text) return;
  fs::create_directories(file.parent_path());
  const fs::path fresh = folder_ / "new";
  std::ofstream(fresh) << text << '\n';
  fs::permissions(fresh, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::rename(fresh, file);
  written = text;
}

void DeviceFiles::refresh() {
  for (std::size_t i = 0; i < devices_.size(); ++i)
    for (const auto& [path, text] : texts_of(*devices_[i], i, false))
      for (const fs::path& view : {folder_ / kAllDevices, folder_ / devices_[i]->name()})
        write(below(view, path), text);
}
}  // namespace hca::attach
