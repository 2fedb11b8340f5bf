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
inline constexpr auto marks_suffix = ".marks.jsonl"sv;

// Values of "t".
namespace line {
inline constexpr auto process = "process"sv;
inline constexpr auto module = "module"sv;
inline constexpr auto python = "python"sv;
inline constexpr auto interpreter = "interpreter"sv;
inline constexpr auto stack = "stack"sv;
inline constexpr auto device = "device"sv;
inline constexpr auto event = "event"sv;
inline constexpr auto failure = "failure"sv;
inline constexpr auto state = "state"sv;
inline constexpr auto probe = "probe"sv;
inline constexpr auto sample = "sample"sv;
inline constexpr auto host = "host"sv;
inline constexpr auto coverage = "coverage"sv;
inline constexpr auto checkpoint = "checkpoint"sv;
inline constexpr auto site = "site"sv;
inline constexpr auto live = "live"sv;
inline constexpr auto mark = "mark"sv;
inline constexpr auto totals = "totals"sv;
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
inline constexpr auto ref = "ref"sv;
inline constexpr auto unref = "unref"sv;
inline constexpr auto limit = "limit"sv;
inline constexpr auto exported = "export"sv;
inline constexpr auto launch = "launch"sv;
inline constexpr auto other = "other"sv;
}  // namespace op

// Values of "k", each with what its numbers count: amounts of different kinds are never added up, but for those of the
// same `Counts`.
enum class Counts : std::uint8_t {
  device_memory,  // bytes of the device
  host_memory,    // bytes of the machine's memory
  graph_memory,   // bytes of the device, while the graph that owns them runs or keeps them
  addresses,      // bytes of address space: the memory behind them is counted where it was made
  others_memory,  // bytes that another process, or another API, has allocated
  code,           // bytes inside a loaded module
  handles,        // objects, not bytes
};

struct Kind {
  std::string_view name;
  Counts counts;
};

inline constexpr Kind kinds[] = {
    {"device"sv, Counts::device_memory},
    {"pitched"sv, Counts::device_memory},
    {"managed"sv, Counts::device_memory},
    {"array"sv, Counts::device_memory},
    {"async"sv, Counts::device_memory},
    {"physical"sv, Counts::device_memory},
    {"graph_memory"sv, Counts::graph_memory},
    {"reserved"sv, Counts::addresses},
    {"mapped"sv, Counts::addresses},
    {"view"sv, Counts::addresses},
    {"ipc"sv, Counts::others_memory},
    {"external"sv, Counts::others_memory},
    {"imported"sv, Counts::others_memory},
    {"pinned"sv, Counts::host_memory},
    {"host_physical"sv, Counts::host_memory},
    {"registered"sv, Counts::host_memory},
    {"variable"sv, Counts::code},
    {"stream"sv, Counts::handles},
    {"event"sv, Counts::handles},
    {"module"sv, Counts::handles},
    {"library"sv, Counts::handles},
    {"graph"sv, Counts::handles},
    {"graph_exec"sv, Counts::handles},
    {"pool"sv, Counts::handles},
    {"green_context"sv, Counts::handles},
    {"graphics"sv, Counts::handles},
    {"multicast"sv, Counts::handles},
};

// Values of "compute_mode", by the numbers that CUDA and NVML give them.
inline constexpr std::string_view compute_modes[] = {"default"sv, "exclusive_thread"sv, "prohibited"sv,
                                                     "exclusive_process"sv};

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
inline constexpr auto code = "code"sv;
inline constexpr auto launch = "launch"sv;
inline constexpr auto limit = "limit"sv;
inline constexpr auto trim = "trim"sv;
inline constexpr auto time = "time"sv;
}  // namespace why

// Values of "status" of a probe.
namespace probe {
inline constexpr auto ok = "ok"sv;
inline constexpr auto timed_out = "timed out"sv;
inline constexpr auto failed = "failed"sv;
inline constexpr auto not_started = "not started"sv;
inline constexpr auto off = "off"sv;
}  // namespace probe

// What the number of a place in Python code follows in a frame.
inline constexpr auto python_frame = "py:"sv;

// Values of "stacks" of an interpreter.
namespace stacks {
inline constexpr auto read = "read"sv;
inline constexpr auto declined = "declined"sv;
}  // namespace stacks

// Values of "py" of a stack, and with `read` and `none` the keys of "python" of a coverage.
namespace python {
inline constexpr auto read = "read"sv;
inline constexpr auto none = "none"sv;
inline constexpr auto finalizing = "finalizing"sv;
inline constexpr auto refused = "refused"sv;
inline constexpr auto declined = "declined"sv;
inline constexpr auto cut = "cut"sv;
}  // namespace python

// Values of "part" of a checkpoint.
namespace part {
inline constexpr auto begin = "begin"sv;
inline constexpr auto end = "end"sv;
inline constexpr auto cut = "cut"sv;
}  // namespace part

// Values of "when".
namespace when {
inline constexpr auto init = "init"sv;
inline constexpr auto end = "end"sv;
}  // namespace when

}  // namespace gpumem::schema
