// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/mads.h"

#include "model/proto/wire/print.h"

namespace hca::proto {
namespace {

constexpr u8 kSmpClass = 0x01, kSaClass = 0x03, kPerformanceClass = 0x04, kDirectedClass = 0x81;

constexpr HeaderInfo kDirectedMad = mad_header("MAD", kDirectedMadFields);
constexpr HeaderInfo kSmp = mad_header("SMP", kSmpFields);
constexpr HeaderInfo kDirectedSmp = mad_header("SMP", kDirectedSmpFields);
constexpr HeaderInfo kDirectedPath = mad_header("SMP paths", kDirectedPathFields);
constexpr HeaderInfo kReq = mad_header("CM REQ", kReqFields);
constexpr HeaderInfo kMra = mad_header("CM MRA", kMraFields);
constexpr HeaderInfo kRej = mad_header("CM REJ", kRejFields);
constexpr HeaderInfo kRep = mad_header("CM REP", kRepFields);
constexpr HeaderInfo kRtu = mad_header("CM RTU", kTwoIdFields);
constexpr HeaderInfo kDreq = mad_header("CM DREQ", kDreqFields);
constexpr HeaderInfo kDrep = mad_header("CM DREP", kTwoIdFields);
constexpr HeaderInfo kSidrReq = mad_header("CM SIDR_REQ", kSidrReqFields);
constexpr HeaderInfo kSidrRep = mad_header("CM SIDR_REP", kSidrRepFields);
constexpr HeaderInfo kLap = mad_header("CM LAP", kLapFields);
constexpr HeaderInfo kApr = mad_header("CM APR", kAprFields);
constexpr HeaderInfo kNodeInfo = mad_header("NodeInfo", kNodeInfoFields);
constexpr HeaderInfo kPortInfo = mad_header("PortInfo", kPortInfoFields);
constexpr HeaderInfo kSwitchInfo = mad_header("SwitchInfo", kSwitchInfoFields);
constexpr HeaderInfo kSmInfo = mad_header("SMInfo", kSmInfoFields);

// Directed-route SMPs have the attributes of the other SMPs.
constexpr std::array kMadRows{
    MadRow{kCmClass, 0x0001, "ClassPortInfo", nullptr},
    MadRow{kCmClass, 0x0010, "REQ", &kReq},
    MadRow{kCmClass, 0x0011, "MRA", &kMra},
    MadRow{kCmClass, 0x0012, "REJ", &kRej},
    MadRow{kCmClass, 0x0013, "REP", &kRep},
    MadRow{kCmClass, 0x0014, "RTU", &kRtu},
    MadRow{kCmClass, 0x0015, "DREQ", &kDreq},
    MadRow{kCmClass, 0x0016, "DREP", &kDrep},
    MadRow{kCmClass, 0x0017, "SIDR_REQ", &kSidrReq},
    MadRow{kCmClass, 0x0018, "SIDR_REP", &kSidrRep},
    MadRow{kCmClass, 0x0019, "LAP", &kLap},
    MadRow{kCmClass, 0x001A, "APR", &kApr},
    MadRow{kSmpClass, 0x0002, "Notice", nullptr},
    MadRow{kSmpClass, 0x0010, "NodeDescription", nullptr},
    MadRow{kSmpClass, 0x0011, "NodeInfo", &kNodeInfo},
    MadRow{kSmpClass, 0x0012, "SwitchInfo", &kSwitchInfo},
    MadRow{kSmpClass, 0x0014, "GUIDInfo", nullptr},
    MadRow{kSmpClass, 0x0015, "PortInfo", &kPortInfo},
    MadRow{kSmpClass, 0x0016, "P_KeyTable", nullptr},
    MadRow{kSmpClass, 0x0017, "SLtoVLMappingTable", nullptr},
    MadRow{kSmpClass, 0x0018, "VLArbitrationTable", nullptr},
    MadRow{kSmpClass, 0x0019, "LinearForwardingTable", nullptr},
    MadRow{kSmpClass, 0x001A, "RandomForwardingTable", nullptr},
    MadRow{kSmpClass, 0x001B, "MulticastForwardingTable", nullptr},
    MadRow{kSmpClass, 0x0020, "SMInfo", &kSmInfo},
    MadRow{kSmpClass, 0x0030, "VendorDiag", nullptr},
    MadRow{kSmpClass, 0x0031, "LedInfo", nullptr},
    MadRow{kSaClass, 0x0001, "ClassPortInfo", nullptr},
    MadRow{kSaClass, 0x0003, "InformInfo", nullptr},
    MadRow{kSaClass, 0x0011, "NodeRecord", nullptr},
    MadRow{kSaClass, 0x0031, "ServiceRecord", nullptr},
    MadRow{kSaClass, 0x0035, "PathRecord", nullptr},
    MadRow{kSaClass, 0x0038, "MCMemberRecord", nullptr},
    MadRow{kPerformanceClass, 0x0001, "ClassPortInfo", nullptr},
    MadRow{kPerformanceClass, 0x0012, "PortCounters", nullptr},
    MadRow{kPerformanceClass, 0x001D, "PortCountersExtended", nullptr},
};

struct NameRow {
  u16 value;
  std::string_view name;
};
std::string name_in(std::span<const NameRow> rows, u64 value) {
  for (const NameRow& row : rows)
    if (row.value == value) return std::string(row.name);
  return "";
}

constexpr NameRow kClasses[]{
    {kSmpClass, "SMP"}, {kDirectedClass, "SMP, directed route"},
    {kSaClass, "SA"},   {kPerformanceClass, "performance"},
    {0x05, "board"},    {0x06, "device"},
    {kCmClass, "CM"},   {0x08, "SNMP"},
};
constexpr NameRow kMethods[]{
    {0x01, "Get"},          {0x02, "Set"},          {0x03, "Send"},       {0x05, "Trap"},
    {0x06, "Report"},       {0x07, "TrapRepress"},  {0x12, "GetTable"},   {0x13, "GetTraceTable"},
    {0x14, "GetMulti"},     {0x15, "Delete"},       {0x81, "GetResp"},    {0x86, "ReportResp"},
    {0x92, "GetTableResp"}, {0x94, "GetMultiResp"}, {0x95, "DeleteResp"},
};
constexpr NameRow kRejectReasons[]{
    {1, "no QP available"},
    {2, "no EEC available"},
    {u16(RejectReason::NoResources), "no resources available"},
    {u16(RejectReason::Timeout), "timeout"},
    {5, "unsupported request"},
    {6, "invalid communication ID"},
    {7, "invalid communication instance"},
    {u16(RejectReason::InvalidServiceId), "invalid service ID"},
    {9, "invalid transport service type"},
    {10, "stale connection"},
    {11, "RDC does not exist"},
    {12, "primary remote port GID rejected"},
    {13, "primary remote port LID rejected"},
    {14, "invalid primary SL"},
    {15, "invalid primary traffic class"},
    {16, "invalid primary hop limit"},
    {17, "invalid primary packet rate"},
    {18, "alternate remote port GID rejected"},
    {19, "alternate remote port LID rejected"},
    {20, "invalid alternate SL"},
    {21, "invalid alternate traffic class"},
    {22, "invalid alternate hop limit"},
    {23, "invalid alternate packet rate"},
    {24, "port and CM redirection"},
    {25, "port redirection"},
    {26, "invalid path MTU"},
    {27, "insufficient responder resources"},
    {u16(RejectReason::ConsumerReject), "consumer reject"},
    {29, "RNR retry count reject"},
    {30, "duplicate local communication ID"},
    {31, "invalid class version"},
    {32, "invalid primary flow label"},
    {33, "invalid alternate flow label"},
};
constexpr NameRow kSidrStatuses[]{
    {u16(SidrStatus::Valid), "valid QPN"},
    {u16(SidrStatus::ServiceIdNotSupported), "service ID not supported"},
    {u16(SidrStatus::RejectedByService), "rejected by service"},
    {u16(SidrStatus::NoQp), "no QP available"},
    {4, "redirected"},
    {5, "unsupported version"},
};
constexpr NameRow kAnswered[]{{0, "REQ"}, {1, "REP"}, {2, "LAP or no message"}};
constexpr NameRow kServiceTypes[]{{u16(TransportService::Rc), "RC"},
                                  {u16(TransportService::Uc), "UC"},
                                  {2, "RD"},
                                  {3, "extended"}};
constexpr NameRow kMtus[]{{1, "256"}, {2, "512"}, {3, "1024"}, {4, "2048"}, {5, "4096"}};
constexpr NameRow kPortStates[]{{1, "Down"}, {2, "Initialize"}, {3, "Armed"}, {4, "Active"}};
constexpr NameRow kNodeTypes[]{{1, "CA"}, {2, "switch"}, {3, "router"}};

// Annex A11: 5 bytes of prefix, the IP protocol, the port.
constexpr u64 kIpServicePrefix = 0x0000000001;
bool is_ip_service(u64 service_id) { return service_id >> 24 == kIpServicePrefix; }

struct FieldMeaning {
  std::string_view header, field;
  std::span<const NameRow> names;
};
constexpr FieldMeaning kFieldMeanings[]{
    {"MAD", "MgmtClass", kClasses},
    {"MAD", "Method", kMethods},
    {"CM REJ", "Reason", kRejectReasons},
    {"CM REJ", "MessageRejected", kAnswered},
    {"CM MRA", "MessageMRAed", kAnswered},
    {"CM SIDR_REP", "Status", kSidrStatuses},
    {"CM REQ", "TransportServiceType", kServiceTypes},
    {"CM REQ", "PathPacketPayloadMtu", kMtus},
    {"PortInfo", "NeighborMTU", kMtus},
    {"PortInfo", "MTUCap", kMtus},
    {"PortInfo", "PortState", kPortStates},
    {"NodeInfo", "NodeType", kNodeTypes},
};

}  // namespace

const MadRow* mad_row(u8 management_class, u64 attribute) {
  const u8 attributes_of = management_class == kDirectedClass ? kSmpClass : management_class;
  for (const MadRow& row : kMadRows)
    if (row.management_class == attributes_of && row.attribute == attribute) return &row;
  return nullptr;
}

const FieldInfo* find_field(const HeaderInfo& header, std::string_view name) {
  for (const FieldInfo& field : header)
    if (field.name == name) return &field;
  return nullptr;
}

namespace {
std::string name_of_mad(const u8* mad) {
  const u8 mad_class = mad[1], method = mad[3];
  const u64 attribute = load_be<2>(mad + 16);
  const MadRow* const row = mad_row(mad_class, attribute);
  const std::string attribute_name = row ? std::string(row->name) : hex_text(attribute, 4);
  if (mad_class == kCmClass) return "CM " + attribute_name;
  std::string class_name = name_in(kClasses, mad_class);
  if (class_name.empty()) class_name = "MAD of class " + hex_text(mad_class, 2);
  std::string method_name = name_in(kMethods, method);
  if (method_name.empty()) method_name = "method " + hex_text(method, 2);
  return class_name + " " + method_name + " " + attribute_name;
}

}  // namespace

std::string add_mad(std::span<const u8> frame, Dissection& d) {
  const bool is_mad = d.structure == PacketVerdict::Good && d.packet.bth.dest_qp <= 1 &&
                      d.packet.opcode->service == Service::Ud &&
                      d.packet.payload_bytes >= kMadHeaderBytes;
  if (!is_mad) return "";
  const u32 begin = d.packet.payload_offset;
  const std::size_t end = std::min<std::size_t>(frame.size(), begin + d.packet.payload_bytes);
  const auto add = [&](const HeaderInfo& header, u32 at) {
    return begin + at + header.bytes <= end && d.add(header, begin + at);
  };
  if (begin + kMadHeaderBytes > end) return "";
  const u8* const mad = frame.data() + begin;
  const u8 mad_class = mad[1];
  const bool directed = mad_class == kDirectedClass;
  add(directed ? kDirectedMad : kMad, 0);
  const MadRow* const row = mad_row(mad_class, load_be<2>(mad + 16));
  if (directed || mad_class == kSmpClass) {
    add(directed ? kDirectedSmp : kSmp, kMadHeaderBytes);
    if (row && row->header) add(*row->header, kSmpDataAt);
    if (directed) add(kDirectedPath, kSmpDataAt + kSmpDataBytes);
  } else if (row && row->header) {
    const bool whole = add(*row->header, kMadHeaderBytes);
    const FieldInfo* const service = find_field(*row->header, "ServiceID");
    const bool begins = row->header == &kReq || row->header == &kSidrReq;
    if (whole && begins && is_ip_service(load_be<8>(mad + kMadHeaderBytes + service->bit_at / 8)))
      add(kIpCm, kMadHeaderBytes + find_field(*row->header, "PrivateData")->bit_at / 8);
  }
  return name_of_mad(mad);
}

std::string mad_meaning_of(const HeaderInfo& info, const FieldInfo& field, const u8* header) {
  if (field.bits > 64) return "";
  const u64 value = get_bits(header, field.bit_at, field.bits);
  if (info.name == "MAD" && field.name == "AttributeID") {
    const MadRow* const row = mad_row(header[1], value);
    return row ? std::string(row->name) : "";
  }
  if (field.name == "ServiceID" && is_ip_service(value))
    return "IP protocol " + std::to_string(value >> 16 & 0xFF) + ", port " +
           std::to_string(value & 0xFFFF);
  for (const FieldMeaning& row : kFieldMeanings)
    if (row.header == info.name && row.field == field.name) return name_in(row.names, value);
  return "";
}

}  // namespace hca::proto
