// Which process this is, told without a system call.
//
// A forked child has all of its parent's memory but one page, which the kernel wipes. So fork, vfork-less clone and
// everything else that copies the address space is seen, also where no atfork handler runs.
#pragma once

#include <cstdint>

namespace gpumem {

// A number that is never 0, the same throughout a process's life, and another one in each forked child (its pid).
// Costs one load; one getpid() per call on kernels before 4.14. Async-signal-safe.
std::uint32_t process_epoch();

}  // namespace gpumem
