// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

namespace simcuda {

/// Owns the objects behind one type of handle. A handle is the object's address; whether it is alive is looked up,
/// never guessed from what it points to. Guarded by machine::mutex.
template <class Object>
class handle_table {
 public:
  template <class... Arguments>
  Object* create(Arguments&&... arguments) {
    auto object = std::unique_ptr<Object>(new Object(std::forward<Arguments>(arguments)...));
    Object* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  bool contains(const Object* handle) const { return objects_.contains(handle); }

  /// false: no such handle.
  bool destroy(const Object* handle) {
    // Taken out first: the end of one object may be the end of others in this table.
    return !objects_.extract(handle).empty();
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [handle, object] : objects_) visit(*object);
  }

  template <class Condition>
  void destroy_if(Condition condition) {
    std::erase_if(objects_, [&](const auto& entry) { return condition(*entry.second); });
  }

 private:
  std::unordered_map<const Object*, std::unique_ptr<Object>> objects_;
};

}  // namespace simcuda
