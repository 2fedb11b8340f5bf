// A process that has used CUDA forks: forked idle|uses_cuda
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "driver_session.hpp"

namespace {

void child(const DriverApi& api, bool uses_cuda) {
    if (!uses_cuda) return;
    CUdeviceptr block = 0;
    start(api);
    say("child takes 4099", api.cuMemAlloc(&block, 4099));
}

}  // namespace

int main(int argc, char** argv) {
    const bool uses_cuda = argc > 1 && std::strcmp(argv[1], "uses_cuda") == 0;
    const DriverApi api = driver_by_dlsym();
    CUdeviceptr before = 0, after = 0;
    start(api);
    say("parent takes 8209", api.cuMemAlloc(&before, 8209));
    std::fflush(stdout);
    if (const pid_t pid = fork(); pid == 0) {
        child(api, uses_cuda);
        std::fflush(stdout);
        return 0;
    } else {
        int status = 0;
        waitpid(pid, &status, 0);
        std::printf("child ended with %d\n", status);
    }
    say("parent takes 16411", api.cuMemAlloc(&after, 16411));
    say("parent frees 8209", api.cuMemFree(before));
}
