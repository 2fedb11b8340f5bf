// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "catch.hpp"
#include "fresh_driver.h"

using namespace simcuda;
using test::fresh_driver;

namespace {

const char* const script = R"({"rules": [{"call": "cuInit", "nth": 1, "code": 999, "log": "the first"},
                                         {"call": "cuMemFree_v2", "log": "another one"}]})";

std::string dump(const fresh_driver& cuda, unsigned* from, std::size_t room = 16384) {
  std::string text(room, '#');
  std::size_t size = room;
  REQUIRE(CU(cuda, cuLogsDumpToMemory, from, text.data(), &size, 0) == 0);
  REQUIRE(size < room);
  CHECK(text[size] == '\0');
  return text.substr(0, size);
}

std::string without_stamps(const std::string& text) {
  std::string rest;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at) + 1;
    const auto head = std::min(text.find("[CUDA]", at), end);
    rest += text.substr(head, end - head);
    at = end;
  }
  return rest;
}

}  // namespace

TEST_CASE("an error log holds what rules write to it, also when cuInit has failed") {
  const fresh_driver cuda(script);
  CHECK(dump(cuda, nullptr).empty());
  REQUIRE(CU(cuda, cuInit, 0) == 999);
  CHECK(without_stamps(dump(cuda, nullptr)) == "[CUDA][E] the first\n");
}

TEST_CASE("an error log is read on from where its iterator stands") {
  const fresh_driver cuda(script);
  CU(cuda, cuInit, 0);
  unsigned place = 0;
  REQUIRE(CU(cuda, cuLogsCurrent, &place, 0) == 0);
  CHECK(dump(cuda, &place).empty());
  CU(cuda, cuMemFree_v2, 0);
  CHECK(without_stamps(dump(cuda, &place)) == "[CUDA][E] another one\n");
  CHECK(dump(cuda, &place).empty());
  CHECK(without_stamps(dump(cuda, nullptr)) == "[CUDA][E] the first\n[CUDA][E] another one\n");
}

TEST_CASE("an error log says where older messages are missing, and always ends with the newest") {
  const fresh_driver cuda(script);
  CU(cuda, cuInit, 0);
  for (int call = 0; call < 100; ++call) CU(cuda, cuMemFree_v2, 0);
  unsigned place = 0;
  const auto overwritten = without_stamps(dump(cuda, &place));
  CHECK(overwritten.starts_with("[CUDA][W] older messages are missing\n[CUDA][E] another one\n"));
  CHECK(std::count(overwritten.begin(), overwritten.end(), '\n') == 101);
  place = 98;
  const auto tight = without_stamps(dump(cuda, &place, 100));
  CHECK(tight == "[CUDA][W] older messages are missing\n[CUDA][E] another one\n");
  CHECK(place == 101);
}

TEST_CASE("an error log refuses a buffer that not even the newest message fits into, and wrong arguments") {
  const fresh_driver cuda(script);
  CU(cuda, cuInit, 0);
  char buffer[8];
  std::size_t size = sizeof buffer;
  CHECK(CU(cuda, cuLogsDumpToMemory, nullptr, buffer, &size, 0) == 1);
  CHECK(size == 0);
  unsigned place = 2;
  size = sizeof buffer;
  CHECK(CU(cuda, cuLogsDumpToMemory, &place, buffer, &size, 0) == 1);
  CHECK(CU(cuda, cuLogsDumpToMemory, nullptr, nullptr, &size, 0) == 1);
  CHECK(CU(cuda, cuLogsDumpToMemory, nullptr, buffer, &size, 1) == 1);
  CHECK(CU(cuda, cuLogsCurrent, &place, 1) == 1);
  CHECK(CU(cuda, cuLogsCurrent, nullptr, 0) == 1);
}

TEST_CASE("an error log is not for forked children") {
  const fresh_driver cuda(script);
  CU(cuda, cuInit, 0);
  REQUIRE(CU(cuda, cuInit, 0) == 0);
  const pid_t child = fork();
  unsigned place = 0;
  if (child == 0) _exit(CU(cuda, cuLogsCurrent, &place, 0));
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(WEXITSTATUS(result) == 3);
}
