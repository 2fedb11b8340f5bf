// Why a device could not be reached, or not be had: files, lists, modes.
#include "catch.hpp"
#include "failed_call.hpp"

using namespace gpumem;

TEST_CASE("no device: hidden by the environment, named wrongly, or no kernel driver") {
  auto call = FailedCall::start(100);
  CHECK(call.why().sureness == Certainty::open);
  call.process.process.kernel_driver.reset();
  CHECK(call.why().id == "no_kernel_driver");
  call.process.process.env["CUDA_VISIBLE_DEVICES"] = "";
  CHECK(call.why().id == "devices_hidden");
  call.group.first.env_now["CUDA_VISIBLE_DEVICES"] = "0";
  CHECK(call.why().id == "no_kernel_driver");
  call.add_gpu(15000);
  call.group.first.env_now["CUDA_VISIBLE_DEVICES"] = "7";
  CHECK(call.why().id == "visible_list_invalid");
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("had become \"7\""));
}

TEST_CASE("a container without the device files") {
  auto call = FailedCall::start(100);
  call.add_node("/dev/nvidiactl", "ENOENT");
  call.add_node("/dev/nvidia0", "ENOENT");
  call.machine["system"]["container_marks"] = {"/.dockerenv"};
  CHECK(call.why().id == "device_nodes");
  CHECK_THAT(all_text(call.why().advice), ContainsSubstring("--gpus all"));
}

TEST_CASE("only the node of UVM is missing, or refused") {
  auto call = FailedCall::start(999);
  call.add_gpu(15000);
  call.add_node("/dev/nvidiactl", "ok");
  call.add_node("/dev/nvidia0", "ok");
  call.add_node("/dev/nvidia-uvm", "ENOENT");
  const auto why = call.why();
  CHECK(why.id == "uvm_node");
  CHECK(why.sureness == Certainty::proven);
  CHECK_THAT(all_text(why.advice), ContainsSubstring("nvidia-modprobe -u"));
  call.machine["device_nodes"]["nodes"][2] = {{"path", "/dev/nvidia-uvm"}, {"exists", true}, {"open", "EACCES"}};
  CHECK_THAT(call.why().verdict, ContainsSubstring("EACCES"));
}

TEST_CASE("an unknown error after a suspend, with all files there") {
  auto call = FailedCall::start(999);
  call.add_gpu(15000);
  for (const char* path : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"}) call.add_node(path, "ok");
  call.machine["system"]["times"] = {{"suspends", 2}, {"since_resume_s", 720.0}};
  call.machine["system"]["holders"] = {
      {{"pid", 88}, {"name", "jupyter"}, {"files", {"/dev/nvidia-uvm"}}, {"state", "S"}}};
  const auto why = call.why();
  CHECK(why.id == "lost_over_suspend");
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("resumed 12 minutes ago"));
  CHECK_THAT(all_text(why.evidence), ContainsSubstring("process 88 (jupyter) holds /dev/nvidia-uvm"));
  CHECK(is_ruled_out(why, "uvm_node"));
  call.machine["system"]["times"]["suspends"] = 0;
  CHECK(call.why().sureness == Certainty::open);
}

TEST_CASE("an exclusive device: held by another process, by this one, or by nobody who is seen") {
  auto call = FailedCall::start(46);
  call.add_gpu(15000)["compute_mode"] = "exclusive_process";
  CHECK(call.why().id == "exclusive_unseen_holder");
  call.add_user(0, 3999, 74, "server");
  CHECK(call.why().id == "exclusive_other_process");
  CHECK_THAT(call.why().verdict, ContainsSubstring("the parent of this process"));
  call.add_user(0, 4000, 300, "self");
  call.add_module("/usr/lib/libOpenCL.so.1");
  CHECK(call.why().id == "exclusive_same_process");
  CHECK_THAT(all_text(call.why().evidence), ContainsSubstring("libOpenCL.so.1 is loaded"));
}

TEST_CASE("a busy device in the default mode with no process leaves the device itself") {
  auto call = FailedCall::start(46);
  call.add_gpu(15000);
  const auto why = call.why();
  CHECK(why.sureness == Certainty::open);
  CHECK(is_ruled_out(why, "exclusive_unseen_holder"));
  CHECK(has_candidate(why, "device_refuses"));
  call.machine["system"]["kernel_log"]["lines"] = {{{"seconds_ago", 3.0}, {"text", "NVRM: Xid (PCI:0000:01:00): 79"}}};
  CHECK(call.why().id == "device_refuses");
}

TEST_CASE("a prohibited device, and one cut into no instances") {
  auto call = FailedCall::start(46);
  call.add_gpu(15000)["compute_mode"] = "prohibited";
  CHECK(call.why().id == "prohibited_mode");
  auto cut = FailedCall::start(100);
  cut.add_gpu(15000)["mig"] = {{"current", true}, {"instances", nlohmann::json::array()}};
  CHECK(cut.why().id == "mig_without_instance");
}

TEST_CASE("a context that is current to another thread of an exclusive-thread device") {
  auto call = FailedCall::start(216);
  call.add_gpu(15000)["compute_mode"] = "exclusive_thread";
  CHECK(call.why().id == "other_thread");
  CHECK(call.why().sureness == Certainty::proven);
}

TEST_CASE("this process holds an exclusive device only where it had a context on that very device") {
  auto call = FailedCall::start(46);
  call.group.first.start = false;
  call.group.first.tried = "context";
  call.group.first.device = 1;
  call.process.devices[1].device = 1;
  call.process.devices[1].uuid = "GPU-1";
  call.process.devices[0].uuid = "GPU-0";
  call.add_gpu(15000);
  call.add_gpu(15000)["compute_mode"] = "exclusive_process";
  call.group.own_contexts = {0};
  call.add_user(1, 3999, 300, "parent");
  CHECK(call.why().id == "exclusive_other_process");
  call.group.own_contexts = {1};
  CHECK(call.why().id == "exclusive_same_process");
}

TEST_CASE("a mode of another device says nothing of the one that was asked for") {
  auto call = FailedCall::start(101);
  call.add_gpu(15000);
  call.add_gpu(15000)["compute_mode"] = "prohibited";
  CHECK(call.why().id != "prohibited_mode");
}

TEST_CASE("without any device no name in the visible list can be right") {
  auto call = FailedCall::start(100);
  call.machine["nvml"] = {{"status", "ok"}, {"devices", nlohmann::json::array()}};
  call.process.process.env["CUDA_VISIBLE_DEVICES"] = "0";
  CHECK(call.why().id == "no_working_device");
}

TEST_CASE("a message of the kernel counts if it is of the device, of this one, and recent") {
  auto call = FailedCall::start(46);
  call.add_gpu(15000);
  const auto with = [&](const char* text, double seconds_ago) {
    call.machine["system"]["kernel_log"]["lines"] = {{{"seconds_ago", seconds_ago}, {"text", text}}};
    return call.why().id;
  };
  CHECK(with("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.", 60) == "device_refuses");
  CHECK(with("NVRM: Xid (PCI:0000:01:00): 31, MMU fault", 60).empty());
  CHECK(with("NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.", 60).empty());
  CHECK(with("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.", 864000).empty());
}
