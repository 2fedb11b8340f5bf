// Every number can be traced to the line of the journal that it was read from.
#include "catch.hpp"
#include "journal_texts.hpp"
#include "report_texts.hpp"

using namespace gpumem;

namespace {

const std::string failed_start =
    process_line +
    R"({"t":"failure","ns":1000,"tid":7,"api":"cuInit","tried":"init","code":2,"name":"CUDA_ERROR_OUT_OF_MEMORY","first":true,"start":true,"s":0})"
    "\n"
    R"({"t":"state","ns":1001,"tid":7,"limits":{"as":17179869184},"memory":{"virtual":4096}})"
    "\n"
    R"({"t":"probe","ns":1002,"tid":7,"status":"ok","took":5,"said":"{\"nvml\":{\"status\":\"absent\",\"reason\":\"no such file\"}}"})"
    "\n";

}  // namespace

TEST_CASE("an explained failure names the lines behind its evidence, and shows them as they stand in the file") {
  const auto text = report_of(failed_start, "failures --explain");
  CHECK_THAT(text, ContainsSubstring("state line at 1001 ns: limits.as"));
  CHECK_THAT(text, ContainsSubstring(":3: {\"t\":\"state\",\"ns\":1001"));
  CHECK_THAT(text, ContainsSubstring(":2: {\"t\":\"failure\""));
  CHECK(report_of(failed_start, "failures").find("lines of the journal behind") == std::string::npos);
}

TEST_CASE("the JSON of a failure names the record of each piece of evidence") {
  const auto text = report_of(failed_start, "failures --format json");
  const auto why = nlohmann::json::parse(text)["processes"][0]["failures"][0]["diagnosis"];
  CHECK(why["id"] == "address_space_limit");
  CHECK(why["evidence"][0]["record"] == nlohmann::json{{"t", "state"}, {"ns", 1001}, {"tid", 7}});
  CHECK(why["evidence"][0]["where"] == "limits.as");
}
