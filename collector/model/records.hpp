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

#include "model/checkpoint_records.hpp"

namespace gpumem {

// An event of another journal.
struct ForeignEvent {
  std::string api;
  std::uint64_t ns = 0;
  std::uint64_t stack = 0;
};

struct ForkOrigin {
  std::int64_t pid = 0;
  std::string journal;
  std::uint64_t events = 0;
  bool initialized = false;
  std::optional<ForeignEvent> init;  // where the parent's cuInit succeeded
};

// Variables whose value differs from the one at exec; no value: unset since.
using ChangedVariables = std::map<std::string, std::optional<std::string>>;

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
  std::uint64_t segment = 0;  // above 0: of the process only what every segment repeats
  bool events = true;         // false: what is live is told by checkpoints alone
};

struct ModuleRecord : LineHead {
  std::uint64_t id = 0;
  std::optional<std::string> path;
  std::optional<std::string> build_id;
  std::optional<std::string> role;
  std::optional<std::uint64_t> asks;
};

// A place in Python code.
struct PythonRecord : LineHead {
  std::uint64_t id = 0;
  std::string file;
  std::optional<std::uint64_t> line;
  std::string name;  // qualified, where the interpreter knows such names
};

using PythonPlaces = std::map<std::uint64_t, PythonRecord>;  // by id

// A Python interpreter of the process, and whether its stacks are read.
struct InterpreterRecord : LineHead {
  std::string version;
  std::string path;
  bool free_threaded = false;
  std::string stacks;
  std::string reason;  // why they are not
};

// Native code, or where `python` is not 0, that place in Python code.
struct Frame {
  std::uint64_t module = 0;  // 0: code outside every module
  std::uint64_t offset = 0;  // ELF virtual address, or the plain address outside every module
  std::uint64_t python = 0;  // id of the place
  auto operator<=>(const Frame&) const = default;
};

struct StackRecord : LineHead {
  std::uint64_t id = 0;
  std::vector<Frame> frames;  // innermost first, return addresses
  bool cut = false;
  std::string no_python;  // "py": why Python frames are missing, in one word; empty: none are
};

struct DeviceRecord : LineHead {
  DeviceOrdinal device = 0;
  std::optional<std::string> uuid;
  std::optional<std::string> pci;
  std::optional<std::string> name;
  std::optional<std::uint64_t> total;
  std::optional<std::string> compute_mode;  // in words; a number that is not known as its digits
  std::optional<std::string> capability;    // "9.0"
};

// What the lines of a call have in common, whether it succeeded or failed.
struct CallRecord : LineHead {
  std::string api;
  std::string in;
  std::string kind;
  std::optional<std::uint64_t> block;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::optional<DeviceOrdinal> device;
  std::optional<std::uint64_t> context;  // of an alloc: the one that the block ends with
  std::uint64_t stack = 0;
  std::optional<std::uint64_t> live;  // the shim's own counter "u"
  std::optional<std::uint64_t> took;
};

struct EventRecord : CallRecord {
  std::string op;
  std::optional<std::uint64_t> owner;       // "of": the block that this one belongs to
  std::optional<std::uint64_t> references;  // "refs": to the block, just after
  std::optional<std::uint64_t> limit;       // number of the limit that was changed
  ChangedVariables env_now;                 // of the init of cuInit
  bool untracked = false;                   // the shim had no room for this block: it belongs to no total
};

struct FailureRecord : CallRecord {
  std::string tried;
  std::int64_t code = 0;
  std::optional<std::string> name;
  std::optional<std::int64_t> in_code;
  std::optional<std::string> in_name;
  bool first = false;
  bool start = false;
  bool inferred = false;
  ChangedVariables env_now;
};

struct ProcessLimits {
  std::optional<std::uint64_t> address_space, data, open_files, locked_memory, processes;  // no value: unlimited
};

// The process just after a failure.
struct StateRecord : LineHead {
  ProcessLimits limits;
  std::optional<std::uint64_t> descriptors;
  std::optional<std::uint64_t> virtual_bytes, resident_bytes, locked_bytes, swapped_bytes;
  std::optional<std::uint64_t> threads;
  std::string log;  // the driver's own; empty where it has none
};

// What `gpumem probe` told about the machine just after a failure.
struct ProbeRecord : LineHead {
  std::string status;
  std::string reason;
  std::uint64_t took = 0;
  std::string said;  // a JSON object, not looked into here
};

// What the driver keeps for later allocations, and what of it is allocated.
struct HeldByDriver {
  std::optional<std::uint64_t> reserved;
  std::optional<std::uint64_t> used;
};

struct SampleRecord : LineHead {
  std::optional<DeviceOrdinal> device;  // absent only for a pool that belongs to none
  std::optional<std::uint64_t> free;
  std::optional<std::uint64_t> total;
  std::string why;
  std::optional<std::uint64_t> pool;  // the pool that `pool_held` is of; absent: the device's current one
  HeldByDriver pool_held;
  HeldByDriver graphs_held;
};

// The process's own memory, and what bounds it.
struct HostRecord : LineHead {
  std::string why;
  std::optional<std::uint64_t> resident, swapped, pinned, available;
  std::optional<std::uint64_t> group_used, group_limit, group_kills;
};

// A mark that the program has set, or the beginning or end of a range.
struct MarkRecord : LineHead {
  std::string text;
  bool ends = false;
};

struct CoverageRecord : LineHead {
  std::string when;
  bool seen = false;
  bool apart = false;
  std::optional<std::string> library;
  std::map<std::string, std::uint64_t> python;  // stacks by what became of their Python part
};

struct ReportedPeak {
  std::string kind;
  std::optional<DeviceOrdinal> device;
  std::uint64_t bytes = 0;
};

// The counters of the process, at its end or while it ran.
struct TotalsRecord : LineHead {
  bool at_end = false;
  std::uint64_t events = 0;
  std::uint64_t failures = 0;
  std::uint64_t lost_lines = 0;
  std::uint64_t lost_blocks = 0;
  std::uint64_t lost_stacks = 0;
  std::map<std::string, std::uint64_t> stacks;  // how they were captured, and how many were checked and wrong
  std::map<std::string, std::uint64_t> calls;
  std::map<std::string, std::uint64_t> routes;
  std::vector<ReportedPeak> peaks;
};

using Record = std::variant<ProcessRecord, ModuleRecord, PythonRecord, InterpreterRecord, StackRecord, DeviceRecord,
                            EventRecord, FailureRecord, StateRecord, ProbeRecord, SampleRecord, HostRecord, MarkRecord,
                            CoverageRecord, TotalsRecord, CheckpointRecord, SiteRecord, LiveRecord, GapRecord>;

}  // namespace gpumem
