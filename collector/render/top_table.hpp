// The memory of several processes at one moment, beside how it was a moment before.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.hpp"
#include "render/call_names.hpp"
#include "render/text_page.hpp"

namespace gpumem {

inline constexpr int top_schema_version = 1;

struct TopSite {
  std::string label;
  Usage amount;
};

// What a process holds of a device. docs/REPORT.md says what each value is.
struct TopRow {
  std::int64_t pid = 0;
  std::string process;
  std::string journal;
  std::string end;  // empty while it runs
  DeviceOrdinal device = 0;
  std::uint64_t used = 0;
  std::uint64_t peak = 0;
  std::optional<double> allocations_per_s, bytes_per_s;
  std::uint64_t failed_calls = 0;
  std::optional<std::int64_t> unexplained;
  std::optional<std::uint64_t> live_as_of;
  std::string latest_mark;
  std::vector<TopSite> sites;  // largest first
};

// Of one process, by device; none for one that has used no device.
class TopProcess {
 public:
  // `now_ns` is any clock that runs on. Rates are known from the second time on.
  std::vector<TopRow> look(const ProcessAnalysis& process, CallNames& names, std::uint64_t now_ns);

 private:
  struct Before {
    std::uint64_t ns = 0;
    Usage allocated;
  };
  std::map<DeviceOrdinal, Before> before_;
};

// What uses most first.
void sort_rows(std::vector<TopRow>& rows);
void add_top(TextPage& page, const std::vector<TopRow>& rows);
nlohmann::ordered_json json_top(const std::vector<TopRow>& rows);

}  // namespace gpumem
