// Processes of one time, seen as one job.
#include <nlohmann/json.hpp>

#include "fleet_journals.hpp"

using namespace gpumem;
using namespace gpumem::fleet;

TEST_CASE("a device's peak is the highest sum over its processes, whatever number it has in each") {
  Job job;
  // Each one's own peak is 300 and 200, at times when the other holds little; together 350 at 1060.
  job.add(1, process_of(1, 0) + device(0, "GPU-A") + alloc_at(1000, 1, 100, 0, 7) + alloc_at(1010, 2, 200) +
                 free_at(1020, 2) + alloc_at(1060, 3, 50, 0, 9) + free_at(1070, 1) + end_at(2000));
  job.add(2, process_of(2, 500) + device(0, "GPU-B") + device(3, "GPU-A") + alloc_at(540, 1, 200, 3, 5) +
                 free_at(580, 1) + alloc_at(590, 2, 10, 3) + alloc_at(600, 3, 40) + end_at(1500));
  const Fleet& fleet = job.fleet();
  REQUIRE(fleet.devices.size() == 2);
  const FleetDevice& both = fleet.devices[fleet.devices[0].identity.uuid == "GPU-A" ? 0 : 1];
  CHECK(both.peak == 350);
  CHECK(both.peak_wall_ns == epoch + 1060);
  REQUIRE(both.shares.size() == 2);
  CHECK(both.shares[0].bytes == 200);
  CHECK(fleet.processes[both.shares[0].process].process->process.pid == 2);
  CHECK(both.shares[0].device == 3);
  CHECK(both.shares[1].bytes == 150);
  CHECK_FALSE(both.shares[0].as_of_ns);
  REQUIRE(both.shares[0].sites.size() == 1);
  CHECK(both.shares[0].sites[0].key.stack == 5);
  REQUIRE(both.shares[1].sites.size() == 2);
  CHECK(both.shares[1].sites[0].key.stack == 7);
  CHECK(both.shares[1].sites[1].key.stack == 9);
}

TEST_CASE("a process that has ended holds nothing, one that vanished may go on holding what it held") {
  const std::string first = process_of(1, 0) + device(0, "GPU-A") + alloc_at(10, 1, 100);
  const std::string second = process_of(2, 50) + device(0, "GPU-A") + alloc_at(900, 1, 70) + end_at(1000);
  Job ended;
  ended.add(1, first + end_at(500));
  ended.add(2, second);
  CHECK(ended.fleet().devices[0].peak == 100);
  Job vanished;
  vanished.add(1, first + free_at(60, 9));
  vanished.add(2, second);
  const FleetDevice device = vanished.fleet().devices[0];
  CHECK(device.peak == 170);
  CHECK(device.shares[0].may_have_ended);
  CHECK(device.shares[0].as_of_ns == 60u);
  CHECK_FALSE(device.shares[1].may_have_ended);
}

TEST_CASE("processes one after the other are no job, and two jobs of a folder are two, the newest first") {
  const auto two_at = [](Job& job, int pid, std::uint64_t wall) {
    for (int i = 0; i < 2; ++i)
      job.add(pid + i, process_of(pid + i, wall) + device(0, "GPU-A") + alloc_at(10, 1, 100) + end_at(500));
  };
  Job alone;
  alone.add(1, process_of(1, 0) + device(0, "GPU-A") + alloc_at(10, 1, 100) + end_at(500));
  alone.add(2, process_of(2, 501) + device(0, "GPU-A") + alloc_at(10, 1, 100) + end_at(500));
  CHECK(alone.fleets().empty());
  Job twice;
  two_at(twice, 1, 0);
  two_at(twice, 11, 5000);
  REQUIRE(twice.fleets().size() == 2);
  CHECK(twice.fleets()[0].processes[0].began == epoch + 5000);
}

