// The lines of a journal as values; docs/FORMAT.md defines what each field means.
//
// Bytes are bytes, times are nanoseconds since the process line. A field that a line may lack is optional, or has the
// neutral value given here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gpumem {

using DeviceOrdinal = std::int32_t;

struct LineHead {
  std::uint64_t ns = 0;
  std::int64_t tid = 0;
};

struct ForkOrigin {
  std::int64_t pid = 0;
  std::string journal;
  std::uint64_t events = 0;
  bool initialized = false;
};

struct ProcessRecord : LineHead {
  std::uint64_t wall_ns = 0;
  std::int64_t pid = 0;
  std::int64_t ppid = 0;
  std::uint64_t start = 0;  // clock ticks since boot
  std::uint64_t n = 0;
  std::string host;
  std::string exe;
  std::vector<std::string> argv;
  std::string cwd;
  std::map<std::string, std::string> env;
  std::optional<std::uint64_t> limit_as;  // no value: unlimited
  std::optional<std::string> kernel_driver;
  std::string shim_version;
  std::string shim_build_id;
  std::optional<ForkOrigin> forked_from;
};

struct ModuleRecord : LineHead {
  std::uint64_t id = 0;
  std::optional<std::string> path;
  std::optional<std::string> build_id;
  std::optional<std::string> role;
  std::optional<std::uint64_t> asks;
};

struct FrameAddress {
  std::uint64_t module = 0;  // 0: code outside every module
  std::uint64_t offset = 0;  // ELF virtual address, or the plain address outside every module
  auto operator<=>(const FrameAddress&) const = default;
};

struct StackRecord : LineHead {
  std::uint64_t id = 0;
  std::vector<FrameAddress> frames;  // innermost first, return addresses
  bool cut = false;
};

struct DeviceRecord : LineHead {
  DeviceOrdinal device = 0;
  std::optional<std::string> uuid;
  std::optional<std::string> pci;
  std::optional<std::string> name;
  std::optional<std::uint64_t> total;
};

struct EventRecord : LineHead {
  std::string op;
  std::string api;
  std::string in;
  std::optional<std::uint64_t> block;
  std::string kind;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::optional<DeviceOrdinal> device;
  std::optional<std::uint64_t> context;
  std::uint64_t stack = 0;
  std::optional<std::uint64_t> live_after;  // the shim's own counter "u"
  bool untracked = false;                   // the shim had no room for this block: it belongs to no total
  std::optional<std::uint64_t> took;
};

struct FailureRecord : LineHead {
  std::string tried;
  std::string api;
  std::string in;
  std::string kind;
  std::optional<std::uint64_t> block;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::optional<DeviceOrdinal> device;
  std::uint64_t stack = 0;
  std::optional<std::uint64_t> live;
  std::int64_t code = 0;
  std::optional<std::string> name;
  std::optional<std::int64_t> in_code;
  std::optional<std::string> in_name;
  bool first = false;
  bool start = false;
  bool inferred = false;
  std::map<std::string, std::optional<std::string>> env_now;
  std::optional<std::uint64_t> took;
};

struct SampleRecord : LineHead {
  DeviceOrdinal device = 0;
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  std::string why;
};

struct CoverageRecord : LineHead {
  std::string when;
  bool seen = false;
  bool apart = false;
  std::optional<std::string> library;
};

struct ReportedPeak {
  std::string kind;
  std::optional<DeviceOrdinal> device;
  std::uint64_t bytes = 0;
};

struct EndRecord : LineHead {
  std::uint64_t events = 0;
  std::uint64_t failures = 0;
  std::uint64_t lost_lines = 0;
  std::uint64_t lost_blocks = 0;
  std::uint64_t lost_stacks = 0;
  std::map<std::string, std::uint64_t> calls;
  std::map<std::string, std::uint64_t> routes;
  std::vector<ReportedPeak> peaks;
};

using Record = std::variant<ProcessRecord, ModuleRecord, StackRecord, DeviceRecord, EventRecord, FailureRecord,
                            SampleRecord, CoverageRecord, EndRecord>;

}  // namespace gpumem
