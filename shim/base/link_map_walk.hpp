// The loader's list read without the loader's lock, for a forked child: glibc leaves that lock as it was at the fork,
// and if another thread of the parent held it then, dl_iterate_phdr() never returns in the child.
//
// Only for a process with a single thread: nothing else may change the list meanwhile.
#pragma once

#include <cstddef>

#include <link.h>

namespace gpumem {

bool is_single_threaded();

// As dl_iterate_phdr(). Its counts of additions and removals are those of the list's length.
int walk_link_maps(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data);

}  // namespace gpumem