TEST_CASE("ranks are compared, missing ones are named, and a fork's child is no rank of its own") {
  Job job;
  const auto add = [&job](int number, int bytes) {
    job.add(10 + number, process_of(10 + number, 0, rank(number, R"(,"WORLD_SIZE":"7","SLURM_PROCID":"0")")) +
                             device(0, "GPU-" + std::to_string(number)) + alloc_at(10, 1, bytes) + end_at(500));
  };
  for (const int number : {0, 1, 3}) add(number, 400 * mib);
  add(4, 501 * mib);  // more than a quarter above the median
  add(5, 500 * mib);  // not more
  job.add(99, process_of(99, 100, rank(4), "node1",
                         R"(,"ppid":14,"forked_from":{"pid":14,"journal":"x","events":2,"initialized":false})") +
                  device(0, "GPU-4") + alloc_at(10, 1, 5) + end_at(50));
  const Fleet& fleet = job.fleet();
  CHECK(fleet.rank_variable == "RANK");
  CHECK(fleet.world_size == 7u);
  CHECK(fleet.missing_ranks == std::vector<std::uint64_t>{2, 6});
  CHECK(fleet.median_peak == 400ull * mib);
  REQUIRE(fleet.stragglers.size() == 1);
  CHECK(fleet.stragglers[0].rank == 4);
  CHECK(fleet.peak_of_rank.at(4) == 501ull * mib);
  REQUIRE(fleet.processes.size() == 6);
  CHECK_FALSE(fleet.processes[3].is_child);
  CHECK(fleet.processes[4].is_child);
  CHECK(fleet.processes[4].process->process.pid == 99);
}

TEST_CASE("small differences make no straggler, and two ranks are not compared") {
  const auto stragglers = [](const std::vector<int>& sizes) {
    Job job;
    for (int i = 0; i < static_cast<int>(sizes.size()); ++i)
      job.add(i + 1, process_of(i + 1, 0, rank(i)) + alloc_at(10, 1, sizes[static_cast<std::size_t>(i)]) + end_at(500));
    return job.fleet().stragglers.size();
  };
  CHECK(stragglers({10 * mib, 10 * mib, 70 * mib}) == 0);
  CHECK(stragglers({10 * mib, 10 * mib, 75 * mib}) == 1);
  CHECK(stragglers({10 * mib, 700 * mib}) == 0);
}

TEST_CASE("a context where a process has no memory is told with its cost, unless it is all that the process has") {
  const auto sample = [](int ns, int free) {
    return R"({"t":"sample","ns":)" + std::to_string(ns) + R"(,"tid":7,"why":"context","d":0,"free":)" +
           std::to_string(free) + R"(,"total":2000000000})" + "\n";
  };
  const std::string devices = device(0, "GPU-A") + device(1, "GPU-B");
  Job job;
  job.add(1, process_of(1, 0) + devices + sample(2, 1000 * mib) + context(5, 0) + sample(6, 700 * mib) + context(8, 1) +
                 alloc_at(10, 1, 64 * mib, 1) + end_at(500));
  job.add(2, process_of(2, 0) + devices + context(5, 0) + alloc_at(10, 1, mib, 0) + end_at(500));
  const Fleet& fleet = job.fleet();
  const FleetDevice& shared = fleet.devices[fleet.devices[0].identity.uuid == "GPU-A" ? 0 : 1];
  REQUIRE(shared.strays.size() == 1);
  CHECK(fleet.processes[shared.strays[0].process].process->process.pid == 1);
  CHECK(shared.strays[0].costs == 300 * mib);
  CHECK(shared.strays[0].peak == 0);
  CHECK(fleet.devices[fleet.devices[0].identity.uuid == "GPU-A" ? 1 : 0].strays.empty());
}

