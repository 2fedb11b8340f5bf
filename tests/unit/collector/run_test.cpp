// `gpumem run`: the child must not notice us, and whoever waits for us must not notice either.
#include <algorithm>

#include "catch.hpp"
#include "journal_texts.hpp"
#include "program.hpp"

using namespace gpumem;

namespace {

// A child that leaves a journal, as the shim would: as if process $$ had allocated.
const std::string write_journal = R"(
start=$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)
wall=$(date +%s%N)
stem=gpumem-$(hostname)-$$-$start-0
printf '{"t":"process","ns":0,"tid":1,"schema":1,"wall_ns":%s,"pid":%s,"ppid":%s,"host":"%s","start":%s,"n":0,"argv":["child"]}\n' \
  $wall $$ $PPID $(hostname) $start >$GPUMEM_DIR/$stem.0.jsonl
printf '{"t":"event","ns":5,"tid":1,"op":"alloc","api":"cudaMalloc","i":1,"k":"device","n":10001,"d":0,"s":0}\n' \
  >>$GPUMEM_DIR/$stem.0.jsonl
)";

FinishedProgram run(const std::string& arguments) { return run_program(GPUMEM " run " + arguments); }

}  // namespace

TEST_CASE("run ends with the child's status") {
  CHECK(run("--quiet -- sh -c 'exit 7'").status == 7);
  CHECK(run("--quiet -- true").status == 0);
}

TEST_CASE("run ends by the child's signal") {
  // The subshell around it reports its child's signal as 128 + n.
  CHECK(run("--quiet -- sh -c 'kill -TERM $$'").status == 128 + 15);
  CHECK(run("--quiet -- sh -c 'kill -KILL $$'").status == 128 + 9);
  const auto seen = run_program("exec " GPUMEM " run --quiet -- sh -c 'kill -SEGV $$'");
  CHECK(seen.status == 128 + 11);
}

TEST_CASE("a program that cannot be started gives what a shell gives") {
  CHECK(run("-- /nowhere/program").status == 127);
  CHECK(run("-- gpumem-no-such-program").status == 127);
  CHECK(run("-- /etc/passwd").status == 126);
  CHECK(run("-- /etc").status == 126);
  CHECK_THAT(run("-- /nowhere/program").err, ContainsSubstring("/nowhere/program: No such file"));
}

TEST_CASE("standard streams are the child's own") {
  const auto seen = run_program("echo input | " GPUMEM " run --quiet -- sh -c 'cat; echo error >&2'");
  CHECK(seen.out == "input\n");
  CHECK(seen.err == "error\n");
}

TEST_CASE("the shim comes first in LD_PRELOAD, and what was there stays") {
  // A gpumem built with AddressSanitizer would itself refuse to come second.
  const auto seen = run_program("ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=libm.so.6 " GPUMEM
                                " run --quiet -- sh -c 'echo $LD_PRELOAD'");
  CHECK_THAT(seen.out, ContainsSubstring("/libgpumemshim.so:libm.so.6"));
}

TEST_CASE("a signal sent to us alone is passed on") {
  const auto seen = run_program(GPUMEM
                                " run --quiet -- sh -c 'trap \"echo got it; exit 5\" USR1; echo ready; "
                                "while :; do sleep 0.05; done' & sleep 1; kill -USR1 $!; wait $!; exit $?");
  CHECK(seen.out == "ready\ngot it\n");
  CHECK(seen.status == 5);
}

TEST_CASE("signals that were ignored stay ignored for the child") {
  const auto seen = run_program("trap '' HUP; " GPUMEM " run --quiet -- sh -c 'kill -HUP $$; echo alive'");
  CHECK(seen.out == "alive\n");
}

TEST_CASE("the dashes of the child's own command line are the child's") {
  CHECK(run("--quiet -- sh -c 'echo \"$@\"' x -- y").out == "-- y\n");
  CHECK(run("--quiet sh -c 'echo \"$@\"' x -- y").out == "-- y\n");
  CHECK(run("--quiet -- echo --format -o").out == "--format -o\n");
}

