#include "diagnose/frameworks.hpp"

#include <algorithm>
#include <string_view>

namespace gpumem {
namespace {

enum class Use { reserves_less, fragments_less, gives_back };

struct Setting {
  std::string_view framework;
  std::string_view library;   // part of the path of a file that only this framework has
  std::string_view variable;  // in force if set to a value that contains `value`; empty: it is set in the program
  std::string_view value;
  Use use;
  std::string_view text;  // a sentence
  std::string_view newer_variable = {};
};

// Names and meanings are those of the frameworks' own documentation.
constexpr Setting settings[] = {
    {"PyTorch", "libtorch_cuda", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", Use::fragments_less,
     "PyTorch: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True lets its cache grow instead of being cut in pieces.",
     "PYTORCH_ALLOC_CONF"},
    {"PyTorch", "libtorch_cuda", "", "", Use::gives_back,
     "PyTorch: torch.cuda.memory_summary() shows what its cache holds unused; torch.cuda.empty_cache() gives that "
     "back."},
    {"PyTorch", "libtorch_cuda", "", "", Use::reserves_less,
     "PyTorch: torch.cuda.set_per_process_memory_fraction(0.5) caps what it may take."},
    {"TensorFlow", "libtensorflow", "TF_FORCE_GPU_ALLOW_GROWTH", "true", Use::reserves_less,
     "TensorFlow reserves nearly all memory at its start: TF_FORCE_GPU_ALLOW_GROWTH=true makes it take what it "
     "needs."},
    {"TensorFlow", "libtensorflow", "TF_GPU_ALLOCATOR", "cuda_malloc_async", Use::fragments_less,
     "TensorFlow: TF_GPU_ALLOCATOR=cuda_malloc_async avoids pieces in its own pool (needs CUDA 11.2)."},
    {"JAX", "xla_cuda", "XLA_PYTHON_CLIENT_PREALLOCATE", "false", Use::reserves_less,
     "JAX reserves three quarters of the memory at its start: XLA_PYTHON_CLIENT_PREALLOCATE=false or "
     "XLA_PYTHON_CLIENT_MEM_FRACTION=.40 makes it take less."},
    {"CuPy", "cupy", "CUPY_GPU_MEMORY_LIMIT", "", Use::reserves_less, "CuPy: CUPY_GPU_MEMORY_LIMIT=50% caps its pool."},
    {"CuPy", "cupy", "", "", Use::gives_back,
     "CuPy: cupy.get_default_memory_pool().free_all_blocks() gives back what its pool holds unused."},
    {"ONNX Runtime", "libonnxruntime_providers_cuda", "", "", Use::reserves_less,
     "ONNX Runtime: the CUDA provider's options gpu_mem_limit and arena_extend_strategy=kSameAsRequested make its "
     "arena take less."},
    {"llama.cpp", "libggml-cuda", "", "", Use::reserves_less,
     "llama.cpp: fewer layers on the GPU (-ngl) or a smaller context (-c) need less."},
    {"vLLM", "vllm/_C", "", "", Use::reserves_less,
     "vLLM reserves the share gpu_memory_utilization of the device, 0.9 unless told otherwise: choose a smaller one."},
};

bool is_loaded(const Modules& all, std::string_view library) {
  return std::any_of(all.begin(), all.end(), [library](const auto& entry) {
    return entry.second.path && entry.second.path->find(library) != std::string::npos;
  });
}

bool is_in_force(const Setting& setting, const Variables& env) {
  for (const auto name : {setting.variable, setting.newer_variable}) {
    const auto found = name.empty() ? env.end() : env.find(std::string(name));
    if (found != env.end() && found->second.find(setting.value) != std::string::npos) return true;
  }
  return false;
}

std::vector<std::string> texts_for(const Modules& all, const Variables& env, std::initializer_list<Use> uses) {
  std::vector<std::string> texts;
  for (const Use use : uses) {
    for (const auto& setting : settings) {
      if (setting.use == use && is_loaded(all, setting.library) && !is_in_force(setting, env))
        texts.emplace_back(setting.text);
    }
  }
  return texts;
}

}  // namespace

std::vector<std::string> frameworks_in(const Modules& all) {
  std::vector<std::string> found;
  for (const auto& setting : settings) {
    const std::string name(setting.framework);
    if (is_loaded(all, setting.library) && std::find(found.begin(), found.end(), name) == found.end())
      found.push_back(name);
  }
  return found;
}

std::vector<std::string> advice_for_process(const Modules& all, const Variables& env, MemoryTrouble trouble) {
  if (trouble == MemoryTrouble::fragmented) return texts_for(all, env, {Use::fragments_less, Use::gives_back});
  return texts_for(all, env, {Use::gives_back, Use::fragments_less});
}

std::vector<std::string> advice_for_holder(const Modules& all, const Variables& env) {
  return texts_for(all, env, {Use::reserves_less});
}

}  // namespace gpumem
