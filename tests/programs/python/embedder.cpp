// embedder CHECKER LIBPYTHON: a program that opens Python for itself alone, as bridges from other languages do.
#include <cstdio>

#include <dlfcn.h>

namespace {

int (*read_stack)(char*, int, int);
char text[10000];
long* none;

void* hook(void*, void*) {
  const int count = read_stack(text, sizeof text, 0);
  std::printf("%d frames\n%s", count, count > 0 ? text : "");
  ++*none;  // a reference to None
  return none;
}

struct Method {
  const char* name;
  void* (*function)(void*, void*);
  int flags;
  const char* documentation;
} method{"hook", hook, 4, ""};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  void* checker = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  auto* begin = reinterpret_cast<int (*)()>(dlsym(checker, "checker_begin"));
  read_stack = reinterpret_cast<int (*)(char*, int, int)>(dlsym(checker, "checker_stack"));
  std::printf("found %d, state %d\n", begin(), -read_stack(text, sizeof text, 0));
  void* python = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
  if (python == nullptr) return 2;
  std::printf("found %d, state %d\n", begin(), -read_stack(text, sizeof text, 0));
  const auto function = [python](const char* name) { return dlsym(python, name); };
  reinterpret_cast<void (*)(int)>(function("Py_InitializeEx"))(0);
  none = static_cast<long*>(function("_Py_NoneStruct"));
  void* made =
      reinterpret_cast<void* (*)(Method*, void*, void*)>(function("PyCFunction_NewEx"))(&method, nullptr, nullptr);
  void* main_module = reinterpret_cast<void* (*)(const char*)>(function("PyImport_AddModule"))("__main__");
  reinterpret_cast<int (*)(void*, const char*, void*)>(function("PyObject_SetAttrString"))(main_module, "hook", made);
  reinterpret_cast<int (*)(const char*)>(function("PyRun_SimpleString"))("def f():\n  hook()\nf()\n");
  reinterpret_cast<int (*)()>(function("Py_FinalizeEx"))();
  const int state = -read_stack(text, sizeof text, 0);
  std::printf("after the end %s\n", state == 1 || state == 4 ? "nothing" : "something");
  return 0;
}