TEST_CASE("the summary tells how the child ended, and the sidecar keeps it") {
  const ScratchFolder folder;
  folder.write("child.sh", write_journal + "kill -KILL $$\n");
  const auto seen = run("-o " + folder.path().string() + "/journals -- sh " + folder.path().string() + "/child.sh");
  CHECK(seen.status == 128 + 9);
  CHECK_THAT(seen.err, ContainsSubstring("was killed by signal 9 (SIGKILL)"));
  CHECK_THAT(seen.err, ContainsSubstring("1 block, 9.8 KiB of linear device memory on GPU 0"));
  CHECK_THAT(seen.err, ContainsSubstring("/stand_in/gpumem report "));
  const auto report = run_program(GPUMEM " report " + folder.path().string() + "/journals");
  CHECK(report.status == 0);
  CHECK_THAT(report.out, ContainsSubstring("was killed by signal 9 (SIGKILL)"));
}

TEST_CASE("a run without CUDA says so in one line, or nothing when quiet") {
  const ScratchFolder folder;
  CHECK_THAT(run("-o " + folder.path().string() + " -- true").err, ContainsSubstring("no CUDA call"));
  CHECK(run("--quiet -o " + folder.path().string() + " -- true").err.empty());
}

TEST_CASE("a report that fails never changes the status") {
  const ScratchFolder folder;
  folder.write("child.sh", write_journal + "chmod 500 $GPUMEM_DIR; exec 2>&-; exit 4\n");
  CHECK(run_program(GPUMEM " run -o " + folder.path().string() + "/journals -- sh " + folder.path().string() +
                    "/child.sh 2>/dev/full")
            .status == 4);
}

TEST_CASE("a reader that goes away early is no error, a full disk is") {
  const std::string report = GPUMEM " report '" GOLDEN_FOLDER "/journals/several' --full-stacks --format json";
  const auto early = run_program("exec 3>&1; ( " + report + "; echo ended with $? >&3 ) | head -c 1 >/dev/null");
  CHECK(early.out == "ended with 0\n");
  CHECK(early.err.empty());
  const auto full = run_program(report + " >/dev/full");
  CHECK(full.status == 2);
  CHECK_THAT(full.err, ContainsSubstring("cannot be written"));
}

TEST_CASE("a program that changes its folder is found, and the shim's own line is left to us") {
  const ScratchFolder folder;
  folder.write("child.sh", "cd /\necho quiet is $GPUMEM_QUIET\nmkdir -p $GPUMEM_DIR\n" + write_journal + "exit 3\n");
  const std::string where = "cd " + folder.path().string() + " && env -u GPUMEM_QUIET -u GPUMEM_DIR ";
  const auto seen = run_program(where + GPUMEM " run -- sh child.sh");
  CHECK(seen.status == 3);
  CHECK_THAT(seen.out, ContainsSubstring("quiet is 1"));
  CHECK_THAT(seen.err, ContainsSubstring("gpumem: sh child.sh ended with status 3 after "));
  CHECK_THAT(seen.err, ContainsSubstring(folder.path().string() + "/gpumem/"));
  const auto relative = run_program(where + "GPUMEM_QUIET=0 GPUMEM_DIR=there " GPUMEM " run -- sh child.sh");
  CHECK_THAT(relative.out, ContainsSubstring("quiet is 0"));
  CHECK_THAT(relative.err, ContainsSubstring(folder.path().string() + "/there/"));
  const auto quiet = run_program(where + "GPUMEM_QUIET=0 " GPUMEM " run --quiet -- sh child.sh");
  CHECK_THAT(quiet.out, ContainsSubstring("quiet is 1"));
  CHECK(quiet.err.empty());
}

TEST_CASE("a run that left no journal says how it ended, where we looked, and what may be the cause") {
  const ScratchFolder folder;
  const auto seen = run("-o " + folder.path().string() + " -- sh -c 'exit 6'");
  CHECK_THAT(seen.err, ContainsSubstring("ended with status 6"));
  for (const char* words :
       {"Looked in", "no CUDA call", "GPUMEM_DISABLE=1", "statically", "RTLD_DEEPBIND", "environment"}) {
    CHECK_THAT(seen.err, ContainsSubstring(words));
  }
  CHECK_THAT(seen.err, ContainsSubstring(folder.path().string()));
}

