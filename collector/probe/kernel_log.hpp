// What the kernel's log says about the GPU's driver, suspends and lack of memory.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "probe/files.hpp"

namespace gpumem {

// With "reason" where it may not be read.
FileText read_kernel_log();

// Of a log as klogctl gives it, `now` seconds after the start of its clock: the newest lines that matter here, the
// latest last. That clock stands still while the system is suspended.
nlohmann::ordered_json lines_that_matter(const std::string& log, double now);

// Nothing where the log has no resume.
std::optional<double> seconds_since_resume(const std::string& log, double now);

}  // namespace gpumem
