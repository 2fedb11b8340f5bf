// The lines of the journal as plain values. What each key means is in docs/FORMAT.md.
//
// Each write() fills a line, closed and ready to append; values that are absent are left out.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/api_table.hpp"
#include "journal/line.hpp"
#include "track/contexts.hpp"
#include "track/live_table.hpp"

namespace gpumem {

struct Stamp {
  std::uint64_t ns = 0;
  std::uint32_t tid = 0;
};

struct ModuleRecord {
  std::uint32_t id = 0;
  std::string_view path;
  const unsigned char* build_id = nullptr;
  std::size_t build_id_size = 0;
  std::uintptr_t base = 0, lo = 0, hi = 0;
  std::string_view role;  // "": none
  int asks = 0;           // 0: unknown
};

struct PythonRecord {
  std::uint32_t id = 0;
  std::string_view file;
  bool has_line = false;
  unsigned line = 0;
  std::string_view name;
};

struct InterpreterRecord {
  std::string_view version, path;
  bool free_threaded = false;
  std::string_view declined;  // why its stacks are not read; "": they are
};

struct DeviceRecord {
  int ordinal = 0;
  std::string_view uuid, pci_bus_id, name;  // "": unknown
  std::uint64_t total = 0;                  // 0: unknown
  int compute_mode = -1;                    // -1: unknown
  std::string_view capability;              // "": unknown
};

// What events and failures have in common.
struct CallRecord {
  std::string_view op;
  ApiId api = ApiId::none, inner = ApiId::none;
  bool has_memory = false;  // kind, size and live amount mean something
  MemoryKind kind = MemoryKind::device;
  std::uint64_t size = 0, live = 0;
  int device = no_device;
  std::uint32_t context = 0;
  const void* stream = nullptr;
  std::uint32_t stack = 0;
  bool has_stack = false;
  std::uint64_t took_ns = 0;  // 0: not given
};

struct EventRecord : CallRecord {
  std::uint64_t block = 0, owner = 0;  // 0: none
  bool has_address = false;
  std::uint64_t address = 0;
  std::uint32_t references = 0;  // 0: not given
  int limit = -1;                // of a changed limit, whose value is `size`
  bool unknown_pointer = false;
  bool untracked = false;
  std::uint64_t handle = 0;  // of a context
  bool primary = false, found = false;
  bool has_dropped = false;
  std::uint64_t dropped_blocks = 0, dropped_bytes = 0;
};

struct FailureRecord : CallRecord {
  int code = 0, inner_code = 0;
  bool has_pointer = false;
  std::uint64_t pointer = 0;
  bool first = false, start = false;
  bool inferred = false;  // the code is a runtime's, which has refused the driver
};

// What is known of calls that do not pass through the shim.
struct CoverageRecord {
  std::string_view when;
  bool seen = false;
  bool apart = false;
  std::string_view library;  // "": unknown
  struct {
    std::uint64_t read = 0, none = 0, finalizing = 0, refused = 0, declined = 0;
    bool any() const { return read + none + finalizing + refused + declined != 0; }
  } python_stacks;
};

struct SampleRecord {
  std::string_view why;
  int device = 0;
  std::uint64_t free = 0, total = 0;  // total 0: not given
  bool has_pool = false, has_graphs = false;
  std::uint64_t pool = 0;  // number of the pool that is meant; 0: the device's current one
  std::uint64_t pool_reserved = 0, pool_used = 0;
  std::uint64_t graph_reserved = 0, graph_used = 0;
};

// Memory of the process and of what bounds it, in bytes.
struct HostRecord {
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};
  std::string_view why;
  std::uint64_t resident = unknown, swapped = unknown, pinned = 0, available = unknown;
  std::uint64_t group_used = unknown, group_limit = unknown, group_kills = unknown;
};

std::string_view kind_name(MemoryKind kind);

void write_module(Line& line, Stamp stamp, const ModuleRecord& record);
void write_python(Line& line, Stamp stamp, const PythonRecord& record);
void write_interpreter(Line& line, Stamp stamp, const InterpreterRecord& record);
void write_device(Line& line, Stamp stamp, const DeviceRecord& record);
void write_sample(Line& line, Stamp stamp, const SampleRecord& record);
void write_host(Line& line, Stamp stamp, const HostRecord& record);
void write_coverage(Line& line, Stamp stamp, const CoverageRecord& record);

// Events and failures are left open, so that the session can add what it found out; close() ends them.
void begin_event(Line& line, Stamp stamp, const EventRecord& record);
void begin_failure(Line& line, Stamp stamp, const FailureRecord& record);

}  // namespace gpumem
