// Which process this is, told without a system call.
//
// A forked child has all of its parent's memory but one page, which the kernel wipes. So fork, vfork-less clone and
// everything else that copies the address space is seen, also where no atfork handler runs.
#pragma once

#include <cstdint>

namespace gpumem {

// A number that is never 0, the same throughout a process's life, and in a forked child higher than in all its
// ancestors. (Process ids will not do: they come again, and pid namespaces give the same one twice.) Costs one load;
// one getpid() per call, and that weakness, on kernels before 4.14. Async-signal-safe.
std::uint32_t process_epoch();

}  // namespace gpumem
