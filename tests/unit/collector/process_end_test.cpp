#include "analyze/process_end.hpp"

#include <unistd.h>

#include "catch.hpp"
#include "model/proc_stat.hpp"

using namespace gpumem;

namespace {

ProcessRecord of_this_process() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  ProcessRecord process;
  process.host = host;
  process.pid = ::getpid();
  process.start = read_proc_stat(::getpid())->start;
  return process;
}

}  // namespace

TEST_CASE("a process with an end line reached its end, with the status that the sidecar knows") {
  ExitRecord status;
  status.exit_status = 3;
  const auto end = judge_end({}, true, false, status);
  CHECK(end.how == Ending::normal);
  CHECK(end.exit_status == 3);
}

TEST_CASE("without an end line the sidecar tells") {
  ExitRecord status;
  status.exit_status = 3;
  CHECK(judge_end({}, false, false, status).how == Ending::exited);
  status.exit_status.reset();
  status.signal = 9;
  CHECK(judge_end({}, false, false, status).how == Ending::killed);
}

TEST_CASE("without a sidecar this machine tells whether the process still runs") {
  auto process = of_this_process();
  CHECK(judge_end(process, false, false, {}).how == Ending::running);
  process.start += 1;
  CHECK(judge_end(process, false, false, {}).how == Ending::vanished);
  process.host = "another";
  CHECK(judge_end(process, false, false, {}).how == Ending::unknown);
}

TEST_CASE("the exit status of a process that called exec belongs to its last journal") {
  ExitRecord status;
  status.signal = 9;
  CHECK(judge_end(of_this_process(), false, true, status).how == Ending::replaced);
}
