#include "intercept/wrappers.hpp"

#include "api/cuda_types.hpp"
#include "api/effects.hpp"
#include "base/lazy.hpp"
#include "base/own_work.hpp"
#include "intercept/call.hpp"
#include "intercept/providers.hpp"

namespace gpumem {
namespace {

using Kind = MemoryKind;

// The one wrapper body: all that differs between functions is in the row.
template <class Forward>
[[gnu::always_inline]] inline int intercepted(ApiId api, unsigned bank, const void* caller, const Effect& effect,
                                              Forward forward) {
  void* real = nullptr;
  {
    OwnWork work;
    real = real_function(api, bank, caller);
  }
  if (real == nullptr) return cuda_symbol_not_found;
  CallGuard guard(api, effect, caller);
  const int result = forward(real);
  guard.finish(result);
  return result;
}

// always_inline, so that the return address is that of the function handed out.
namespace rows {
#define CUDA_API(ret, symbol, params, args, effect)                                               \
  struct symbol {                                                                                 \
    template <unsigned bank>                                                                      \
    [[gnu::always_inline]] static inline ret call params {                                        \
      return intercepted(ApiId::symbol, bank, __builtin_return_address(0), effect,                \
                         [&](void* real) { return reinterpret_cast<ret(*) params>(real) args; }); \
    }                                                                                             \
  };
#include "api/cuda_api.def"
#undef CUDA_API
}  // namespace rows

template <class Row, unsigned bank>
void* address_of() {
  return reinterpret_cast<void*>(&Row::template call<bank>);
}

}  // namespace

#define CUDA_API(ret, symbol, params, args, effect) \
  extern "C" __attribute__((visibility("default"))) ret symbol params { return rows::symbol::call<linked_bank> args; }
#include "api/cuda_api.def"
#undef CUDA_API

namespace {

using Bank = void* [api_count];

template <unsigned bank>
void fill(Bank& wrappers) {
#define CUDA_API(ret, symbol, ...) wrappers[index(ApiId::symbol)] = address_of<rows::symbol, bank>();
#include "api/cuda_api.def"
#undef CUDA_API
}

struct Banks {
  Bank wrappers[bank_count];
  Banks() {
#define CUDA_API(ret, symbol, ...) \
  wrappers[linked_bank][index(ApiId::symbol)] = reinterpret_cast<void*>(&gpumem::symbol);
#include "api/cuda_api.def"
#undef CUDA_API
    fill_others<bank_count - 1>();
  }

 private:
  template <unsigned bank>
  void fill_others() {
    fill<bank>(wrappers[bank]);
    if constexpr (bank > linked_bank + 1) fill_others<bank - 1>();
  }
};

}  // namespace

void* wrapper(ApiId api, unsigned bank) {
  static constinit Lazy<Banks> banks;
  return banks.get([] { return Banks(); }).wrappers[bank][index(api)];
}

}  // namespace gpumem
