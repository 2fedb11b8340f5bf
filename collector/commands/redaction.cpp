#include "commands/redaction.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>

#include "schema.hpp"

namespace gpumem {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view home_folders[] = {"/home/", "/Users/"};
constexpr const char* kept_back = "redacted";
constexpr int deepest = 64;  // no line of ours is nested more

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Replaces each `what` that stands by itself: between characters that belong to no word, behind `before`, if any.
void replace_words(std::string& text, std::string_view what, std::string_view with, char before = '\0') {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
    const std::size_t after = at + what.size();
    const bool begins = before ? at > 0 && text[at - 1] == before : at == 0 || !is_word(text[at - 1]);
    const bool ends = after == text.size() || !is_word(text[after]) || !is_word(what.back());
    if (begins && ends) text.replace(at, what.size(), with);
    at += begins && ends ? with.size() : 1;
  }
}

std::string bytes_of(std::string_view hexadecimal) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(std::strtoul(std::string(hexadecimal.substr(i, 2)).c_str(), nullptr, 16));
  }
  return bytes;
}

std::string dumped(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void keep_first(ordered_json& list) {
  if (list.is_array() && list.size() > 1) list.erase(list.begin() + 1, list.end());
}

}  // namespace

Redaction::Redaction() {
  if (const passwd* user = ::getpwuid(::getuid())) add_user(user->pw_name);
}

void Redaction::add_host(const std::string& host) {
  if (host.empty()) return;
  const auto stand_in = hosts_.try_emplace(host, "host" + std::to_string(hosts_.size() + 1)).first->second;
  // In names of files.
  std::string plain = host;
  for (char& c : plain) c = is_word(c) || c == '.' || c == '-' ? c : '_';
  hosts_.try_emplace(plain, stand_in);
}

void Redaction::add_user(const std::string& user) {
  if (!user.empty() && user != "root") users_.insert(user);
}

void Redaction::add_users_of(std::string_view text) {
  for (const auto folder : home_folders) {
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string_view::npos;) {
      at += folder.size();
      add_user(std::string(text.substr(at, text.find_first_of("/\"\\ :", at) - at)));
    }
  }
}

std::string Redaction::text(std::string_view original) const {
  std::string result(original);
  // A name such as "gpu" would be found in many texts; there it says little.
  constexpr std::size_t shortest = 4;
  for (const auto& [host, stand_in] : hosts_) {
    const auto of_journal = [](const std::string& name) { return std::string(schema::file_prefix) + name + "-"; };
    replace_words(result, of_journal(host), of_journal(stand_in));
    if (host.size() >= shortest) replace_words(result, host, stand_in);
  }
  for (const auto& user : users_) replace_words(result, user, "user", '/');
  return result;
}

// Most lines of a journal are events, and say nothing of anybody: looking into each would take long.
bool Redaction::is_harmless(std::string_view line) const {
  const auto begins = [line](std::string_view type) {
    return line.starts_with("{\"t\":\"" + std::string(type) + "\"");
  };
  if (!begins(schema::line::event) && !begins(schema::line::stack) && !begins(schema::line::sample)) return false;
  return line.find("env_now") == std::string_view::npos && line.find('/') == std::string_view::npos &&
         line.ends_with('}');
}

void Redaction::redact_object(ordered_json& object, int depth) const {
  // Bytes that are no UTF-8 stand beside their text in hexadecimal, where nobody would see a name.
  for (auto each = object.begin(); each != object.end();) {
    const bool is_raw = std::string_view(each.key()).ends_with("_raw_hex");
    const std::string bytes = is_raw && each->is_string() ? bytes_of(each->get_ref<const std::string&>()) : "";
    each = is_raw && (!each->is_string() || text(bytes) != bytes) ? object.erase(each) : std::next(each);
  }
  const auto type = object.find("t");
  if (type != object.end() && *type == std::string(schema::line::process)) {
    if (object.contains("argv")) keep_first(object["argv"]);
    if (object.contains("cwd")) object["cwd"] = "";
    object.erase("argv_raw_hex");
    object.erase("cwd_raw_hex");
    object.erase("uid");
    if (object.contains("host") && object["host"].is_string()) {
      const auto known = hosts_.find(object["host"].get<std::string>());
      object["host"] = known == hosts_.end() ? kept_back : known->second;
    }
  }
  // Of a status sidecar, or of a process that the probe saw.
  if (object.contains("command") && object["command"].is_array()) {
    if (object.contains("pid") && object.contains("started_ns")) {
      keep_first(object["command"]);
    } else {
      object["command"] = nullptr;
      object["reason"] = kept_back;
    }
  }
  // The probe's answer is an object inside a text.
  if (object.contains("said") && object["said"].is_string()) {
    auto said = ordered_json::parse(object["said"].get_ref<const std::string&>(), nullptr, false);
    redact(said, depth + 1);
    object["said"] = said.is_discarded() ? kept_back : dumped(said);
  }
}

void Redaction::redact(ordered_json& value, int depth) const {
  if (value.is_string()) {
    value = text(value.get_ref<const std::string&>());
  } else if (value.is_structured() && depth > deepest) {
    value = kept_back;
  } else if (value.is_structured()) {
    if (value.is_object()) redact_object(value, depth);
    for (auto& each : value) redact(each, depth + 1);
  }
}

std::string Redaction::line(std::string_view original) const {
  if (is_harmless(original)) return std::string(original);
  auto object = ordered_json::parse(original, nullptr, false);
  if (!object.is_object()) return kept_back;
  redact(object, 0);
  return dumped(object);
}

std::string Redaction::sidecar(std::string_view original) const { return line(original) + "\n"; }

}  // namespace gpumem
