// Longer than other files because it is a list: a function for each type of line, and the table of them.
#include "model/record_parser.hpp"

#include <charconv>

#include "model/checkpoint_parser.hpp"
#include "model/fields.hpp"
#include "schema.hpp"

namespace gpumem {
namespace {

Record parse_process(const Fields& in) {
  const auto schema = in.maybe_count("schema");
  if (!schema) throw BadLine("lacks the key \"schema\"");
  if (*schema > schema::version) {
    throw NewerSchema("has schema " + std::to_string(*schema) + ", and this gpumem reads up to schema " +
                      std::to_string(schema::version) + "; use the gpumem that came with the library that wrote it");
  }
  ProcessRecord out;
  out.wall_ns = in.maybe_count("wall_ns").value_or(0);
  out.pid = in.integer("pid");
  out.ppid = in.maybe_integer("ppid").value_or(0);
  out.start = in.maybe_count("start").value_or(0);
  out.n = in.maybe_count("n").value_or(0);
  out.host = in.text("host");
  out.exe = in.text("exe");
  out.argv = in.texts("argv");
  out.cwd = in.text("cwd");
  for (const auto& [name, value] : in.object("env").items()) {
    if (value.is_string()) out.env.emplace(name, value.get<std::string>());
  }
  out.limit_as = Fields(in.object("limits")).maybe_count("as");
  out.kernel_driver = in.maybe_text("kernel_driver");
  const Fields shim(in.object("shim"));
  out.shim_version = shim.text("version");
  out.shim_build_id = shim.text("build_id");
  out.segment = in.maybe_count("segment").value_or(0);
  out.events = !in.has("events") || in.flag("events");
  if (in.has("forked_from")) {
    const Fields origin(in.object("forked_from"));
    out.forked_from = ForkOrigin{origin.integer("pid"), origin.text("journal"),
                                 origin.maybe_count("events").value_or(0), origin.flag("initialized"), std::nullopt};
    if (origin.has("init")) {
      const Fields init(origin.object("init"));
      out.forked_from->init =
          ForeignEvent{init.text("api"), init.maybe_count("ns").value_or(0), init.maybe_count("s").value_or(0)};
    }
  }
  return out;
}

Record parse_module(const Fields& in) {
  ModuleRecord out;
  out.id = in.count("id");
  out.path = in.maybe_text("path");
  out.build_id = in.maybe_text("build_id");
  out.role = in.maybe_text("role");
  out.asks = in.maybe_count("asks");
  return out;
}

Record parse_python(const Fields& in) {
  PythonRecord out;
  out.id = in.count("id");
  out.file = in.text("file");
  out.line = in.maybe_count("line");
  out.name = in.text("name");
  return out;
}

Record parse_interpreter(const Fields& in) {
  InterpreterRecord out;
  out.version = in.text("version");
  out.path = in.text("path");
  out.free_threaded = in.flag("free_threaded");
  out.stacks = in.required_text("stacks");
  out.reason = in.text("reason");
  return out;
}

bool parse_decimal(std::string_view text, std::uint64_t& value) {
  const auto [stop, trouble] = std::from_chars(text.data(), text.data() + text.size(), value);
  return trouble == std::errc() && stop == text.data() + text.size();
}

Frame parse_frame(std::string_view text) {
  Frame frame;
  if (text.starts_with(schema::python_frame)) {
    if (parse_decimal(text.substr(schema::python_frame.size()), frame.python) && frame.python != 0) return frame;
  } else if (const auto colon = text.find(':'); colon != text.npos) {
    if (parse_decimal(text.substr(0, colon), frame.module)) {
      frame.offset = parse_address(text.substr(colon + 1), "f");
      return frame;
    }
  }
  wrong_type("f", "a list of frames (\"1:0x...\" or \"py:1\")");
}

Record parse_stack(const Fields& in) {
  StackRecord out;
  out.id = in.count("id");
  for (const auto& text : in.texts("f")) out.frames.push_back(parse_frame(text));
  out.cut = in.flag("cut");
  out.no_python = in.text("py");
  return out;
}

Record parse_device(const Fields& in) {
  DeviceRecord out;
  out.device = in.device();
  out.uuid = in.maybe_text("uuid");
  out.pci = in.maybe_text("pci");
  out.name = in.maybe_text("name");
  out.total = in.maybe_count("total");
  out.compute_mode = in.maybe_word("compute_mode");
  out.capability = in.maybe_text("capability");
  return out;
}

ChangedVariables parse_changed_variables(const Fields& in) {
  ChangedVariables out;
  for (const auto& [name, value] : in.object("env_now").items()) {
    out.emplace(name, value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt);
  }
  return out;
}

void read_call(CallRecord& out, const Fields& in) {
  out.api = in.text("api");
  out.in = in.text("in");
  out.kind = in.text("k");
  out.block = in.maybe_count("i");
  out.address = in.address("p");
  out.bytes = in.maybe_count("n").value_or(0);
  out.device = in.maybe_device();
  out.context = in.maybe_count("c");
  out.stack = in.maybe_count("s").value_or(0);
  out.live = in.maybe_count("u");
  out.took = in.maybe_count("took");
}

Record parse_event(const Fields& in) {
  EventRecord out;
  read_call(out, in);
  out.op = in.required_text("op");
  out.owner = in.maybe_count("of");
  out.references = in.maybe_count("refs");
  out.limit = in.maybe_count("limit");
  out.untracked = in.flag("untracked");
  out.env_now = parse_changed_variables(in);
  if (out.op == schema::op::alloc) {
    const bool is_block = !out.untracked && out.address != 0;
    if (is_block || !in.has("p")) in.count("i");
    in.required_text("k");
  } else if (out.op == schema::op::free && !in.flag("unknown")) {
    in.count("i");
  }
  return out;
}

Record parse_failure(const Fields& in) {
  FailureRecord out;
  in.required_text("api");
  read_call(out, in);
  out.tried = in.text("tried");
  out.code = in.integer("code");
  out.name = in.maybe_text("name");
  out.in_code = in.maybe_integer("in_code");
  out.in_name = in.maybe_text("in_name");
  out.first = in.flag("first");
  out.start = in.flag("start");
  out.inferred = in.flag("inferred");
  out.env_now = parse_changed_variables(in);
  return out;
}

Record parse_state(const Fields& in) {
  StateRecord out;
  const Fields limits(in.object("limits"));
  out.limits = {limits.maybe_count("as"), limits.maybe_count("data"), limits.maybe_count("nofile"),
                limits.maybe_count("memlock"), limits.maybe_count("nproc")};
  out.descriptors = in.maybe_count("descriptors");
  const Fields memory(in.object("memory"));
  out.virtual_bytes = memory.maybe_count("virtual");
  out.resident_bytes = memory.maybe_count("resident");
  out.locked_bytes = memory.maybe_count("locked");
  out.swapped_bytes = memory.maybe_count("swapped");
  out.threads = in.maybe_count("threads");
  out.log = in.text("log");
  return out;
}

Record parse_probe(const Fields& in) {
  ProbeRecord out;
  out.status = in.required_text("status");
  out.reason = in.text("reason");
  out.took = in.maybe_count("took").value_or(0);
  out.said = in.text("said");
  return out;
}

Record parse_sample(const Fields& in) {
  SampleRecord out;
  out.pool = in.maybe_count("pool");
  out.device = out.pool ? in.maybe_device() : in.device();
  out.free = in.maybe_count("free");
  out.total = in.maybe_count("total");
  out.pool_held = {in.maybe_count("pool_reserved"), in.maybe_count("pool_used")};
  out.graphs_held = {in.maybe_count("graph_reserved"), in.maybe_count("graph_used")};
  out.why = in.text("why");
  return out;
}

Record parse_host(const Fields& in) {
  const Fields group(in.object("group"));
  HostRecord out;
  out.why = in.text("why");
  out.resident = in.maybe_count("resident");
  out.swapped = in.maybe_count("swapped");
  out.pinned = in.maybe_count("pinned");
  out.available = in.maybe_count("available");
  out.group_used = group.maybe_count("used");
  out.group_limit = group.maybe_count("limit");
  out.group_kills = group.maybe_count("kills");
  return out;
}

Record parse_mark(const Fields& in) {
  MarkRecord out;
  out.ends = in.flag("end");
  out.text = in.text("text");
  return out;
}

Record parse_coverage(const Fields& in) {
  CoverageRecord out;
  out.when = in.required_text("when");
  out.seen = in.flag("seen");
  out.apart = in.flag("apart");
  out.library = in.maybe_text("library");
  out.python = in.counts("python");
  return out;
}

TotalsRecord parse_totals_of(const Fields& in) {
  TotalsRecord out;
  out.events = in.maybe_count("events").value_or(0);
  out.failures = in.maybe_count("failures").value_or(0);
  const Fields lost(in.object("lost"));
  out.lost_lines = lost.maybe_count("lines").value_or(0);
  out.lost_blocks = lost.maybe_count("blocks").value_or(0);
  out.lost_stacks = lost.maybe_count("stacks").value_or(0);
  out.stacks = in.counts("stacks");
  out.calls = in.counts("calls");
  out.routes = in.counts("routes");
  for (const auto& element : in.list("peaks")) {
    if (!element.is_object()) wrong_type("peaks", "a list of objects");
    const Fields peak(element);
    out.peaks.push_back({peak.text("k"), peak.maybe_device(), peak.count("bytes")});
  }
  return out;
}

Record parse_end(const Fields& in) {
  TotalsRecord out = parse_totals_of(in);
  out.at_end = true;
  return out;
}

template <auto parse>
Record record_of(const Fields& in) {
  return parse(in);
}

struct LineType {
  std::string_view name;
  Record (*parse)(const Fields&);
};

constexpr LineType line_types[] = {
    {schema::line::process, parse_process},
    {schema::line::module, parse_module},
    {schema::line::python, parse_python},
    {schema::line::interpreter, parse_interpreter},
    {schema::line::stack, parse_stack},
    {schema::line::device, parse_device},
    {schema::line::event, parse_event},
    {schema::line::failure, parse_failure},
    {schema::line::state, parse_state},
    {schema::line::probe, parse_probe},
    {schema::line::sample, parse_sample},
    {schema::line::coverage, parse_coverage},
    {schema::line::totals, record_of<parse_totals_of>},
    {schema::line::end, parse_end},
    {schema::line::host, parse_host},
    {schema::line::mark, parse_mark},
    {schema::line::checkpoint, record_of<parse_checkpoint>},
    {schema::line::site, record_of<parse_site>},
    {schema::line::live, record_of<parse_live>},
};

}  // namespace

std::optional<Record> parse_record(std::string_view line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (object.is_discarded()) throw BadLine("is not valid JSON");
  if (!object.is_object()) throw BadLine("is not a JSON object");
  const Fields in(object);
  const std::string type = in.required_text("t");
  const LineHead head{in.count("ns"), in.integer("tid")};
  for (const auto& known : line_types) {
    if (known.name != type) continue;
    Record result = known.parse(in);
    std::visit([&head](LineHead& base) { base = head; }, result);
    return result;
  }
  return std::nullopt;
}

}  // namespace gpumem