TEST_CASE("where events are missing a share is as of the checkpoint before, but for the peak that is known") {
  const auto go_on = [](const std::string& snapshot) {
    return R"({"t":"process","ns":1000,"tid":1,"schema":1,"wall_ns":)" + std::to_string(epoch) +
           R"(,"pid":1,"host":"node1","start":5,"n":0,"exe":"a","segment":4})" + "\n" +
           R"({"t":"checkpoint","ns":1010,"tid":1,"part":"begin","n":1,"events":9,"failures":0,"lost":{"lines":0,"blocks":0,"stacks":0},"last_block":2,"contexts":[],"totals":[{"d":0,"k":"device","live":30,"peak":400}],"summits":[],"snapshots":[)" +
           snapshot + "],\"dropped\":{\"segments\":1}}\n" +
           R"({"t":"live","ns":1011,"tid":1,"k":"device","d":0,"c":1,"blocks":[[2,"0x1002",30,1,700,7]]})" + "\n" +
           R"({"t":"checkpoint","ns":1020,"tid":1,"part":"end","n":1,"sites":0,"blocks":1})" + "\n" + end_at(2000);
  };
  const std::string start = process_of(1, 0) + device(0, "GPU-A") + alloc_at(10, 1, 100) + free_at(20, 9);
  const std::string other =
      process_of(2, 0) + device(0, "GPU-A") + alloc_at(600, 1, 70) + free_at(610, 1) + end_at(2000);
  Job job;
  job.add(1, start);
  job.add(1, go_on(""), 4);
  job.add(2, other);
  const FleetDevice thinned = job.fleet().devices[0];
  CHECK(thinned.peak == 170);
  CHECK(thinned.peak_wall_ns == epoch + 600);
  REQUIRE(thinned.shares.size() == 2);
  CHECK(thinned.shares[0].as_of_ns == 20u);
  CHECK_FALSE(thinned.shares[1].as_of_ns);
  Job known;
  known.add(1, start);
  known.add(1, go_on(R"({"d":0,"ns":605,"bytes":400})"), 4);
  known.add(2, other + alloc_at(700, 2, 90) + free_at(710, 2) + alloc_at(1990, 3, 450));
  const FleetDevice summit = known.fleet().devices[0];
  CHECK(summit.peak == 480);  // 450, and the 30 that are listed; not 400 for longer than its moment
  Job highest;
  highest.add(1, start);
  highest.add(1, go_on(R"({"d":0,"ns":605,"bytes":400})"), 4);
  highest.add(2, other + alloc_at(700, 2, 90));  // beside what was live before and after that moment
  const FleetDevice top = highest.fleet().devices[0];
  CHECK(top.peak == 470);
  CHECK_FALSE(top.shares[0].as_of_ns);
  CHECK(top.shares[0].sites.empty());
  CHECK(top.shares[1].sites.size() == 1);
}

TEST_CASE("devices of two hosts are their own, and the report says whose dates it shows") {
  Job job;
  for (int i = 0; i < 2; ++i) {
    const std::string host = "node" + std::to_string(i + 1);
    job.add(i + 1, process_of(i + 1, 0, rank(i), host) + device(0, "GPU-" + host) + alloc_at(10, 1, 100) + end_at(500),
            0, host);
  }
  const Fleet& fleet = job.fleet();
  CHECK(fleet.hosts == std::set<std::string>{"node1", "node2"});
  REQUIRE(fleet.devices.size() == 2);
  CHECK(fleet.devices[0].peak == 100);
  const auto text = gpumem_in(job.folder, "report .");
  CHECK_THAT(text, ContainsSubstring("2 processes on 2 devices, at the same time\n"));
  CHECK_THAT(text, ContainsSubstring("Dates are each host's own"));
  CHECK_THAT(text, ContainsSubstring("Largest peak of rank 0: 100 bytes; of rank 1: 100 bytes."));
}

TEST_CASE("who ended badly while others went on is told, in text and in JSON") {
  Job job;
  for (int i = 0; i < 3; ++i)
    job.add(i + 1, process_of(i + 1, 0, rank(i)) + device(0, "GPU-A") + alloc_at(10, 1, 100) +
                       (i == 1 ? "" : end_at(900'000'000)));
  // Children neither go on nor end badly as far as this is about.
  const std::string child = process_of(9, 0, rank(0), "node1", R"(,"ppid":1)");
  job.add(8, child + free_at(20, 9));
  job.end(8, 300'000'000, R"("exit_status":1,"signal":null)");
  job.add(9, child + end_at(900'000'000));
  job.end(2, 400'000'000, R"("exit_status":null,"signal":9)");
  const auto text = gpumem_in(job.folder, "report .");
  CHECK_THAT(text, ContainsSubstring("rank 1, train (pid 2) was killed by signal 9 (SIGKILL)"));
  CHECK_THAT(text, ContainsSubstring("2 other processes went on, for 500.0 ms at the longest."));
  CHECK(text.find("1 other process") == std::string::npos);
  CHECK(text.find("3 other processes") == std::string::npos);
  const auto whole = nlohmann::json::parse(gpumem_in(job.folder, "report . --format json"));
  const auto& fleet = whole.at("fleet").at(0);
  CHECK(fleet.at("processes").at(3).at("went_on_after_it") == 2);
  CHECK(fleet.at("devices").at(0).at("peak_bytes") == 300);
  CHECK(fleet.at("ranks").at("missing").empty());
  CHECK_FALSE(nlohmann::json::parse(gpumem_in(job.folder, "peak . --format json")).contains("fleet"));
}
