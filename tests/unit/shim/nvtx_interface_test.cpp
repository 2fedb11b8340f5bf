// Compiling it is the test: the shim's picture of NVTX's interface for tools is that of the toolkit's headers.
#include "api/nvtx_interface.hpp"

#include <nvtx3/nvToolsExt.h>

namespace gpumem::nvtx {

#define SAME_PLACE(ours, theirs)                                                         \
  static_assert(offsetof(Attributes, ours) == offsetof(nvtxEventAttributes_t, theirs) && \
                sizeof(Attributes::ours) == sizeof(nvtxEventAttributes_t::theirs))
SAME_PLACE(version, version);
SAME_PLACE(size, size);
SAME_PLACE(category, category);
SAME_PLACE(payload, payload);
SAME_PLACE(message_type, messageType);
SAME_PLACE(message, message);
static_assert(sizeof(Attributes) == sizeof(nvtxEventAttributes_t));
static_assert(message_ascii == NVTX_MESSAGE_TYPE_ASCII && message_registered == NVTX_MESSAGE_TYPE_REGISTERED);

static_assert(callbacks_table == NVTX_ETID_CALLBACKS);
static_assert(sizeof(Callbacks) == sizeof(NvtxExportTableCallbacks));
static_assert(module_core == NVTX_CB_MODULE_CORE && module_core2 == NVTX_CB_MODULE_CORE2);
static_assert(mark_ex == NVTX_CBID_CORE_MarkEx && mark_ascii == NVTX_CBID_CORE_MarkA);
static_assert(range_start_ex == NVTX_CBID_CORE_RangeStartEx && range_start_ascii == NVTX_CBID_CORE_RangeStartA);
static_assert(range_push_ex == NVTX_CBID_CORE_RangePushEx && range_push_ascii == NVTX_CBID_CORE_RangePushA);
static_assert(range_pop == NVTX_CBID_CORE_RangePop);
static_assert(domain_mark_ex == NVTX_CBID_CORE2_DomainMarkEx);
static_assert(domain_range_start_ex == NVTX_CBID_CORE2_DomainRangeStartEx);
static_assert(domain_range_push_ex == NVTX_CBID_CORE2_DomainRangePushEx);
static_assert(domain_range_pop == NVTX_CBID_CORE2_DomainRangePop);
static_assert(domain_register_string_ascii == NVTX_CBID_CORE2_DomainRegisterStringA);

}  // namespace gpumem::nvtx
