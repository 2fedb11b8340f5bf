// Calls every function of cuda_api.def that a library has, each with arguments of one sort, and prints all that a
// caller can observe: every_row LIBRARY fresh|started SORT
//
//   null       null pointers, and zeros
//   zeroed     pointers to zeroes, and zeros
//   huge       outputs, but nothing that describes, and the largest numbers
//   foreign    pointers to other bytes, handles and addresses that are none, device 99
//   forbidden  pointers that may not be touched
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "api/cuda_types.hpp"
#include "conformance.hpp"

namespace {

using namespace gpumem;

enum class Sort { null, zeroed, huge, foreign, forbidden };
constexpr std::pair<std::string_view, Sort> sorts[] = {{"null", Sort::null},
                                                       {"zeroed", Sort::zeroed},
                                                       {"huge", Sort::huge},
                                                       {"foreign", Sort::foreign},
                                                       {"forbidden", Sort::forbidden}};
Sort sort_of(std::string_view word) {
  for (const auto& [name, sort] : sorts)
    if (name == word) return sort;
  std::exit(3);
}

// One piece for each parameter, large enough for what 99 of any structure take.
constexpr std::size_t piece_bytes = 1 << 16, most_parameters = 11;
std::array<char[piece_bytes], most_parameters> pieces;
constexpr char foreign_byte = 0x5a;
constexpr unsigned long long foreign_address = 0x12345600;
constexpr int foreign_number = 99;

char expected_byte(Sort sort) { return sort == Sort::foreign ? foreign_byte : 0; }

void* forbidden_page() {
  static void* const page = mmap(nullptr, piece_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page;
}

template <class Pointee>
constexpr bool is_output = !std::is_const_v<Pointee> && !std::is_void_v<Pointee> && !std::is_class_v<Pointee>;

template <class Pointee>
void* pointer(Sort sort, std::size_t position) {
  if (sort == Sort::forbidden) return forbidden_page();
  if (sort == Sort::null || (sort == Sort::huge && !is_output<Pointee>)) return nullptr;
  return pieces[position];
}

template <class Number>
Number number(Sort sort) {
  constexpr bool is_address = std::is_same_v<Number, CUdeviceptr>;
  if (sort == Sort::huge) return std::numeric_limits<Number>::max();
  if (sort == Sort::foreign) return static_cast<Number>(is_address ? foreign_address : foreign_number);
  if (sort == Sort::forbidden)
    return static_cast<Number>(is_address ? reinterpret_cast<std::uintptr_t>(forbidden_page()) : 1);
  return 0;
}

template <class Type>
Type argument(Sort sort, std::size_t position) {
  if constexpr (std::is_pointer_v<Type>) {
    return reinterpret_cast<Type>(pointer<std::remove_pointer_t<Type>>(sort, position));
  } else if constexpr (std::is_integral_v<Type>) {
    return number<Type>(sort);
  } else {
    Type value;
    std::memset(&value, expected_byte(sort), sizeof value);
    return value;
  }
}

template <class Result, class... Parameters, std::size_t... positions>
int call(Result (*function)(Parameters...), [[maybe_unused]] Sort sort, std::index_sequence<positions...>) {
  return function(argument<Parameters>(sort, positions)...);
}

// What the last of these parameters are depends on the version: not even numbers are safe to give.
bool has_several_forms(std::string_view symbol) {
  return symbol == "cudaGraphAddNode" || symbol == "cudaGraphInstantiate";
}

template <class Result, class... Parameters>
void call_and_print(const char* symbol, Result (*function)(Parameters...), Sort sort) {
  static_assert(sizeof...(Parameters) <= most_parameters);
  if (function == nullptr) return;
  if (has_several_forms(symbol) && sort != Sort::forbidden) sort = Sort::null;
  for (auto& piece : pieces) std::memset(piece, expected_byte(sort), sizeof piece);
  errno = 77;
  const int code = call(function, sort, std::index_sequence_for<Parameters...>());
  std::printf("%s: %d%s", symbol, code, errno == 77 ? "" : ", errno changed");
  for (std::size_t i = 0; i < sizeof...(Parameters); ++i)
    if (std::any_of(pieces[i], pieces[i] + piece_bytes, [&](char byte) { return byte != expected_byte(sort); }))
      std::printf(", parameter %zu written", i);
  std::printf("\n");
}

// A context is current and a block is live, in the driver or by the runtime.
void start(const Library& cuda) {
  if (cuda.find("cuInit") != nullptr) {
    void* context = nullptr;
    unsigned long long block = 0;
    cuda.call("cuInit", "to start", 0u);
    cuda.call("cuCtxCreate_v2", "to start", &context, 0u, 0);
    cuda.call("cuMemAlloc_v2", "to start", &block, std::size_t{1009});
  } else {
    void* block = nullptr;
    cuda.call("cudaMalloc", "to start", &block, std::size_t{1009});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 3;
  const Library cuda(argv[1]);
  if (std::string_view(argv[2]) == "started") start(cuda);
  const Sort sort = sort_of(argv[3]);
#define CUDA_API(result, symbol, parameters, ...) \
  call_and_print(#symbol, reinterpret_cast<result(*) parameters>(cuda.find(#symbol)), sort);
#include "api/cuda_api.def"
#undef CUDA_API
}
