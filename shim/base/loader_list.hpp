// The loader's list of mapped files, walked so that no fork is harmed.
//
// glibc leaves the lock of that list as it was at a fork: if another thread held it, dl_iterate_phdr() never returns in
// the child. So a fork waits for our own walks to end, and a forked child reads the list without the lock while it has
// a single thread: nothing else changes the list then.
#pragma once

#include <cstddef>

#include <link.h>

namespace gpumem {

// As dl_iterate_phdr(). Without the lock, the counts of additions and removals are those of the list's length.
int walk_loader_list(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data);

// Where a file whose name begins with `file` is loaded in another of the loader's namespaces (dlmopen), which walks do
// not reach, its path; else nullptr. glibc tells of them from 2.35 on.
const char* path_in_other_namespace(const char* file);

}  // namespace gpumem
