#include "journal/records.hpp"

#include <iterator>

#include "api/error_names.hpp"
#include "journal/schema.hpp"

namespace gpumem {
namespace {

void text_or_null(Line& line, std::string_view key, std::string_view value) {
  if (value.empty()) {
    line.null(key);
  } else {
    line.text(key, value);
  }
}

void write_api(Line& line, const CallRecord& record) {
  line.word("api", api_name(record.api));
  if (record.inner != ApiId::none) line.word("in", api_name(record.inner));
}

void write_place(Line& line, const CallRecord& record) {
  if (record.device != no_device) line.signed_number("d", record.device);
  if (record.context != 0) line.number("c", record.context);
  if (record.stream != nullptr) line.hex("st", reinterpret_cast<std::uintptr_t>(record.stream));
  if (record.has_stack) line.number("s", record.stack);
  if (record.has_memory) line.number("u", record.live);
  if (record.took_ns != 0) line.number("took", record.took_ns);
}

void error_name(Line& line, std::string_view key, bool of_runtime, int code) {
  const char* name = of_runtime ? runtime_error_name(code) : driver_error_name(code);
  if (name == nullptr) {
    line.null(key);
  } else {
    line.word(key, name);
  }
}

}  // namespace

static_assert(std::size(schema::kinds) == memory_kind_count);
std::string_view kind_name(MemoryKind kind) { return schema::kinds[static_cast<std::size_t>(kind)].name; }

void write_module(Line& line, Stamp stamp, const ModuleRecord& record) {
  line.open(schema::line::module, stamp.ns, stamp.tid);
  line.number("id", record.id);
  line.text("path", record.path);
  if (record.build_id_size == 0) {
    line.null("build_id");
  } else {
    line.key("build_id");
    line.hex_bytes(record.build_id, record.build_id_size);
  }
  line.hex("base", record.base);
  line.hex("lo", record.lo);
  line.hex("hi", record.hi);
  text_or_null(line, "role", record.role);
  if (record.asks != 0) line.signed_number("asks", record.asks);
  line.close();
}

void write_python(Line& line, Stamp stamp, const PythonRecord& record) {
  line.open(schema::line::python, stamp.ns, stamp.tid);
  line.number("id", record.id);
  line.text("file", record.file);
  if (record.has_line) line.number("line", record.line);
  line.text("name", record.name);
  line.close();
}

void write_interpreter(Line& line, Stamp stamp, const InterpreterRecord& record) {
  line.open(schema::line::interpreter, stamp.ns, stamp.tid);
  line.text("version", record.version);
  line.text("path", record.path);
  line.truth("free_threaded", record.free_threaded);
  line.word("stacks", record.declined.empty() ? schema::stacks::read : schema::stacks::declined);
  if (!record.declined.empty()) line.text("reason", record.declined);
  line.close();
}

void write_device(Line& line, Stamp stamp, const DeviceRecord& record) {
  line.open(schema::line::device, stamp.ns, stamp.tid);
  line.signed_number("d", record.ordinal);
  text_or_null(line, "uuid", record.uuid);
  text_or_null(line, "pci", record.pci_bus_id);
  text_or_null(line, "name", record.name);
  if (record.total == 0) {
    line.null("total");
  } else {
    line.number("total", record.total);
  }
  if (record.compute_mode < 0) {
    line.null("compute_mode");
  } else if (const auto mode = static_cast<std::size_t>(record.compute_mode); mode < std::size(schema::compute_modes)) {
    line.word("compute_mode", schema::compute_modes[mode]);
  } else {
    line.signed_number("compute_mode", record.compute_mode);
  }
  text_or_null(line, "capability", record.capability);
  line.close();
}

void begin_event(Line& line, Stamp stamp, const EventRecord& record) {
  line.open(schema::line::event, stamp.ns, stamp.tid);
  line.word("op", record.op);
  write_api(line, record);
  if (record.block != 0) line.number("i", record.block);
  if (record.has_memory) line.word("k", kind_name(record.kind));
  if (record.has_address) line.hex("p", record.address);
  if (record.has_memory && !is_object(record.kind)) line.number("n", record.size);
  if (record.owner != 0) line.number("of", record.owner);
  if (record.references != 0) line.number("refs", record.references);
  if (record.limit >= 0) {
    line.signed_number("limit", record.limit);
    line.number("n", record.size);
  }
  if (record.unknown_pointer) line.truth("unknown", true);
  if (record.untracked) line.truth("untracked", true);
  if (record.handle != 0) line.hex("h", record.handle);
  if (record.primary) line.truth("primary", true);
  if (record.found) line.truth("found", true);
  if (record.has_dropped) {
    line.number("blocks", record.dropped_blocks);
    line.number("bytes", record.dropped_bytes);
  }
  write_place(line, record);
}

void write_sample(Line& line, Stamp stamp, const SampleRecord& record) {
  line.open(schema::line::sample, stamp.ns, stamp.tid);
  line.signed_number("d", record.device);
  if (record.pool != 0) line.number("pool", record.pool);
  if (record.total != 0) {
    line.number("free", record.free);
    line.number("total", record.total);
  }
  if (record.has_pool) {
    line.number("pool_reserved", record.pool_reserved);
    line.number("pool_used", record.pool_used);
  }
  if (record.has_graphs) {
    line.number("graph_reserved", record.graph_reserved);
    line.number("graph_used", record.graph_used);
  }
  line.word("why", record.why);
  line.close();
}

void write_host(Line& line, Stamp stamp, const HostRecord& record) {
  const auto number_if_known = [&](std::string_view key, std::uint64_t value) {
    if (value != HostRecord::unknown) line.number(key, value);
  };
  line.open(schema::line::host, stamp.ns, stamp.tid);
  line.word("why", record.why);
  number_if_known("resident", record.resident);
  number_if_known("swapped", record.swapped);
  line.number("pinned", record.pinned);
  number_if_known("available", record.available);
  if (record.group_limit != HostRecord::unknown) {
    line.key("group");
    line.put("{");
    number_if_known("used", record.group_used);
    line.number("limit", record.group_limit);
    number_if_known("kills", record.group_kills);
    line.put("}");
  }
  line.close();
}

void write_coverage(Line& line, Stamp stamp, const CoverageRecord& record) {
  line.open(schema::line::coverage, stamp.ns, stamp.tid);
  line.word("when", record.when);
  line.truth("seen", record.seen);
  if (record.apart) line.truth("apart", true);
  if (!record.library.empty()) line.text("library", record.library);
  if (const auto& stacks = record.python_stacks; stacks.any()) {
    line.key("python");
    line.put("{");
    line.number(schema::python::read, stacks.read);
    line.number(schema::python::none, stacks.none);
    line.number(schema::python::finalizing, stacks.finalizing);
    line.number(schema::python::refused, stacks.refused);
    line.number(schema::python::declined, stacks.declined);
    line.put("}");
  }
  line.close();
}

void begin_failure(Line& line, Stamp stamp, const FailureRecord& record) {
  line.open(schema::line::failure, stamp.ns, stamp.tid);
  line.word("tried", record.op);
  write_api(line, record);
  line.signed_number("code", record.code);
  error_name(line, "name", is_runtime(record.api) || record.inferred, record.code);
  if (record.inner != ApiId::none && record.inner_code != 0) {
    line.signed_number("in_code", record.inner_code);
    error_name(line, "in_name", is_runtime(record.inner), record.inner_code);
  }
  if (record.has_memory) line.word("k", kind_name(record.kind));
  if (record.has_pointer) line.hex("p", record.pointer);
  if (record.has_memory && !record.has_pointer && !is_object(record.kind)) line.number("n", record.size);
  write_place(line, record);
  if (record.inferred) line.truth("inferred", true);
  if (record.first) line.truth("first", true);
  if (record.start) line.truth("start", true);
}

}  // namespace gpumem
