// Python stacks: what the shim reads of them against what the interpreters say themselves, on each version found.
//
// Interpreters are python3.N of the PATH, those that scripts/genuine fetches, and those of the list
// GPUMEM_TEST_PYTHONS, separated by colons.
#include <cstdlib>
#include <sstream>

#include "stage.hpp"

using namespace gpumem::test;

namespace {

const std::string checker = (build_folder() / "tests/programs/libpython_checker.so").string();

std::string script(const std::string& name) { return python_program("python/" + name + ".py"); }

std::string said_by(const std::string& interpreter, const std::string& expression) {
  const auto outcome =
      run({{interpreter, "-c", "import os, sys, sysconfig; print(" + expression + ", end='')"}, plain_environment()});
  return outcome.status == 0 ? outcome.out : "";
}

// The interpreter of Python 3.<minor>; empty where none is here.
std::string find_python(int minor) {
  const std::string name = "python3." + std::to_string(minor);
  std::vector<std::string> candidates;
  const char* listed = std::getenv("GPUMEM_TEST_PYTHONS");
  std::istringstream list(listed != nullptr ? listed : "");
  for (std::string path; std::getline(list, path, ':');) candidates.push_back(path);
  std::istringstream folders(plain_environment()["PATH"]);
  for (std::string folder; std::getline(folders, folder, ':');) candidates.push_back(folder + "/" + name);
  candidates.push_back((build_folder() / "genuine/pythons" / name).string());
  for (const auto& path : candidates) {
    if (!std::filesystem::exists(path)) continue;
    const auto said = said_by(path, "'3.%d %s' % (sys.version_info[1], sys.executable)");
    const std::string wanted = name.substr(std::string("python").size()) + " ";
    if (!said.starts_with(wanted)) continue;
    // What stands there may be a script that finds the interpreter, which may not run without it.
    const std::string executable = said.substr(wanted.size());
    return said_by(executable, "1") == "1" ? executable : path;
  }
  return {};
}

struct Python {
  std::string path;

  Outcome run(const std::string& name, const std::vector<std::string>& arguments = {},
              const Environment& more = {}) const {
    Environment environment = plain_environment();
    environment["CHECKER"] = checker;
    environment["PYTHONDONTWRITEBYTECODE"] = "1";
    environment.insert(more.begin(), more.end());
    std::vector<std::string> argv{path, "-W", "ignore", script(name)};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return gpumem::test::run({argv, environment, {}, std::chrono::seconds(full() ? 1450 : 120)});
  }
};

void check_passes(const Outcome& outcome) {
  INFO(outcome);
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find(" wrong 0 refused 0 declined") != std::string::npos);
}

}  // namespace

#define NEEDS_PYTHON(python)                                                                            \
  const Python python{find_python(minor)};                                                              \
  if (python.path.empty()) {                                                                            \
    skipped("no Python 3." + std::to_string(minor) + " in PATH, GPUMEM_TEST_PYTHONS or build/genuine"); \
    return;                                                                                             \
  }

#define ON_EACH_PYTHON ((int minor), minor), 8, 9, 10, 11, 12, 13, 14, 15

TEMPLATE_TEST_CASE_SIG("python stacks: a random program among restless threads", "", ON_EACH_PYTHON) {
  NEEDS_PYTHON(python);
  check_passes(python.run("random_program", {full() ? "1000000" : "10000"}));
}

TEST_CASE("python stacks: a random program whose greenlets take turns on one C stack") {
  NEEDS(python_clients);
  const Python python{client_python()};
  if (said_by(python.path, "__import__('greenlet') and 1") != "1")
    return skipped("the Python clients have no greenlet");
  const Environment unwinder = GENERATE(Environment{}, Environment{{"CHECKER_BY_LIBGCC", "1"}});
  const auto outcome = python.run("random_program", {full() ? "1000000" : "20000"}, unwinder);
  check_passes(outcome);
  CHECK(outcome.out.find(" 0 greenlets came back") == std::string::npos);
}

