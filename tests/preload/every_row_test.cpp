// Every row of cuda_api.def with arguments of every sort: nobody notices the shim, and what failed is not looked into.
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

const std::vector<std::string> libraries{"libcuda.so.1", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};
const std::vector<std::string> states{"fresh", "started"};
const std::vector<std::string> sorts{"null", "zeroed", "huge", "foreign"};

std::vector<std::string> rows() { return listed_symbols("shim/api/cuda_api.def"); }

// No library of CUDA 13.0 or before exports these, nor any driver at hand the last one.
bool is_nowhere(const std::string& row) {
  static const std::set<std::string> nowhere{"cuMulticastBindMem_v2",
                                             "cuMulticastBindAddr_v2",
                                             "cuGraphAddNode_v3",
                                             "cuStreamBeginRecaptureToGraph",
                                             "cuStreamBeginRecaptureToGraph_ptsz",
                                             "cudaStreamBeginRecaptureToGraph",
                                             "cudaGreenCtxCreate",
                                             "cudaExecutionCtxDestroy",
                                             "cudaExecutionCtxStreamCreate",
                                             "cuEventCreateFromEGLSync"};
  return nowhere.contains(row);
}

Journal unnoticed(const Stage& stage, const std::string& library, const std::string& state, const std::string& sort) {
  const std::vector<std::string> command{program("every_row"), library, state, sort};
  const auto bare = stage.run_bare(command), traced = stage.run_traced(command);
  INFO(library << ' ' << state << ' ' << sort << '\n' << bare << traced);
  CHECK(bare.status == 0);
  CHECK(traced == bare);
  return stage.journal();
}

// Why no conformance program sees it succeed; empty if one does.
std::string why_never_successful(const std::string& row) {
  static const std::map<std::string, std::string> reasons{
      {"cu(GL|VDPAU)CtxCreate(_v2)?", "contexts over other interfaces are not simulated"},
      {"cu(da)?EventCreateFromEGLSync", "there is no EGL"},
      {"cuLaunchCooperativeKernelMultiDevice", "not simulated"},
      {"cu(da)?Ipc(Open|Close)MemHandle(_v2)?", "takes two processes: runtime_ways_test, foreign_ways_test"},
      {"cudaLaunch.*|cudaGetSymbolAddress|cudaFuncGetAttributes", "takes code of the program's own: transparency_test"}};
  if (is_nowhere(row)) return "nowhere to be found";
  for (const auto& [pattern, reason] : reasons)
    if (std::regex_match(row, std::regex(pattern))) return reason;
  return {};
}

Line calls_of(const Journal& journal) { return journal.of_type("end").at(0).at("calls"); }

void add_calls(std::set<std::string>& called, const Journal& journal) {
  const Line calls = calls_of(journal);
  for (const auto& [row, count] : calls.items()) called.insert(row);
}

}  // namespace

TEST_CASE("every row: no caller notices the shim, whatever the arguments are") {
  NEEDS(scripted_driver);
  std::set<std::string> called;
  for (const auto& library : libraries)
    for (const auto& state : states)
      for (const auto& sort : sorts) add_calls(called, unnoticed(Stage(), library, state, sort));
  for (const auto& row : rows()) {
    INFO(row);
    CHECK(called.contains(row) != is_nowhere(row));
  }
}

TEST_CASE("every row: each has succeeded in a conformance program, or it is known why not") {
  NEEDS(scripted_driver);
  const Line script{{"devices", {{{"name", "first"}}, {{"name", "second"}}}}, {"peer_access", true}};
  std::set<std::string> successful;
  for (const auto& library : libraries) {
    const bool is_driver = library == "libcuda.so.1";
    const auto command = is_driver ? std::vector<std::string>{program("conformance_driver")}
                                   : std::vector<std::string>{program("conformance_runtime"), library};
    Stage stage;
    stage.script(script);
    const auto bare = stage.run_bare(command), traced = stage.run_traced(command);
    INFO(library);
    CHECK(bare.status == 0);
    CHECK(traced == bare);
    static const std::regex success(R"((\w+), .*: 0)");
    std::istringstream lines(traced.out);
    std::smatch match;
    for (std::string line; std::getline(lines, line);)
      if (std::regex_match(line, match, success)) successful.insert(match[1]);
    // What was seen to succeed has passed through the shim.
    const Line calls = calls_of(stage.journal());
    for (const auto& row : rows())
      if (traced.out.find('\n' + row + ", ") != std::string::npos) CHECK(calls.contains(row));
  }
  for (const auto& row : rows()) {
    INFO(row << ": " << why_never_successful(row));
    CHECK(successful.contains(row) == why_never_successful(row).empty());
  }
}

