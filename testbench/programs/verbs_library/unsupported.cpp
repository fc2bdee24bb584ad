// SPDX-License-Identifier: Apache-2.0
// Functions that the HCA, or the server, does not offer: refused here, because the system's library
// would look for a provider in the context.
#include "testbench/programs/verbs_library/library.h"

using namespace hca;
using namespace hca::verbs_library;

HCA_VERB ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, u64, std::size_t, u64, int, int) {
  return fail(EOPNOTSUPP);
}
HCA_VERB ibv_context* ibv_import_device(int) { return fail(EOPNOTSUPP); }
HCA_VERB ibv_mr* ibv_import_mr(ibv_pd*, u32) { return fail(EOPNOTSUPP); }
HCA_VERB void ibv_unimport_mr(ibv_mr*) {}
HCA_VERB ibv_pd* ibv_import_pd(ibv_context*, u32) { return fail(EOPNOTSUPP); }
HCA_VERB void ibv_unimport_pd(ibv_pd*) {}
HCA_VERB ibv_dm* ibv_import_dm(ibv_context*, u32) { return fail(EOPNOTSUPP); }
HCA_VERB void ibv_unimport_dm(ibv_dm*) {}
