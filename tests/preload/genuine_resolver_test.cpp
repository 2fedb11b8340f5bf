// Over genuine drivers, the pointer that a look-up returns is the wrapper of the very export that the driver gave.
#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "genuine.hpp"

using namespace gpumem::test;

namespace {

using Names = std::set<std::string>;

Names rows() {
  const auto symbols = listed_symbols("shim/api/cuda_api.def");
  return {symbols.begin(), symbols.end()};
}

// The names of the rows with and without what tells their ABIs apart, and what nobody exports.
Names asked_names() {
  static const std::regex suffix("(_v[0-9]+)?(_ptds|_ptsz)?$");
  Names names = rows();
  for (const auto& row : rows())
    names.insert(std::regex_replace(row, suffix, "", std::regex_constants::format_first_only));
  names.insert("");
  names.insert("cuNoSuchFunction");
  return names;
}

// Every version that a driver could have, and all in which an ABI of CUDA's headers appeared.
std::set<int> asked_versions() {
  std::set<int> versions = {-1, 0};
  for (int version = 2000; version <= 13000; version += 10) versions.insert(version);
  const auto header = toolkit_folder() / "include/cudaTypedefs.h";
  if (missing(Need::nvcc).empty() && std::filesystem::exists(header)) {
    static const std::regex suffix(R"(_v(\d{4,5})\b)");
    const auto text = read_text(header);
    for (std::sregex_iterator match(text.begin(), text.end(), suffix), end; match != end; ++match)
      versions.insert(std::stoi((*match)[1]));
  }
  return versions;
}

template <typename Entries>
std::string write_list(const Stage& stage, const char* name, const Entries& entries) {
  std::ostringstream text;
  for (const auto& entry : entries) text << entry << '\n';
  write_text(stage.folder() / name, text.str());
  return stage.folder() / name;
}

Names exports_of(const std::filesystem::path& library) {
  const auto outcome = run({{"readelf", "--wide", "--dyn-syms", library}, plain_environment()});
  REQUIRE(outcome.status == 0);
  static const std::regex defined(R"(FUNC +GLOBAL +DEFAULT +[0-9]+ (\w+))");
  Names names;
  for (std::sregex_iterator match(outcome.out.begin(), outcome.out.end(), defined), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

struct Answer {
  std::string without_file;  // all but the file that the pointer lies in
  std::string owner, file;
};

std::vector<Answer> answers(const std::string& output) {
  std::vector<Answer> all;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) {
    const auto before_file = line.rfind(' ');
    const auto before_owner = line.rfind(' ', before_file - 1);
    all.push_back({line.substr(0, before_file), line.substr(before_owner + 1, before_file - before_owner - 1),
                   line.substr(before_file + 1)});
  }
  return all;
}

void same_answers_with_our_wrappers(const std::string& driver) {
  NEEDS_PART(missing_driver(driver));
  NEEDS(readelf);
  Stage stage(Cuda::none);
  stage.set("LD_LIBRARY_PATH", genuine_driver(driver));
  const auto versions = asked_versions();
  const auto names = asked_names();
  const std::vector<std::string> argv = {program("resolve_all"), write_list(stage, "names", names),
                                         write_list(stage, "versions", versions), write_list(stage, "exports", rows())};
  const auto bare = stage.run_bare(argv), traced = stage.run_traced(argv);
  REQUIRE(bare.status == 0);
  REQUIRE(traced.status == 0);
  constexpr int abis = 2, flag_values = 3;
  const auto look_ups = std::to_string(abis * flag_values * names.size() * versions.size()) + " look-ups\n";
  CHECK(bare.out.substr(bare.out.size() - look_ups.size()) == look_ups);

  const auto expected = answers(bare.out), got = answers(traced.out);
  REQUIRE(expected.size() == got.size());
  const auto wrapped = rows();
  Names handed_out;
  for (std::size_t i = 0; i + 1 < got.size(); ++i) {
    INFO("without the shim: " << expected[i].without_file << "\nwith the shim:    " << got[i].without_file);
    REQUIRE(got[i].without_file == expected[i].without_file);
    const bool is_row = wrapped.count(got[i].owner) != 0;
    const bool is_found = got[i].owner != "NULL";
    REQUIRE(got[i].file == (is_row ? "libgpumemshim.so" : is_found ? "libcuda.so.1" : "-"));
    REQUIRE(expected[i].file == (is_found ? "libcuda.so.1" : "-"));
    if (is_row) handed_out.insert(got[i].owner);
  }
  // Every row that this driver has was reached.
  std::size_t known = 0;
  for (const auto& symbol : exports_of(genuine_driver(driver) / "libcuda.so.1"))
    if (wrapped.count(symbol) != 0) {
      INFO(symbol);
      ++known;
      CHECK(handed_out.count(symbol) == 1);
    }
  CHECK(known > 120);
  CHECK(stage.journal().of_type("end").at(0).at("routes").at("unrecognised") == 0);
}

}  // namespace

TEST_CASE("genuine resolver: driver 550 gives each look-up the wrapper of its own export") {
  same_answers_with_our_wrappers("550");
}

TEST_CASE("genuine resolver: driver 535 gives each look-up the wrapper of its own export") {
  same_answers_with_our_wrappers("535");
}
