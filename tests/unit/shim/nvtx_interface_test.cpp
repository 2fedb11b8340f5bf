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
static_assert(unsigned{mark_ex} == unsigned{NVTX_CBID_CORE_MarkEx} &&
              unsigned{mark_ascii} == unsigned{NVTX_CBID_CORE_MarkA});
static_assert(unsigned{range_start_ex} == unsigned{NVTX_CBID_CORE_RangeStartEx} &&
              unsigned{range_start_ascii} == unsigned{NVTX_CBID_CORE_RangeStartA});
static_assert(unsigned{range_push_ex} == unsigned{NVTX_CBID_CORE_RangePushEx} &&
              unsigned{range_push_ascii} == unsigned{NVTX_CBID_CORE_RangePushA});
static_assert(unsigned{range_pop} == unsigned{NVTX_CBID_CORE_RangePop});
static_assert(unsigned{domain_mark_ex} == unsigned{NVTX_CBID_CORE2_DomainMarkEx});
static_assert(unsigned{domain_range_start_ex} == unsigned{NVTX_CBID_CORE2_DomainRangeStartEx});
static_assert(unsigned{domain_range_push_ex} == unsigned{NVTX_CBID_CORE2_DomainRangePushEx});
static_assert(unsigned{domain_range_pop} == unsigned{NVTX_CBID_CORE2_DomainRangePop});
static_assert(unsigned{domain_register_string_ascii} == unsigned{NVTX_CBID_CORE2_DomainRegisterStringA});

}  // namespace gpumem::nvtx
