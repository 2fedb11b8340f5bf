// libFuzzer target: any bytes as a journal, read strictly and leniently, analysed and rendered.
// Promise: an answer or one error, whatever the bytes; no crash, no hang, memory bounded.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/error.hpp"
#include "render/json_reports.hpp"

using namespace gpumem;

namespace {

void read_and_render(const std::string& path, Strictness how) {
  try {
    const auto process = analyze(JournalFiles{path, {path}, false}, how);
    Symbolizer symbols;
    CallNames names(process, symbols);
    const ProcessView view{process, names};
    TextPage page(80, false);
    add_report(page, view);
    add_notes(page, view);
    json_report(view).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  } catch (const Error&) {
    // The one answer that bad input may get.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int descriptor = ::memfd_create("journal", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, bytes, size, 0) != static_cast<ssize_t>(size)) return 0;
  read_and_render(path, Strictness::strict);
  read_and_render(path, Strictness::lenient);
  return 0;
}
