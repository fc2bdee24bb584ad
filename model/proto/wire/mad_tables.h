// SPDX-License-Identifier: Apache-2.0
// Management datagrams, field by field: widths in the specification's order (13.4.2, 12.6, 14.2).
// They are shown, and built field by field (testbench/cm/mad.h), but never judged: no struct holds
// their values.
#pragma once
#include "model/proto/wire/layout.h"

namespace hca::proto {

struct MadField {
  std::string_view name;
  unsigned bits;
  Show show = Show::Hex;
};
inline constexpr std::string_view kReservedName = "Reserved";

template <std::size_t N>
constexpr std::array<FieldInfo, N> mad_fields(const MadField (&rows)[N]) {
  std::array<FieldInfo, N> fields{};
  unsigned at = 0;
  for (std::size_t i = 0; i < N; ++i) {
    fields[i] = {
        rows[i].name, at, rows[i].bits, rows[i].show, Icrc::Covered, rows[i].name == kReservedName,
        {},           {}};
    at += rows[i].bits;
  }
  return fields;
}
template <std::size_t N>
constexpr HeaderInfo mad_header(std::string_view name, const std::array<FieldInfo, N>& fields) {
  const FieldInfo& last = fields[N - 1];
  return {name, (last.bit_at + last.bits) / 8, fields.data(), N, nullptr};
}

inline constexpr unsigned kMadBytes = 256, kMadHeaderBytes = 24, kSmpDataAt = 64,
                          kSmpDataBytes = 64;
inline constexpr unsigned kCmBytes = kMadBytes - kMadHeaderBytes;

// clang-format off
inline constexpr auto kMadFields = mad_fields({
    {"BaseVersion", 8, Show::Dec}, {"MgmtClass", 8}, {"ClassVersion", 8, Show::Dec}, {"Method", 8},
    {"Status", 16}, {"ClassSpecific", 16}, {"TransactionID", 64}, {"AttributeID", 16},
    {kReservedName, 16}, {"AttributeModifier", 32}});
// The fields of a directed-route MAD header.
inline constexpr auto kDirectedMadFields = mad_fields({
    {"BaseVersion", 8, Show::Dec}, {"MgmtClass", 8}, {"ClassVersion", 8, Show::Dec}, {"Method", 8},
    {"D", 1, Show::Dec}, {"Status", 15}, {"HopPointer", 8, Show::Dec}, {"HopCount", 8, Show::Dec},
    {"TransactionID", 64}, {"AttributeID", 16}, {kReservedName, 16}, {"AttributeModifier", 32}});
inline constexpr auto kSmpFields = mad_fields({{"M_Key", 64}, {kReservedName, 256}});
inline constexpr auto kDirectedSmpFields = mad_fields({
    {"M_Key", 64}, {"DrSLID", 16}, {"DrDLID", 16}, {kReservedName, 224}});
inline constexpr auto kDirectedPathFields = mad_fields({{"InitialPath", 512}, {"ReturnPath", 512}});

// ---- communication management ----
inline constexpr auto kReqFields = mad_fields({
    {"LocalCommunicationID", 32}, {kReservedName, 32}, {"ServiceID", 64}, {"LocalCaGuid", 64},
    {kReservedName, 32}, {"LocalQ_Key", 32}, {"LocalQPN", 24, Show::Both},
    {"ResponderResources", 8, Show::Dec}, {"LocalEECN", 24}, {"InitiatorDepth", 8, Show::Dec},
    {"RemoteEECN", 24}, {"RemoteCmResponseTimeout", 5, Show::Dec}, {"TransportServiceType", 2, Show::Dec},
    {"EndToEndFlowControl", 1, Show::Dec}, {"StartingPSN", 24, Show::Both},
    {"LocalCmResponseTimeout", 5, Show::Dec}, {"RetryCount", 3, Show::Dec}, {"P_Key", 16},
    {"PathPacketPayloadMtu", 4, Show::Dec}, {"RdcExists", 1, Show::Dec}, {"RnrRetryCount", 3, Show::Dec},
    {"MaxCmRetries", 4, Show::Dec}, {"SRQ", 1, Show::Dec}, {"ExtendedTransportType", 3, Show::Dec},
    {"PrimaryLocalPortLID", 16, Show::Dec}, {"PrimaryRemotePortLID", 16, Show::Dec},
    {"PrimaryLocalPortGID", 128, Show::Gid}, {"PrimaryRemotePortGID", 128, Show::Gid},
    {"PrimaryFlowLabel", 20}, {kReservedName, 6}, {"PrimaryPacketRate", 6, Show::Dec},
    {"PrimaryTrafficClass", 8}, {"PrimaryHopLimit", 8, Show::Dec}, {"PrimarySL", 4, Show::Dec},
    {"PrimarySubnetLocal", 1, Show::Dec}, {kReservedName, 3}, {"PrimaryLocalAckTimeout", 5, Show::Dec},
    {kReservedName, 3}, {"AlternateLocalPortLID", 16, Show::Dec}, {"AlternateRemotePortLID", 16, Show::Dec},
    {"AlternateLocalPortGID", 128, Show::Gid}, {"AlternateRemotePortGID", 128, Show::Gid},
    {"AlternateFlowLabel", 20}, {kReservedName, 6}, {"AlternatePacketRate", 6, Show::Dec},
    {"AlternateTrafficClass", 8}, {"AlternateHopLimit", 8, Show::Dec}, {"AlternateSL", 4, Show::Dec},
    {"AlternateSubnetLocal", 1, Show::Dec}, {kReservedName, 3}, {"AlternateLocalAckTimeout", 5, Show::Dec},
    {kReservedName, 3}, {"PrivateData", 736}});
inline constexpr auto kMraFields = mad_fields({
    {"LocalCommunicationID", 32}, {"RemoteCommunicationID", 32}, {"MessageMRAed", 2, Show::Dec},
    {kReservedName, 6}, {"ServiceTimeout", 5, Show::Dec}, {kReservedName, 3}, {"PrivateData", 1776}});
inline constexpr auto kRejFields = mad_fields({
    {"LocalCommunicationID", 32}, {"RemoteCommunicationID", 32}, {"MessageRejected", 2, Show::Dec},
    {kReservedName, 6}, {"RejectInfoLength", 7, Show::Dec}, {kReservedName, 1}, {"Reason", 16, Show::Dec},
    {"AdditionalRejectInformation", 576}, {"PrivateData", 1184}});
inline constexpr auto kRepFields = mad_fields({
    {"LocalCommunicationID", 32}, {"RemoteCommunicationID", 32}, {"LocalQ_Key", 32},
    {"LocalQPN", 24, Show::Both}, {kReservedName, 8}, {"LocalEECN", 24}, {kReservedName, 8},
    {"StartingPSN", 24, Show::Both}, {kReservedName, 8}, {"ResponderResources", 8, Show::Dec},
    {"InitiatorDepth", 8, Show::Dec}, {"TargetAckDelay", 5, Show::Dec}, {"FailoverAccepted", 2, Show::Dec},
    {"EndToEndFlowControl", 1, Show::Dec}, {"RnrRetryCount", 3, Show::Dec}, {"SRQ", 1, Show::Dec},
    {kReservedName, 4}, {"LocalCaGuid", 64}, {"PrivateData", 1568}});
// RTU and DREP.
inline constexpr auto kTwoIdFields = mad_fields({
    {"LocalCommunicationID", 32}, {"RemoteCommunicationID", 32}, {"PrivateData", 1792}});
inline constexpr auto kDreqFields = mad_fields({
    {"LocalCommunicationID", 32}, {"RemoteCommunicationID", 32}, {"RemoteQPN/EECN", 24, Show::Both},
    {kReservedName, 8}, {"PrivateData", 1760}});
inline constexpr auto kSidrReqFields = mad_fields({
    {"RequestID", 32}, {"P_Key", 16}, {kReservedName, 16}, {"ServiceID", 64}, {"PrivateData", 1728}});
inline constexpr auto kSidrRepFields = mad_fields({
    {"RequestID", 32}, {"Status", 8, Show::Dec}, {"AdditionalInformationLength", 8, Show::Dec},
    {kReservedName, 16}, {"QPN", 24, Show::Both}, {kReservedName, 8}, {"ServiceID", 64}, {"Q_Key", 32},
    {"AdditionalInformation", 576}, {"PrivateData", 1088}});
inline constexpr auto kLapFields = mad_fields({
    {"LocalCommunicationID", 32}, {"RemoteCommunicationID", 32}, {kReservedName, 32},
    {"RemoteQPN/EECN", 24, Show::Both}, {"RemoteCmResponseTimeout", 5, Show::Dec}, {kReservedName, 3},
    {kReservedName, 32}, {"AlternateLocalPortLID", 16, Show::Dec}, {"AlternateRemotePortLID", 16, Show::Dec},
    {"AlternateLocalPortGID", 128, Show::Gid}, {"AlternateRemotePortGID", 128, Show::Gid},
    {"AlternateFlowLabel", 20}, {kReservedName, 4}, {"AlternateTrafficClass", 8},
    {"AlternateHopLimit", 8, Show::Dec}, {kReservedName, 2}, {"AlternatePacketRate", 6, Show::Dec},
    {"AlternateSL", 4, Show::Dec}, {"AlternateSubnetLocal", 1, Show::Dec}, {kReservedName, 3},
    {"AlternateLocalAckTimeout", 5, Show::Dec}, {kReservedName, 3}, {"PrivateData", 1344}});
inline constexpr auto kAprFields = mad_fields({
    {"LocalCommunicationID", 32}, {"RemoteCommunicationID", 32},
    {"AdditionalInformationLength", 8, Show::Dec}, {"ApStatus", 8, Show::Dec}, {kReservedName, 16},
    {"AdditionalInformation", 576}, {"PrivateData", 1184}});
// Private data of a REQ or SIDR_REQ with an IP service ID (annex A11).
inline constexpr auto kIpCmFields = mad_fields({
    {"MajorVersion", 4, Show::Dec}, {"MinorVersion", 4, Show::Dec}, {"IpVersion", 4, Show::Dec},
    {kReservedName, 4}, {"SourcePort", 16, Show::Dec}, {"SourceIp", 128, Show::Gid},
    {"DestinationIp", 128, Show::Gid}});

// ---- attributes of subnet management ----
inline constexpr auto kNodeInfoFields = mad_fields({
    {"BaseVersion", 8, Show::Dec}, {"ClassVersion", 8, Show::Dec}, {"NodeType", 8, Show::Dec},
    {"NumPorts", 8, Show::Dec}, {"SystemImageGuid", 64}, {"NodeGuid", 64}, {"PortGuid", 64},
    {"PartitionCap", 16, Show::Dec}, {"DeviceID", 16}, {"Revision", 32}, {"LocalPortNum", 8, Show::Dec},
    {"VendorID", 24}});
inline constexpr auto kPortInfoFields = mad_fields({
    {"M_Key", 64}, {"GidPrefix", 64}, {"LID", 16, Show::Dec}, {"MasterSMLID", 16, Show::Dec},
    {"CapabilityMask", 32}, {"DiagCode", 16}, {"M_KeyLeasePeriod", 16, Show::Dec},
    {"LocalPortNum", 8, Show::Dec}, {"LinkWidthEnabled", 8}, {"LinkWidthSupported", 8},
    {"LinkWidthActive", 8}, {"LinkSpeedSupported", 4}, {"PortState", 4, Show::Dec},
    {"PortPhysicalState", 4, Show::Dec}, {"LinkDownDefaultState", 4, Show::Dec},
    {"M_KeyProtectBits", 2, Show::Dec}, {kReservedName, 3}, {"LMC", 3, Show::Dec}, {"LinkSpeedActive", 4},
    {"LinkSpeedEnabled", 4}, {"NeighborMTU", 4, Show::Dec}, {"MasterSMSL", 4, Show::Dec},
    {"VLCap", 4, Show::Dec}, {"InitType", 4}, {"VLHighLimit", 8, Show::Dec},
    {"VLArbitrationHighCap", 8, Show::Dec}, {"VLArbitrationLowCap", 8, Show::Dec}, {"InitTypeReply", 4},
    {"MTUCap", 4, Show::Dec}, {"VLStallCount", 3, Show::Dec}, {"HOQLife", 5, Show::Dec},
    {"OperationalVLs", 4, Show::Dec}, {"PartitionEnforcementInbound", 1, Show::Dec},
    {"PartitionEnforcementOutbound", 1, Show::Dec}, {"FilterRawInbound", 1, Show::Dec},
    {"FilterRawOutbound", 1, Show::Dec}, {"M_KeyViolations", 16, Show::Dec},
    {"P_KeyViolations", 16, Show::Dec}, {"Q_KeyViolations", 16, Show::Dec}, {"GuidCap", 8, Show::Dec},
    {"ClientReregister", 1, Show::Dec}, {kReservedName, 2}, {"SubnetTimeOut", 5, Show::Dec},
    {kReservedName, 3}, {"RespTimeValue", 5, Show::Dec}, {"LocalPhyErrors", 4, Show::Dec},
    {"OverrunErrors", 4, Show::Dec}, {"MaxCreditHint", 16, Show::Dec}, {kReservedName, 8},
    {"LinkRoundTripLatency", 24, Show::Dec}});
inline constexpr auto kSwitchInfoFields = mad_fields({
    {"LinearFDBCap", 16, Show::Dec}, {"RandomFDBCap", 16, Show::Dec}, {"MulticastFDBCap", 16, Show::Dec},
    {"LinearFDBTop", 16, Show::Dec}, {"DefaultPort", 8, Show::Dec},
    {"DefaultMulticastPrimaryPort", 8, Show::Dec}, {"DefaultMulticastNotPrimaryPort", 8, Show::Dec},
    {"LifeTimeValue", 5, Show::Dec}, {"PortStateChange", 1, Show::Dec}, {"OptimizedSLtoVL", 2, Show::Dec},
    {"LIDsPerPort", 16, Show::Dec}, {"PartitionEnforcementCap", 16, Show::Dec},
    {"InboundEnforcementCap", 1, Show::Dec}, {"OutboundEnforcementCap", 1, Show::Dec},
    {"FilterRawInboundCap", 1, Show::Dec}, {"FilterRawOutboundCap", 1, Show::Dec},
    {"EnhancedPort0", 1, Show::Dec}, {kReservedName, 3}, {"MulticastFDBTop", 16, Show::Dec}});
inline constexpr auto kSmInfoFields = mad_fields({
    {"GUID", 64}, {"SM_Key", 64}, {"ActCount", 32, Show::Dec}, {"Priority", 4, Show::Dec},
    {"SMState", 4, Show::Dec}});
// clang-format on

static_assert(mad_header("", kReqFields).bytes == kCmBytes);
static_assert(mad_header("", kMraFields).bytes == kCmBytes);
static_assert(mad_header("", kRejFields).bytes == kCmBytes);
static_assert(mad_header("", kRepFields).bytes == kCmBytes);
static_assert(mad_header("", kTwoIdFields).bytes == kCmBytes);
static_assert(mad_header("", kDreqFields).bytes == kCmBytes);
static_assert(mad_header("", kSidrReqFields).bytes == kCmBytes);
static_assert(mad_header("", kSidrRepFields).bytes == kCmBytes);
static_assert(mad_header("", kLapFields).bytes == kCmBytes);
static_assert(mad_header("", kAprFields).bytes == kCmBytes);
static_assert(mad_header("", kMadFields).bytes == kMadHeaderBytes);
static_assert(mad_header("", kDirectedMadFields).bytes == kMadHeaderBytes);
static_assert(mad_header("", kSmpFields).bytes == kSmpDataAt - kMadHeaderBytes);
static_assert(mad_header("", kDirectedSmpFields).bytes == kSmpDataAt - kMadHeaderBytes);
static_assert(mad_header("", kIpCmFields).bytes == 36);
static_assert(mad_header("", kNodeInfoFields).bytes == 40);
static_assert(mad_header("", kPortInfoFields).bytes == 60);

}  // namespace hca::proto
