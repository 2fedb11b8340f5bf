// A library of which a process can load a thousand copies.
extern "C" int small_function() { return 1; }
