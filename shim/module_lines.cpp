#include "module_lines.hpp"

#include "intercept/providers.hpp"
#include "intercept/runtimes.hpp"
#include "journal/records.hpp"
#include "journal/schema.hpp"
#include "long_line.hpp"
#include "segment_lines.hpp"

namespace gpumem {
namespace {

std::string_view role_of(const Module& module, int& asks) {
  RuntimeCopy copy;
  const bool probed = runtime_copy_at(module.lo, copy);
  if (probed) asks = copy.asks;
  LoadedObject object;
  if (find_object(module.lo, object)) {
    if (is_driver(object)) return schema::role::driver;
    if (is_runtime(object)) return schema::role::runtime;
  }
  return probed ? schema::role::static_runtime : std::string_view{};
}

bool write_module_line(Session& session, Module& module, std::uint32_t segment) {
  ModuleRecord record;
  record.id = module.number;
  record.path = module.path;
  record.build_id = module.build_id.data();
  record.build_id_size = module.build_id_size;
  record.base = module.base;
  record.lo = module.lo;
  record.hi = module.hi;
  record.role = role_of(module, record.asks);
  const Stamp stamp = session.stamp();
  // A path can be 4 KiB, and each of its bytes six characters.
  LongLine line(session);
  write_module(line, stamp, record);
  return write_once_in_segment(session, line, segment, module.written_in);
}

}  // namespace

bool write_module_once(Session& session, Module& module, std::uint32_t segment) {
  return is_in_segment(module.written_in, segment) || write_module_line(session, module, segment);
}

void write_module_once(Session& session, Module& module) {
  write_in_newest_segment(session, [&](std::uint32_t segment) { return write_module_once(session, module, segment); });
}

void write_module_again(Session& session, std::uintptr_t address) {
  Module* module = session.modules.find(address);
  if (module == nullptr) return;
  write_in_newest_segment(session, [&](std::uint32_t segment) { return write_module_line(session, *module, segment); });
}

}  // namespace gpumem
