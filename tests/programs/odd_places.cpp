// Uses CUDA around the places where a driver must not be called: odd_places callbacks|capture|fork|exit
//
// Linked with the driver, so that a preloaded tool can stand before any of its functions.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::size_t too_much = std::size_t{1} << 50;
std::atomic<int> called{0};

void CUDA_CB count_call(void*) { ++called; }
void CUDA_CB count_stream_call(CUstream, CUresult, void*) { ++called; }

void say(const char* step, CUresult code) { std::printf("%s: %d\n", step, static_cast<int>(code)); }

void use_memory(const char* where, CUstream stream) {
  CUdeviceptr plain = 0, ordered = 0, impossible = 0;
  std::printf("%s\n", where);
  say("takes 1009", cuMemAlloc(&plain, 1009));
  say("takes 2003 in order", cuMemAllocAsync(&ordered, 2003, stream));
  say("asks for too much", cuMemAlloc(&impossible, too_much));
  say("asks for too much in order", cuMemAllocAsync(&impossible, too_much, stream));
  say("asks without an output", cuMemAlloc(nullptr, 64));
  if (ordered) say("frees 2003", cuMemFreeAsync(ordered, stream));
  if (plain) say("frees 1009", cuMemFree(plain));
}

void callbacks(CUstream stream) {
  for (int round = 0; round < 20; ++round) {
    say("host function", cuLaunchHostFunc(stream, count_call, nullptr));
    say("stream callback", cuStreamAddCallback(stream, count_stream_call, nullptr, 0));
    use_memory("between callbacks", stream);
  }
  say("synchronizes", cuStreamSynchronize(stream));
  std::printf("%d callbacks ran\n", called.load());
}

void capture(CUstream stream) {
  for (const auto mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    CUgraph graph = nullptr;
    say("begins", cuStreamBeginCapture(stream, mode));
    use_memory("in a capture", stream);
    say("ends", cuStreamEndCapture(stream, &graph));
    use_memory("after a capture", stream);
  }
}

void fork_children(CUstream stream) {
  for (int number = 0; number < 3; ++number) {
    use_memory("before a fork", stream);
    std::fflush(stdout);
    if (const pid_t child = fork(); child == 0) number == 0 ? _exit(0) : std::exit(0);
    int status = 0;
    wait(&status);
    std::printf("a child ended with %d\n", status);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  say("cuInit", cuInit(0));
  say("cuDeviceGet", cuDeviceGet(&device, 0));
  say("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
  say("cuCtxSetCurrent", cuCtxSetCurrent(context));
  say("cuStreamCreate", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  if (what == "callbacks") callbacks(stream);
  if (what == "capture") capture(stream);
  if (what == "fork") fork_children(stream);
  if (what == "exit") use_memory("before the end", stream);
}
