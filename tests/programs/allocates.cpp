// One block of each kind through the runtime, in two rounds: linked with a shared runtime, and with one inside.
#include <cuda_runtime_api.h>

#include <cstdio>

namespace {

void say(const char* call, cudaError_t code) { std::printf("%s: %d\n", call, static_cast<int>(code)); }

}  // namespace

int main() {
  for (std::size_t round = 1; round <= 2; ++round) {
    void *plain = nullptr, *managed = nullptr, *pinned = nullptr, *ordered = nullptr, *impossible = nullptr;
    say("cudaMalloc", cudaMalloc(&plain, 10007 * round));
    say("cudaMallocManaged", cudaMallocManaged(&managed, 20011 * round, cudaMemAttachGlobal));
    say("cudaHostAlloc", cudaHostAlloc(&pinned, 30011 * round, 0));
    say("cudaMallocAsync", cudaMallocAsync(&ordered, 40009 * round, nullptr));
    say("too much", cudaMalloc(&impossible, std::size_t{1} << 50));
    say("cudaFreeAsync", cudaFreeAsync(ordered, nullptr));
    say("cudaFreeHost", cudaFreeHost(pinned));
    say("cudaFree", cudaFree(managed));
    if (round == 1) say("cudaFree", cudaFree(plain));
  }
}
