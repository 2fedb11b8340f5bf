// Stands where the shim would: a library that can be preloaded and does nothing.
extern "C" int gpumem_stand_in_shim() { return 0; }