TEMPLATE_TEST_CASE_SIG("python stacks: a random program with another evaluator", "", ((int minor), minor), 9, 10, 11,
                       12, 13, 14, 15) {
  NEEDS_PYTHON(python);
  const auto outcome = python.run("random_program", {full() ? "200000" : "5000", "evaluator"});
  check_passes(outcome);
  CHECK(outcome.out.find(" 0 frames evaluated apart") == std::string::npos);
}

TEMPLATE_TEST_CASE_SIG("python stacks: code objects that come again at the same addresses", "", ON_EACH_PYTHON) {
  NEEDS_PYTHON(python);
  check_passes(python.run("code_that_moves"));
}

TEMPLATE_TEST_CASE_SIG("python stacks: wrong offsets end the reading, not the program", "", ON_EACH_PYTHON) {
  NEEDS_PYTHON(python);
  const auto outcome = python.run("wrong_offsets", {full() ? "200000" : "20000"});
  INFO(outcome);
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "-5 a pointer leads nowhere\n-6\n");
}

TEMPLATE_TEST_CASE_SIG("python stacks: many that are refused end the reading", "", ON_EACH_PYTHON) {
  NEEDS_PYTHON(python);
  const auto outcome = python.run("refused_later");
  INFO(outcome);
  CHECK(outcome.out == "17 -6 0 too many stacks were refused\n");
}

TEMPLATE_TEST_CASE_SIG("python stacks: daemon threads while the interpreter ends", "", ON_EACH_PYTHON) {
  NEEDS_PYTHON(python);
  for (int i = 0; i < (full() ? 40 : 2); ++i) {
    const auto outcome = python.run("finalizing", {}, {{"CHECKER_REPORT", "1"}});
    INFO(outcome);
    CHECK(outcome.status == 0);
    long read = 0, finalizing = 0, refused = 0, declined = 0;
    REQUIRE(std::sscanf(outcome.err.c_str(), "read %ld finalizing %ld refused %ld declined %ld", &read, &finalizing,
                        &refused, &declined) == 4);
    CHECK(read > 0);
    CHECK(finalizing > 0);
    CHECK(refused + declined == 0);
  }
}

TEMPLATE_TEST_CASE_SIG("python stacks: forked children", "", ON_EACH_PYTHON) {
  NEEDS_PYTHON(python);
  check_passes(python.run("forked_readers"));
}

TEMPLATE_TEST_CASE_SIG("python stacks: a thread that Python has never seen has none", "", ON_EACH_PYTHON) {
  NEEDS_PYTHON(python);
  const auto outcome = python.run("foreign_thread");
  check_passes(outcome);
  CHECK(outcome.out.starts_with("state 1\n"));
}

TEMPLATE_TEST_CASE_SIG("python stacks: an interpreter that a program opened for itself alone", "", ON_EACH_PYTHON) {
  NEEDS_PYTHON(python);
  const auto library = said_by(python.path,
                               "os.path.join(*sysconfig.get_config_vars('LIBDIR', 'INSTSONAME')) "
                               "if sysconfig.get_config_var('Py_ENABLE_SHARED') else ''");
  if (library.empty() || !std::filesystem::exists(library)) {
    skipped("Python 3." + std::to_string(minor) + " has no shared library here");
    return;
  }
  Environment environment = plain_environment();
  environment["PYTHONHOME"] = said_by(python.path, "sys.prefix");
  const auto outcome = run({{program("python_embedder"), checker, library}, environment});
  INFO(outcome);
  CHECK(outcome.out ==
        "found 0, state 0\nfound 1, state 1\n2 frames\n<string>:2:f\n<string>:3:<module>\n"
        "after the end nothing\n");
  CHECK(outcome.status == 0);
}

