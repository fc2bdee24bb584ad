// SPDX-License-Identifier: Apache-2.0
// Sockets over connections: none of these functions is here.
#include "testbench/cm_library/library.h"

using namespace hca::cm_library;

#define HCA_NO_SOCKET(name) \
  HCA_CM long name();       \
  HCA_CM long name() { return refuse(#name, "rsockets are not supported"); }
HCA_NO_SOCKET(rsocket)
HCA_NO_SOCKET(rbind)
HCA_NO_SOCKET(rlisten)
HCA_NO_SOCKET(raccept)
HCA_NO_SOCKET(rconnect)
HCA_NO_SOCKET(rshutdown)
HCA_NO_SOCKET(rclose)
HCA_NO_SOCKET(rrecv)
HCA_NO_SOCKET(rrecvfrom)
HCA_NO_SOCKET(rrecvmsg)
HCA_NO_SOCKET(rsend)
HCA_NO_SOCKET(rsendto)
HCA_NO_SOCKET(rsendmsg)
HCA_NO_SOCKET(rread)
HCA_NO_SOCKET(rreadv)
HCA_NO_SOCKET(rwrite)
HCA_NO_SOCKET(rwritev)
HCA_NO_SOCKET(rpoll)
HCA_NO_SOCKET(rselect)
HCA_NO_SOCKET(rgetpeername)
HCA_NO_SOCKET(rgetsockname)
HCA_NO_SOCKET(rsetsockopt)
HCA_NO_SOCKET(rgetsockopt)
HCA_NO_SOCKET(rfcntl)
HCA_NO_SOCKET(riomap)
HCA_NO_SOCKET(riounmap)
HCA_NO_SOCKET(riowrite)
