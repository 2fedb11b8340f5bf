// What hangs or crashes while it is asked costs its own answer, and neither ours nor the others'.
#include "probe/section.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "catch.hpp"

using namespace gpumem;
using namespace std::chrono_literals;

namespace {

nlohmann::ordered_json result_of(const Section& section, std::chrono::milliseconds deadline = 20s) {
  return run_sections({section}, deadline).at(0);
}

void hang(Findings& findings) {
  findings.add("/before", 1);
  findings.doing("the call");
  for (;;) ::pause();
}

}  // namespace

TEST_CASE("a section's findings become one object, lists among them") {
  const auto result = result_of([](Findings& findings) {
    findings.doing("this");
    findings.add("/list/-", 1);
    findings.add("/list/-", {{"text", "two\nlines"}});
    findings.add("/list/1/more", nullptr);
    findings.add("/bad", "\xff");
  });
  CHECK(result.dump() == R"({"status":"ok","list":[1,{"text":"two\nlines","more":null}],"bad":")"
                         "\uFFFD\"}");
}

TEST_CASE("a section that hangs is named with what it had told, and the others' findings are whole") {
  const auto before = std::chrono::steady_clock::now();
  const auto results = run_sections({hang, [](Findings& findings) { findings.add("/told", true); }}, 300ms);
  const auto took = std::chrono::steady_clock::now() - before;
  CHECK(results[0].dump() == R"({"status":"timed out","before":1,"in":"the call"})");
  CHECK(results[1].dump() == R"({"status":"ok","told":true})");
  CHECK(took >= 300ms);
  CHECK(took < 5s);
}

TEST_CASE("a section that crashes is named with the signal") {
  const auto result = result_of([](Findings& findings) {
    findings.doing("the call");
    std::raise(SIGSEGV);
  });
  CHECK(result.dump() == R"({"status":"died","in":"the call","signal":11})");
}

TEST_CASE("a section that throws or leaves dies alone") {
  CHECK(result_of([](Findings&) { throw 1; })["signal"] == SIGABRT);
  const auto left = result_of([](Findings&) { ::_exit(0); });
  CHECK(left["status"] == "died");
  CHECK(left["signal"].is_null());
}

TEST_CASE("what a section says is read whole however long it is") {
  const std::string text(3 << 20, 'x');
  const auto result = result_of([&text](Findings& findings) { findings.add("/text", text); });
  CHECK(result["text"] == text);
}

TEST_CASE("a section prints nothing, and leaves no process behind") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int kept = ::dup(1);
  ::dup2(ends[1], 1);
  ::close(ends[1]);
  const auto result = result_of(
      [](Findings& findings) {
        findings.add("/pid", ::getpid());
        if (::write(1, "noise", 5) < 0) return;
        hang(findings);
      },
      300ms);
  ::dup2(kept, 1);
  ::close(kept);
  char byte;
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
  CHECK(::kill(result["pid"].get<int>(), 0) != 0);
}

TEST_CASE("a section that cannot be started says why") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const auto result = result_of([](Findings&) {});
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(result.dump() == R"({"status":"not started","reason":"EMFILE"})");
}
