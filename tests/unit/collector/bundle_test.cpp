// `gpumem bundle`: what is in it, and what must not be.
#include <sys/stat.h>

#include "catch.hpp"
#include "commands/redaction.hpp"
#include "journal_texts.hpp"
#include "program.hpp"

using namespace gpumem;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace std::string_literals;

// A folder of journals, packed and unpacked.
struct Bundled {
  ScratchFolder folder;
  fs::path file = folder.path() / "b.tar.gz";
  fs::path unpacked = folder.path() / "gpumem-bundle";
  FinishedProgram outcome;

  explicit Bundled(const fs::path& journals) {
    outcome = run_program(GPUMEM " bundle " + journals.string() + " -o " + file.string());
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    REQUIRE(run_program("tar -C " + folder.path().string() + " -xzf " + file.string()).status == 0);
  }
  std::string all_bytes() const {
    std::string bytes;
    for (const auto& each : fs::directory_iterator(unpacked)) {
      bytes += each.path().filename().string() + "\n" + read_text(each.path());
    }
    return bytes;
  }
};

std::string report(const fs::path& path, const std::string& options = "") {
  const auto outcome = run_program(GPUMEM " report --lenient --full-stacks " + options + " " + path.string());
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  return outcome.out;
}

// Of a JSON report, what redaction may change.
void leave_out(json& value) {
  for (const char* key : {"path", "journal", "host", "arguments", "executable", "driver_library"}) {
    if (value.is_object()) value.erase(key);
  }
  for (auto& each : value) {
    if (each.is_structured()) leave_out(each);
  }
}

const std::string secret_journal =
    R"({"t":"process","ns":0,"tid":7,"schema":1,"wall_ns":1,"pid":7,"ppid":1,"uid":4711,"host":"node secret","start":5,)"
    R"("n":0,"exe":"/home/alice/bin/train","argv":["/home/alice/bin/train","--token=hunter2"],)"
    R"("argv_raw_hex":[null,"68756e74657232"],"cwd":"/scratch/alice/secretproject",)"
    R"("env":{"LD_LIBRARY_PATH":"/home/alice/lib:/data/alice","CUDA_VISIBLE_DEVICES":"0"}})"
    "\n"
    R"({"t":"module","ns":1,"tid":7,"id":1,"path":"/home/alice/l\ufffd.so","path_raw_hex":"2f686f6d652f616c6963652f6cff2e736f","build_id":null})"
    "\n"
    R"({"t":"stack","ns":1,"tid":7,"id":1,"f":["1:0x10"]})"
    "\n"
    R"({"t":"failure","ns":5,"tid":7,"tried":"alloc","api":"cudaMalloc","k":"device","n":64,"d":0,"s":1,"code":2,"name":"x","first":true,)"
    R"("env_now":{"LD_PRELOAD":"/home/alice/p.so"}})"
    "\n"
    R"({"t":"probe","ns":6,"tid":7,"status":"ok","took":5,"said":"{\"nvml\":{\"processes\":[{\"pid\":9,\"name\":\"p\",)"
    R"(\"command\":[\"/home/bob/p\",\"--key=hunter2\"]}]}}"})"
    "\n" +
    "{\"t\":\"event\",\"api\":\"/home/alice/torn\0\0{\"t\":\"new\",\"ns\":1,\"tid\":7,\"x\":\"at /home/alice\"}\nno json of alice\n"s +
    alloc_line(1, 10001);

}  // namespace

TEST_CASE("a bundle holds nothing that says whose the journals are") {
  const ScratchFolder folder;
  folder.write("gpumem-node_secret-7-5-0.0.jsonl", secret_journal);
  folder.write(
      "gpumem-node_secret-7-5-0.status.json",
      R"({"schema":1,"pid":7,"command":["train","--token=hunter2"],"started_ns":1,"ended_ns":2,"exit_status":3,"signal":null})");
  folder.write(
      "gpumem-node_secret-7-5-0.symbols.json",
      R"({"schema":1,"modules":[{"path":"/home/alice/l.so","build_id":null,"frames":{"0x10":[{"function":"work","file":"/home/alice/w.cpp","line":3}]}}]})");
  const Bundled bundled(folder.path());
  const auto bytes = bundled.all_bytes();
  for (const char* secret :
       {"alice", "616c696365", "bob", "hunter2", "68756e7465", "node secret", "node_secret", "secretproject", "4711"}) {
    INFO(secret << " in\n" << bytes);
    CHECK(bytes.find(secret) == std::string::npos);
  }
  for (const char* kept : {"/home/user/bin/train", "/home/user/w.cpp", "CUDA_VISIBLE_DEVICES", "\"exit_status\":3",
                           "gpumem-host1-7-5-0.0.jsonl"}) {
    INFO(kept << " in\n" << bytes);
    CHECK(bytes.find(kept) != std::string::npos);
  }
  auto before = json::parse(report(folder.path(), "--format json")),
       after = json::parse(report(bundled.unpacked, "--format json"));
  CHECK(after["processes"][0]["records"] == before["processes"][0]["records"]);
  CHECK(after["processes"][0]["records"]["torn_lines"] == 1);
  CHECK(after["processes"][0]["records"]["invalid_lines"] == 1);
}

TEST_CASE("the report of a bundle reads as that of the journals") {
  for (const char* journals : {"/journals/several", "/journals/gpumem-node7-5151-7100-0.0.jsonl"}) {
    const fs::path original = std::string(GOLDEN_FOLDER) + journals;
    const Bundled bundled(original);
    auto before = json::parse(report(original, "--format json")),
         after = json::parse(report(bundled.unpacked, "--format json"));
    leave_out(before);
    leave_out(after);
    CHECK(after == before);
  }
}

TEST_CASE("a bundle brings the names that nobody has looked up yet") {
  const ScratchFolder folder;
  folder.write("gpumem-elsewhere-7-5-0.0.jsonl", process_line + alloc_line(1, 5));
  const Bundled bundled(folder.path());
  CHECK(fs::exists(bundled.unpacked / "gpumem-host1-7-5-0.symbols.json"));
}

TEST_CASE("a bundle is its user's alone, replaces nothing, and is whole or not there") {
  const ScratchFolder folder;
  folder.write("gpumem-elsewhere-7-5-0.0.jsonl", process_line + alloc_line(1, 5));
  const Bundled bundled(folder.path());
  struct stat status {};
  REQUIRE(::stat(bundled.file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  const auto again = run_program(GPUMEM " bundle " + folder.path().string() + " -o " + bundled.file.string());
  CHECK(again.status == 2);
  CHECK_THAT(again.err, ContainsSubstring("File exists"));
  fs::create_directory(folder.path() / "gpumem-elsewhere-8-5-0.0.jsonl");
  const auto missing = folder.path() / "missing.tar.gz";
  CHECK(run_program(GPUMEM " bundle /nowhere -o " + missing.string()).status == 2);
  CHECK_FALSE(fs::exists(missing));
}
