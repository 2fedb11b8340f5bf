// Takes out of journals and their sidecars what says whose they are: command lines, working directories, host names,
// home folders and user names in paths. What the reports need otherwise stays.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace gpumem {

class Redaction {
 public:
  // The names of this machine's user are known from the start.
  Redaction();

  void add_host(const std::string& host);
  void add_user(const std::string& user);
  // Whom a home folder, as the paths of `line` name it, belongs to.
  void add_users_of(std::string_view text);

  // A line of a journal, without its newline; nothing readable is left of one that is no JSON object.
  std::string line(std::string_view text) const;
  // A sidecar.
  std::string sidecar(std::string_view text) const;
  // Of a file.
  std::string name(const std::string& name) const { return text(name); }

 private:
  std::string text(std::string_view original) const;
  bool is_harmless(std::string_view line) const;
  void redact(nlohmann::ordered_json& value, int depth) const;
  void redact_object(nlohmann::ordered_json& object, int depth) const;

  std::map<std::string, std::string> hosts_;  // to what stands for them
  std::set<std::string> users_;
};

}  // namespace gpumem
