// A driver from before cuGetProcAddress: a runtime has to look every function up by dlsym.
#include <cstdlib>

extern "C" {

int cuInit(unsigned) { return 100; }

int cuDriverGetVersion(int* version) {
  const char* wanted = std::getenv("RESOLVER_LESS_DRIVER_VERSION");
  *version = wanted != nullptr ? std::atoi(wanted) : 13000;
  return 0;
}

int cuGetExportTable(const void**, const void*) { return 500; }

}  // extern "C"