namespace {

// "file name:line:function" of a stack's Python frames.
std::vector<std::string> python_frames(const Journal& journal, const Line& event) {
  std::vector<std::string> frames;
  for (const auto& stack : journal.of_type("stack")) {
    if (stack.at("id") != event.at("s")) continue;
    for (const std::string frame : stack.at("f")) {
      for (const auto& place : journal.of_type("python"))
        if (frame == "py:" + std::to_string(place.at("id").get<int>())) {
          frames.push_back(std::filesystem::path(place.at("file").get<std::string>()).filename().string() + ":" +
                           place.at("line").dump() + ":" + place.at("name").get<std::string>());
        }
    }
  }
  return frames;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("python stacks: the journal names the lines that allocated", "", ON_EACH_PYTHON) {
  NEEDS(driver);
  NEEDS_PYTHON(python);
  Stage stage;
  stage.set("PYTHONDONTWRITEBYTECODE", "1");
  const std::vector<std::string> argv{python.path, python_program("ctypes_session.py")};
  const auto bare = stage.run_bare(argv), traced = stage.run_traced(argv);
  INFO(traced);
  CHECK(bare == traced);
  auto journals = read_journals(stage.journals());
  REQUIRE(journals.size() == 2);
  if (journals[0].process().at("ppid") == journals[1].pid()) std::swap(journals[0], journals[1]);
  const Journal &parent = journals[0], &child = journals[1];
  for (const Journal* journal : {&parent, &child}) {
    const auto interpreters = journal->of_type("interpreter");
    REQUIRE(interpreters.size() == 1);
    CHECK(interpreters[0].at("stacks") == "read");
    CHECK(interpreters[0].at("version").get<std::string>().starts_with("3." + std::to_string(minor)));
  }
  using Frames = std::vector<std::string>;
  const auto of_size = [](const Journal& journal, std::uint64_t bytes) {
    const auto found = journal.allocations_of(bytes);
    return found.size() == 1 ? python_frames(journal, found[0]) : Frames{};
  };
  CHECK(of_size(parent, 10007) == Frames{"ctypes_session.py:20:allocate", "ctypes_session.py:31:<module>"});
  CHECK(of_size(child, 20011) == Frames{"ctypes_session.py:20:allocate", "ctypes_session.py:26:<module>"});
  // A thread without a context.
  const auto failures = parent.failures();
  REQUIRE_FALSE(failures.empty());
  CHECK(failures[0].at("n") == 40009);
  const auto on_thread = python_frames(parent, failures[0]);
  REQUIRE(on_thread.size() == 4);
  CHECK(on_thread[0] == "ctypes_session.py:20:allocate");
  CHECK(on_thread[1].starts_with("threading.py:"));
  CHECK(parent.of_type("coverage").back().at("python").at("read") > 0);
  CHECK(parent.of_type("coverage").back().at("python").at("refused") == 0);
}

TEMPLATE_TEST_CASE_SIG("python stacks: GPUMEM_PYTHON=0 leaves native frames, and says so", "", ((int minor), minor),
                       11) {
  NEEDS(driver);
  NEEDS_PYTHON(python);
  Stage stage;
  stage.set("GPUMEM_PYTHON", "0");
  stage.run_traced({python.path, python_program("ctypes_session.py")});
  for (const Journal& journal : read_journals(stage.journals())) {
    CHECK(journal.of_type("python").empty());
    REQUIRE(journal.of_type("interpreter").size() == 1);
    CHECK(journal.of_type("interpreter")[0].at("stacks") == "declined");
    CHECK(journal.of_type("interpreter")[0].at("reason") == "GPUMEM_PYTHON=0");
    for (const auto& stack : journal.of_type("stack")) CHECK(stack.at("py") == "declined");
  }
}

TEMPLATE_TEST_CASE_SIG("python stacks: a version that is not known is declined", "", ((int minor), minor), 7) {
  NEEDS(driver);
  NEEDS_PYTHON(python);
  Stage stage;
  stage.run_traced({python.path, python_program("ctypes_session.py")});
  for (const Journal& journal : read_journals(stage.journals()))
    CHECK(journal.of_type("interpreter").at(0).at("reason") == "Python 3.7 is not known");
}