TEST_CASE("every row: nothing that a failing driver call was given is looked into, and each has its code recorded") {
  NEEDS(scripted_driver);
  for (const auto& state : states) {
    Stage stage;
    std::map<std::string, int> codes;
    Line rules = Line::array();
    for (const auto& row : rows()) {
      const int code = codes[row] = 1000 + static_cast<int>(codes.size());
      const bool starts = row == "cuInit" || row == "cuCtxCreate_v2" || row == "cuMemAlloc_v2";
      rules.push_back(
          {{"call", row}, {"code", code}, {"nth", starts && state == "started" ? 2 : 1}, {"times", 1000000}});
    }
    stage.script({{"rules", rules}});
    const auto journal = unnoticed(stage, "libcuda.so.1", state, "forbidden");
    std::map<std::string, std::vector<int>> recorded;
    for (const Line& line : journal.failures()) recorded[line.at("api")].push_back(line.at("code"));
    for (const auto& row : rows()) {
      if (row.starts_with("cuda") || is_nowhere(row)) continue;
      INFO(row);
      // A look-up that finds nothing is an answer.
      const bool looks_up = row.starts_with("cuGetProcAddress");
      CHECK(recorded[row] == (looks_up ? std::vector<int>{} : std::vector<int>{codes[row]}));
    }
  }
}

TEST_CASE("every row: nothing that a failing runtime call was given is looked into, and each has its code recorded") {
  NEEDS(scripted_driver);
  std::set<std::string> called;
  for (const auto& library : libraries) {
    if (library == "libcuda.so.1") continue;
    Stage stage;
    stage.script({{"rules", {{{"call", "cuInit"}, {"code", 999}}}}});
    const auto journal = unnoticed(stage, library, "fresh", "forbidden");
    std::map<std::string, int> failed;
    for (const Line& line : journal.failures())
      if (line.at("code") == 999) ++failed[line.at("api")];
    add_calls(called, journal);
    const Line calls = calls_of(journal);
    for (const auto& [row, count] : calls.items()) {
      if (!row.starts_with("cuda") || row.starts_with("cudaGetDriverEntryPoint")) continue;
      INFO(library << ' ' << row);
      CHECK(failed[row] == count);
    }
  }
  for (const auto& row : rows())
    if (row.starts_with("cuda")) CHECK(called.contains(row) != is_nowhere(row));
}

namespace {

Journal over_agreeing_library(const std::string& sort) {
  Stage stage(Cuda::none);
  stage.set("LD_LIBRARY_PATH", program("agreeing_library"));
  const auto journal = unnoticed(stage, "libcuda.so.1", "fresh", sort);
  std::set<std::string> called;
  add_calls(called, journal);
  for (const auto& row : rows()) CHECK(called.contains(row));
  CHECK(journal.failures().empty());
  return journal;
}

}  // namespace

TEST_CASE("every row: a success that handed out nothing is no block") {
  const auto journal = over_agreeing_library("null");
  CHECK(journal.allocations().size() > 80);
  for (const Line& line : journal.allocations()) {
    // A binding is known by what it binds.
    if (line.at("api").get<std::string>().starts_with("cuMulticastBind")) continue;
    INFO(line);
    CHECK(line.at("p") == "0x0");
    CHECK_FALSE(line.contains("i"));
  }
  const Line end = journal.of_type("end").at(0);
  for (const Line& peak : end.at("peaks")) CHECK(peak.at("bytes") == 0);
}

TEST_CASE("every row: whatever a success says that it handed out, totals stay those of the live blocks") {
  for (const std::string sort : {"zeroed", "foreign"}) {
    INFO(sort);
    const auto journal = over_agreeing_library(sort);
    for (const Line& line : journal.of_type("event"))
      if (line.contains("u")) CHECK(line.at("u") < std::numeric_limits<std::int64_t>::max());
  }
}
