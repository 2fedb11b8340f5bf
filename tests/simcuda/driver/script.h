// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace simcuda {

inline constexpr std::size_t kib = std::size_t{1} << 10;
inline constexpr std::size_t mib = std::size_t{1} << 20;
inline constexpr std::size_t gib = std::size_t{1} << 30;

enum class compute_mode : int { shared = 0, exclusive_thread = 1, prohibited = 2, exclusive_process = 3 };

enum class process_kind { compute, graphics, mps };
enum class mig_mode { unsupported, disabled, enabled };

/// A process outside this one that holds device memory.
struct other_process {
  int pid = 0;
  std::string name;
  std::size_t used_bytes = 0;
  process_kind kind = process_kind::compute;
};

/// Memory that vanishes without any call, so long after cuInit.
struct memory_fall {
  unsigned after_ms = 0;
  std::size_t bytes = 0;
};

/// Which of the free addresses a request gets.
enum class address_reuse {
  smallest_hole,  // the smallest range that fits
  at_once,        // the one freed last, also for a smaller request
  never,          // one that nobody had before
};

struct device_description {
  std::size_t position = 0;  // in the script
  std::string name;
  std::size_t capacity = 16 * gib;
  std::size_t reserved_bytes = 0;         // that only NVML counts
  std::size_t address_space_needed = 0;   // of the process, for each context
  bool contiguous = false;                // a request needs one hole of its size in the device's memory
  bool exclusive_within_process = false;  // exclusive_process means one context
  std::size_t context_overhead = 400 * mib;
  std::array<unsigned char, 16> uuid{};
  int pci_domain = 0;
  int pci_bus = 0;
  int pci_device = 0;
  compute_mode mode = compute_mode::shared;
  std::array<int, 2> compute_capability{9, 0};
  int multiprocessors = 132;
  std::vector<other_process> other_processes;
  std::vector<memory_fall> falls;
  bool persistence = true;
  mig_mode mig = mig_mode::disabled;
};

/// What happens at some calls of one exported function: the calls numbered nth … nth+times-1, counted from 1.
struct rule {
  std::string call;
  std::uint64_t nth = 1;
  std::uint64_t times = 0;  // 0: all following calls
  int code = 0;             // answered instead of running the function, unless 0
  unsigned delay_ms = 0;
  std::string log;                // what the driver writes to its error log about it
  std::size_t free_falls_by = 0;  // bytes that vanish from the device without any allocation
  int device = 0;                 // whose bytes
};

struct script {
  int driver_version = 13000;
  std::string nvml_driver_version = "580.65.06";
  std::size_t module_bytes = 2 * mib;
  address_reuse reuse = address_reuse::smallest_hole;
  bool peer_access = false;                                            // between all devices
  std::map<std::string, std::size_t, std::less<>> globals;             // sizes of variables of code, by name
  std::size_t pinned_limit = std::numeric_limits<std::size_t>::max();  // of this process
  std::string shared_account;                                          // path of the file; empty: none
  bool strict = false;  // abort at a call from where a real driver may hang or crash
  std::vector<device_description> devices;
  std::vector<rule> rules;
};

/// As NVML numbers them, and CUDA with CUDA_DEVICE_ORDER=PCI_BUS_ID.
void sort_by_pci(std::vector<device_description>& devices);

struct script_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What SIMCUDA_SCRIPT names, or the default; nullopt when it was refused, which a line on stderr has told then.
std::optional<script> script_of_environment();

/// What is simulated when SIMCUDA_SCRIPT is not set: one device of 16 GiB.
script default_script();

/// Reads a script. Throws script_error with one sentence that names the file and the key that is wrong, unknown or
/// out of range; nothing is accepted silently.
script load_script(const std::string& path);

}  // namespace simcuda
