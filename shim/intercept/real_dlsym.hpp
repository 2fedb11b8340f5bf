// The C library's own dlsym: the shim's calls of `dlsym` would land in its own wrapper.
#pragma once

namespace gpumem {

using Dlsym = void* (*)(void* handle, const char* name);

// The next dlsym after the shim's: glibc's, or that of another preloaded tool. Found on first use, without the
// library's constructor: other constructors may call dlsym before it.
Dlsym real_dlsym();

using Dlclose = int (*)(void* handle);
Dlclose real_dlclose();

// Changes with every dlclose, before and after it.
unsigned unload_count();
// Whether some dlclose has begun and not ended.
bool unload_running();

}  // namespace gpumem