TEST_CASE("usage errors are one sentence that names the help to read") {
  const auto refused = [](const std::string& arguments) {
    const auto seen = run_program("PATH=\"$(dirname '" GPUMEM "'):$PATH\" gpumem " + arguments);
    CHECK(seen.status == 2);
    CHECK(seen.out.empty());
    CHECK(seen.err.starts_with("gpumem: "));
    CHECK(std::count(seen.err.begin(), seen.err.end(), '\n') == 1);
    return seen.err;
  };
  CHECK(refused("bogus") == "gpumem: bogus is no command; see gpumem --help\n");
  CHECK_THAT(refused(""), ContainsSubstring("gpumem --help"));
  CHECK_THAT(refused("report"), ContainsSubstring("gpumem report --help"));
  CHECK_THAT(refused("report --format xml ."), ContainsSubstring("gpumem report --help"));
  CHECK_THAT(refused("peak a b"), ContainsSubstring("gpumem peak --help"));
  CHECK_THAT(refused("run"), ContainsSubstring("gpumem run --help"));
  CHECK_THAT(refused("run --bogus -- true"), ContainsSubstring("--bogus is no option of run; see gpumem run --help"));
  CHECK_THAT(refused("help bogus"), ContainsSubstring("bogus is no command"));
  CHECK_THAT(refused("report ''"), ContainsSubstring("path is empty"));
  CHECK_THAT(refused("report --frames /nowhere/frames ."), ContainsSubstring("/nowhere/frames: the list of frames"));
}

TEST_CASE("help explains every command, and run's usage shows the dashes") {
  CHECK_THAT(run_program(GPUMEM " help").out, ContainsSubstring("First: gpumem run"));
  for (const char* way : {" help run", " run --help"}) {
    const auto seen = run_program(std::string(GPUMEM) + way);
    CHECK(seen.status == 0);
    CHECK_THAT(seen.out, ContainsSubstring("gpumem run [OPTIONS] -- PROGRAM ARGS..."));
    CHECK(seen.out.find("First:") == std::string::npos);
  }
}

TEST_CASE("journals one folder deeper are named") {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.path() / "run1");
  folder.write("run1/gpumem-h-1-2-0.0.jsonl", process_line);
  const auto seen = run_program(GPUMEM " report " + folder.path().string());
  CHECK(seen.status == 2);
  CHECK_THAT(seen.err, ContainsSubstring(folder.path().string() + "/run1"));
}

TEST_CASE("what cannot be answered ends with 2") {
  CHECK(run_program(GPUMEM).status == 2);
  CHECK(run_program(GPUMEM " nonsense").status == 2);
  CHECK(run_program(GPUMEM " report /nowhere").status == 2);
  CHECK(run_program(GPUMEM " report --format xml .").status == 2);
  CHECK(run_program(GPUMEM " run").status == 2);
  CHECK(run_program(GPUMEM " --help").status == 0);
  CHECK(run_program(GPUMEM " --version").status == 0);
}

TEST_CASE("help frames prints a list that can be handed back") {
  ScratchFolder folder;
  const std::string list = (folder.path() / "frames").string();
  CHECK_THAT(run_program(GPUMEM " help frames").out, ContainsSubstring("framework module libtorch*.so*"));
  const auto seen = run_program(GPUMEM " help frames > " + list + "; " GPUMEM " report --frames " + list + " /nowhere");
  CHECK_THAT(seen.err, ContainsSubstring("/nowhere"));
  CHECK(seen.err.find(list) == std::string::npos);
}

TEST_CASE("path and help settings print what they promise") {
  const auto path = run_program(GPUMEM " path");
  CHECK(path.out.starts_with("/"));
  CHECK_THAT(path.out, ContainsSubstring("/libgpumemshim.so\n"));
  const auto settings = run_program(GPUMEM " help settings");
  CHECK_THAT(settings.out, ContainsSubstring("GPUMEM_JOURNAL_MAX       bytes   256M"));
}
