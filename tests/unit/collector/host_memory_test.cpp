// Processes that the kernel ends for want of host memory.
#include "analyze/host_memory.hpp"

#include <csignal>

#include "analyze/analyze.hpp"
#include "catch.hpp"
#include "journal_texts.hpp"
#include "render/text_parts.hpp"

using namespace gpumem;
using Catch::Matchers::Contains;

namespace {

std::string host_line(std::uint64_t ns, const std::string& rest) {
  return "{\"t\":\"host\",\"ns\":" + std::to_string(ns) + ",\"tid\":1,\"why\":\"time\"," + rest + "}\n";
}

const std::string full_group =
    R"("resident":8000000000,"pinned":3000000000,"available":90000000000,"group":{"used":8500000000,"limit":8589934592,"kills":0})";
const std::string easy_group =
    R"("resident":2000000000,"pinned":0,"available":90000000000,"group":{"used":2500000000,"limit":8589934592,"kills":0})";

ProcessAnalysis analyzed(const std::string& lines, const std::string& status = {}) {
  const ScratchFolder folder;
  folder.write("gpumem-elsewhere-7-5-0.0.jsonl", process_line + lines);
  if (!status.empty()) folder.write("gpumem-elsewhere-7-5-0.status.json", status);
  return analyze(find_journals(folder.path()).front(), Strictness::strict);
}

std::string status_of(const std::string& how) {
  return R"({"schema":1,"pid":7,"command":["x"],"started_ns":1,"ended_ns":2,)" + how + "}";
}

}  // namespace

TEST_CASE("a process that was ended by SIGKILL with its memory group full was probably killed by the kernel") {
  const auto process = analyzed(host_line(1, easy_group) + host_line(2, full_group),
                                status_of(R"("exit_status":null,"signal":9,"group_kills":null)"));
  CHECK(process.host_memory.shortage == HostShortage::group_full);
  const std::string text = host_memory_text(process);
  CHECK_THAT(text, Contains("probably killed by the kernel, for its group was full"));
  CHECK_THAT(text, Contains("7.9 GiB of 8.0 GiB"));
  CHECK_THAT(text, Contains("2.8 GiB of host memory pinned"));
  CHECK_THAT(text, Contains("memory.events"));
}

TEST_CASE("the kernel's own count proves it, whatever the last record says") {
  const auto process =
      analyzed(host_line(1, easy_group), status_of(R"("exit_status":null,"signal":9,"group_kills":1)"));
  CHECK(process.host_memory.shortage == HostShortage::group_killed);
  CHECK_THAT(host_memory_text(process), Contains("the kernel killed in the memory control group"));
}

TEST_CASE("a process that ended otherwise was not killed for want of memory, however full the group") {
  for (const char* how : {R"("exit_status":0,"signal":null,"group_kills":1)", R"("exit_status":null,"signal":11)"}) {
    const auto process = analyzed(host_line(1, full_group), status_of(how));
    CHECK(process.host_memory.shortage == HostShortage::none);
    CHECK_THAT(host_memory_text(process), !Contains("kernel"));
  }
  CHECK(analyzed(host_line(1, easy_group), status_of(R"("exit_status":null,"signal":9)")).host_memory.shortage ==
        HostShortage::none);
}

TEST_CASE("without a limit it is the machine that can be out of memory") {
  const auto process = analyzed(host_line(1, R"("resident":60000000000,"pinned":0,"available":100000000)"),
                                status_of(R"("exit_status":null,"signal":9)"));
  CHECK(process.host_memory.shortage == HostShortage::machine_full);
  CHECK_THAT(host_memory_text(process), Contains("for the machine had no memory left"));
}

TEST_CASE("the highest is told where CUDA pins host memory, and nothing where there is nothing to tell") {
  const auto pinning =
      analyzed(host_line(1, full_group) + host_line(2, easy_group), status_of(R"("exit_status":0,"signal":null)"));
  CHECK_THAT(host_memory_text(pinning), Contains("at its highest") && Contains("at 1 ns"));
  CHECK(host_memory_text(analyzed(host_line(1, easy_group), status_of(R"("exit_status":0,"signal":null)"))).empty());
  CHECK(host_memory_text(analyzed("")).empty());
}
