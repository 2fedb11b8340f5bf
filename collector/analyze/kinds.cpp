#include "analyze/kinds.hpp"

#include <algorithm>
#include <iterator>

namespace gpumem {
namespace {

constexpr std::string_view by_cuda_free = "cudaFree, cuMemFree, cudaFreeAsync or cuMemFreeAsync";

constexpr KindTexts texts[] = {
    {"device", "linear device memory", "cudaFree or cuMemFree"},
    {"pitched", "pitched device memory", "cudaFree or cuMemFree"},
    {"managed", "managed memory", "cudaFree or cuMemFree"},
    {"async", "stream-ordered memory", by_cuda_free},
    {"graph_memory", "graph memory", by_cuda_free},
    {"ipc", "memory opened by an IPC handle", "cudaIpcCloseMemHandle or cuIpcCloseMemHandle"},
    {"imported", "imported memory",
     "cuMemRelease, or cudaFree, cuMemFree, cudaFreeAsync or cuMemFreeAsync for a pointer"},
    {"view", "views of others' memory",
     "cudaFree or cuMemFree, or cudaGraphicsUnmapResources or cuGraphicsUnmapResources for graphics"},
    {"pinned", "pinned host memory", "cudaFreeHost or cuMemFreeHost"},
    {"registered", "registered host memory", "cudaHostUnregister or cuMemHostUnregister"},
    {"mapped", "mappings", "cuMemUnmap", ", and the memory behind it by cuMemRelease"},
    {"reserved", "address ranges", "cuMemAddressFree"},
    {"variable", "variables of loaded code", "the unloading of its module"},
    {"array", "arrays",
     "cudaFreeArray, cudaFreeMipmappedArray, cuArrayDestroy or cuMipmappedArrayDestroy, as it was made"},
    {"physical", "physical memory (cuMemCreate)", "cuMemRelease", ", and its mappings by cuMemUnmap"},
    {"host_physical", "physical host memory (cuMemCreate)", "cuMemRelease", ", and its mappings by cuMemUnmap"},
    {"external", "external memory", "cudaDestroyExternalMemory or cuDestroyExternalMemory"},
    {"stream", "stream", "cudaStreamDestroy or cuStreamDestroy"},
    {"event", "event", "cudaEventDestroy or cuEventDestroy"},
    {"module", "module", "cuModuleUnload"},
    {"library", "library", "cudaLibraryUnload or cuLibraryUnload"},
    {"graph", "graph", "cudaGraphDestroy or cuGraphDestroy"},
    {"graph_exec", "instantiated graph", "cudaGraphExecDestroy or cuGraphExecDestroy"},
    {"pool", "memory pool", "cudaMemPoolDestroy or cuMemPoolDestroy"},
    {"green_context", "green context", "cudaExecutionCtxDestroy or cuGreenCtxDestroy"},
    {"graphics", "graphics resource", "cudaGraphicsUnregisterResource or cuGraphicsUnregisterResource"},
    {"multicast", "multicast object", "cuMemRelease"},
};

constexpr bool has_texts(std::string_view kind) {
  return std::any_of(std::begin(texts), std::end(texts), [kind](const KindTexts& each) { return each.kind == kind; });
}
static_assert(std::size(texts) == std::size(schema::kinds));
static_assert(std::all_of(std::begin(schema::kinds), std::end(schema::kinds),
                          [](const schema::Kind& each) { return has_texts(each.name); }));

// The unified address space. Handles and reserved ranges have numbers of their own, and a mapping lies in its range.
constexpr std::string_view unified[] = {"device", "pitched", "managed",  "async",
                                        "ipc",    "view",    "imported", "graph_memory"};

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

}  // namespace

std::span<const KindTexts> all_kinds() { return texts; }

const KindTexts* find_kind(std::string_view kind) {
  const auto found =
      std::find_if(std::begin(texts), std::end(texts), [kind](const auto& row) { return row.kind == kind; });
  return found == std::end(texts) ? nullptr : found;
}

std::string given_back_text(std::string_view kind) {
  const auto* known = find_kind(kind);
  return known ? std::string(known->given_back_by) + std::string(known->besides) : "";
}

std::optional<Counts> counts_of(std::string_view kind) {
  const auto found = std::find_if(std::begin(schema::kinds), std::end(schema::kinds),
                                  [kind](const auto& row) { return row.name == kind; });
  return found == std::end(schema::kinds) ? std::nullopt : std::optional(found->counts);
}

bool is_object(std::string_view kind) { return counts_of(kind) == Counts::handles; }

bool is_memory(std::string_view kind) {
  const auto counts = counts_of(kind);
  return counts == Counts::device_memory || counts == Counts::host_memory || counts == Counts::graph_memory;
}

bool is_given_back_by(std::string_view kind, std::string_view api) {
  const auto* known = find_kind(kind);
  if (!known) return true;
  const std::string_view function = api.substr(0, api.find('_'));  // cuMemFreeAsync_ptsz, cuMemFree_v2
  std::string_view rest = known->given_back_by;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, std::min(rest.find_first_not_of(letters), rest.size()));
    if (word == function) return true;
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return false;
}

std::string_view address_space(std::string_view kind) {
  if (kind == "array" || is_object(kind)) return "objects";
  return std::find(std::begin(unified), std::end(unified), kind) == std::end(unified) ? kind : unified[0];
}

void add_to(Sums& sums, std::string_view kind, const Usage& amount) {
  if (const auto counts = counts_of(kind)) sums[*counts] += amount;
}

Usage sum_of(const Sums& sums, Counts counts) {
  const auto found = sums.find(counts);
  return found == sums.end() ? Usage{} : found->second;
}

}  // namespace gpumem
