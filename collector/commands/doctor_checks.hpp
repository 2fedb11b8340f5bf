// What `gpumem doctor` found, put into the form of a failure that the table of causes can be asked about.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.hpp"
#include "model/machine.hpp"

namespace gpumem {

struct Check {
  bool is_good = true;
  std::string what;
  std::string text;
};

// One for each thing that a start of CUDA needs, in the order in which a person would look.
std::vector<Check> checks_of(const Machine& machine, const nlohmann::ordered_json& attempt);

// Why the attempt failed; nothing where CUDA started on every device.
std::optional<Diagnosis> diagnose_attempt(const nlohmann::ordered_json& probe, const nlohmann::ordered_json& attempt);

// "cuInit answered 100 (CUDA_ERROR_NO_DEVICE)"
std::string outcome_text(const nlohmann::ordered_json& attempt);

}  // namespace gpumem
