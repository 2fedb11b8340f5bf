// The names that journals are written in: the one header that shim and collector share.
//
// docs/FORMAT.md is the definition; this header promises that both halves spell it alike.
// It contains constants only, needs nothing but the standard library, and never changes the meaning of a name.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpumem::schema {

using namespace std::string_view_literals;

inline constexpr std::uint64_t version = 1;

inline constexpr auto file_prefix = "gpumem-"sv;
inline constexpr auto journal_suffix = ".jsonl"sv;
inline constexpr auto status_suffix = ".status.json"sv;
inline constexpr auto symbols_suffix = ".symbols.json"sv;

// Values of "t".
namespace line {
inline constexpr auto process = "process"sv;
inline constexpr auto module = "module"sv;
inline constexpr auto stack = "stack"sv;
inline constexpr auto device = "device"sv;
inline constexpr auto event = "event"sv;
inline constexpr auto failure = "failure"sv;
inline constexpr auto sample = "sample"sv;
inline constexpr auto coverage = "coverage"sv;
inline constexpr auto end = "end"sv;
}  // namespace line

// Values of "op" and "tried".
namespace op {
inline constexpr auto begin = "begin"sv;
inline constexpr auto init = "init"sv;
inline constexpr auto context = "context"sv;
inline constexpr auto context_end = "context_end"sv;
inline constexpr auto alloc = "alloc"sv;
inline constexpr auto free = "free"sv;
}  // namespace op

// Values of "k".
namespace kind {
inline constexpr auto device = "device"sv;
inline constexpr auto managed = "managed"sv;
inline constexpr auto async = "async"sv;
inline constexpr auto pinned = "pinned"sv;
}  // namespace kind

// Values of "role".
namespace role {
inline constexpr auto driver = "driver"sv;
inline constexpr auto runtime = "runtime"sv;
inline constexpr auto static_runtime = "static_runtime"sv;
}  // namespace role

// Values of "why".
namespace why {
inline constexpr auto context = "context"sv;
inline constexpr auto failure = "failure"sv;
}  // namespace why

// Values of "when".
namespace when {
inline constexpr auto init = "init"sv;
inline constexpr auto end = "end"sv;
}  // namespace when

}  // namespace gpumem::schema
