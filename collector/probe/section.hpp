// Asks what may never answer: each section runs in a child process of its own, with a deadline for all of them.
//
// What a section has told when the deadline comes, or when it crashes, is kept.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gpumem {

// The section's side. Values become parts of one JSON object as soon as they are told.
class Findings {
 public:
  explicit Findings(int pipe) : pipe_(pipe) {}

  // What is done next: named in the result if it does not return.
  void doing(const std::string& what) { add("/in", what); }
  // `where` is a JSON pointer; "/list/-" appends.
  void add(const std::string& where, const nlohmann::ordered_json& value);
  void done();

 private:
  void send(const std::string& line);
  int pipe_;
};

using Section = std::function<void(Findings&)>;

// One object for each section, in which "status" is "ok" or what the section said instead, "timed out" or "died" (both
// with "in", the latter with "signal"), or "not started" with "reason". Never throws for what a section does.
std::vector<nlohmann::ordered_json> run_sections(const std::vector<Section>& sections,
                                                 std::chrono::milliseconds deadline);

}  // namespace gpumem
