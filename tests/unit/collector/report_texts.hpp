// Small journals as texts, and what gpumem says of them.
#pragma once

#include <sstream>

#include "catch.hpp"
#include "journal_texts.hpp"
#include "program.hpp"

namespace gpumem {

// A file name that no process of this machine bears.
inline constexpr const char* journal_name = "gpumem-elsewhere-7-5-0.0.jsonl";

inline std::string event_line(const std::string& keys) { return R"({"t":"event","tid":7,)" + keys + "}\n"; }
inline std::string failure_line(const std::string& keys) {
  return R"({"t":"failure","tid":7,"api":"cudaMalloc",)" + keys + "}\n";
}

inline std::string end_line(const std::string& keys) {
  return R"({"t":"end","ns":900000000,"tid":7,"events":1,"failures":0,)" + keys + "}\n";
}
inline const std::string nothing_lost = R"("lost":{"lines":0,"blocks":0,"stacks":0})";

// Frames without names are shown as module+offset: as good as names to tell call sites apart.
inline const std::string program_module =
    R"({"t":"module","ns":1,"tid":7,"id":1,"path":"/nowhere/app","build_id":null,"base":"0x0","lo":"0x0","hi":"0x1"})"
    "\n";
inline std::string stack_line(int id, const std::string& frames) {
  return R"({"t":"stack","ns":2,"tid":7,"id":)" + std::to_string(id) + R"(,"f":[)" + frames + "]}\n";
}

inline std::string gpumem_in(const ScratchFolder& folder, const std::string& arguments, int expected_status = 0) {
  const auto seen = run_program("cd " + folder.path().string() +
                                " && TZ=UTC COLUMNS=1000 PATH=\"$(dirname '" GPUMEM "'):$PATH\" gpumem " + arguments);
  CAPTURE(seen.err);
  CHECK(seen.status == expected_status);
  return expected_status == 0 ? seen.out : seen.err;
}

inline std::string report_of(const std::string& journal, const std::string& command = "report") {
  const ScratchFolder folder;
  folder.write(journal_name, journal);
  return gpumem_in(folder, command + " " + journal_name);
}

}  // namespace gpumem
