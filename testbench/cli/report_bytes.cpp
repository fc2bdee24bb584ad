// SPDX-License-Identifier: Apache-2.0
// The page that the build made, if it did.
#include "testbench/report_page.h"

#ifdef HCA_WITHOUT_REPORT
std::string_view hca::testbench::report_page() { return {}; }
#else
extern "C" const unsigned char hca_report_page[];
extern "C" const unsigned long hca_report_page_bytes;
std::string_view hca::testbench::report_page() {
  return {reinterpret_cast<const char*>(hca_report_page), hca_report_page_bytes};
}
#endif
