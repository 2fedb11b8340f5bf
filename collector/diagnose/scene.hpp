// Everything that is known about one failure, in the words that causes ask in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyze.hpp"
#include "diagnose/diagnosis.hpp"
#include "diagnose/neighbours.hpp"
#include "model/machine.hpp"

namespace gpumem {

class Scene {
 public:
  // All must outlive it. `machine` is null where no probe told anything.
  Scene(const FailureGroup& group, const ProcessAnalysis& process, const Machine* machine, Neighbourhood& neighbours);

  const FailureGroup& group() const { return group_; }
  const FailureRecord& failure() const { return group_.first; }
  const ProcessAnalysis& process() const { return process_; }
  Neighbourhood& neighbours() const { return neighbours_; }
  std::uint64_t wall_ns() const { return process_.process.wall_ns + failure().ns; }

  // What the driver said, in today's numbering.
  std::int64_t code() const { return code_; }

  const Machine* machine() const { return machine_; }
  bool nvml_answered() const { return machine_ && machine_->nvml.status == "ok"; }
  // How old the look at the machine was when the call failed; 0 where it was taken for this failure.
  std::uint64_t machine_age_ns() const;

  // The devices that the call can have been about, by NVML: one where that is known, else all that the process can see.
  const std::vector<const Gpu*>& gpus() const { return gpus_; }
  const Gpu* gpu() const { return gpus_.size() == 1 ? gpus_.front() : nullptr; }
  // What shows on only some of the devices that the call can have been about explains it only perhaps.
  bool is_certain_of_device() const { return gpus_.size() <= 1 || failure().device.has_value(); }
  // How the program knows it: "GPU 0 (SimCUDA GPU 0, 0000:01:00.0)", with NVML's number where it differs.
  std::string name_of(const Gpu& gpu) const;
  std::optional<DeviceOrdinal> ordinal_of(const Gpu& gpu) const;
  const DeviceRecord* device() const;  // as the driver told of it

  // The value that the process had at the failure, and at its start.
  std::optional<std::string> variable(const std::string& name) const;
  std::optional<std::string> variable_at_exec(const std::string& name) const;

  // Whether the process had a context of its own on the device when the call failed.
  bool had_context_on(const Gpu& gpu) const;

  std::optional<std::uint64_t> address_space_limit() const;  // RLIMIT_AS

  // A loaded file whose name contains the text.
  const ModuleRecord* module_named(std::string_view part) const;

  bool is_self(std::int64_t pid) const;

  Evidence from_failure(std::string text) const;
  Evidence from_process(std::string text, std::string where) const;
  Evidence from_state(std::string text, std::string where) const;
  Evidence from_probe(std::string text, std::string where) const;
  Evidence from_gpu(std::string text, const Gpu& gpu, std::string_view key) const;  // what NVML told of it
  Evidence from_driver(std::string text) const;  // its figures just after the failure
  Evidence from_module(std::string text, const ModuleRecord& module) const;
  Evidence from_variable(std::string text, const std::string& name) const;

 private:
  std::vector<const Gpu*> find_gpus() const;
  bool is_device(const Gpu& gpu, const DeviceRecord& device) const;

  const FailureGroup& group_;
  const ProcessAnalysis& process_;
  const Machine* machine_;
  Neighbourhood& neighbours_;
  std::int64_t code_;
  std::vector<const Gpu*> gpus_;
};

}  // namespace gpumem
