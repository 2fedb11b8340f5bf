#include "provider.hpp"

namespace gpumem::test {
namespace {

using Driver = Provider::Driver;

bool kernel_driver_is_loaded() { return std::filesystem::exists("/proc/driver/nvidia/version"); }

std::string missing_driver_of(const Provider& provider) {
  switch (provider.driver) {
    case Driver::simulated: return missing(Need::simulated_driver);
    case Driver::genuine_without_device:
      if (kernel_driver_is_loaded()) return "an NVIDIA kernel driver is loaded on this machine";
      return missing_driver(provider.driver_version);
    case Driver::gpu: return kernel_driver_is_loaded() ? "" : "no NVIDIA kernel driver is loaded on this machine";
  }
  return "unknown driver";
}

// Static registration is what Catch's own macros do; version 3 of it wants an owner.
#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR >= 3
using OwnedInvoker = Catch::Detail::unique_ptr<Catch::ITestInvoker>;
#else
using OwnedInvoker = Catch::ITestInvoker*;
#endif

class Invoker : public Catch::ITestInvoker {
 public:
  Invoker(Provider provider, void (*body)(const Provider&)) : provider_(std::move(provider)), body_(body) {}

  void invoke() const override {
    if (const auto reason = provider_.missing(); !reason.empty()) return skipped(reason);
    body_(provider_);
  }

 private:
  Provider provider_;
  void (*body_)(const Provider&);
};

OwnedInvoker invoker(const Provider& provider, void (*body)(const Provider&)) {
  return OwnedInvoker(new Invoker(provider, body));
}

}  // namespace

std::string Provider::name() const {
  std::string runtime;
  if (!runtime_version.empty()) {
    runtime = (simulated_runtime ? "simulated cudart " : "cudart ") + runtime_version + " on ";
  }
  switch (driver) {
    case Driver::simulated: return runtime + "the simulated driver";
    case Driver::genuine_without_device: return runtime + "driver " + driver_version + " without a device";
    case Driver::gpu: return runtime + "this machine's GPU";
  }
  return runtime;
}

std::string Provider::missing() const {
  if (const auto reason = missing_driver_of(*this); !reason.empty()) return reason;
  return runtime_version.empty() || simulated_runtime ? "" : test::missing(genuine_runtime(runtime_version));
}

void Provider::put_under(Stage& stage) const {
  if (driver == Driver::simulated) stage.set("LD_LIBRARY_PATH", simulated_folder());
  if (driver == Driver::genuine_without_device) stage.set("LD_LIBRARY_PATH", genuine_driver(driver_version));
}

std::filesystem::path Provider::runtime_file() const {
  if (!simulated_runtime) return genuine_runtime(runtime_version).file;
  return simulated_folder() / ("libcudart.so." + runtime_version + (runtime_version == "11" ? ".0" : ""));
}

std::vector<Provider> drivers() {
  return {{Driver::simulated, "", ""},
          {Driver::genuine_without_device, "535", ""},
          {Driver::genuine_without_device, "550", ""},
          {Driver::gpu, "", ""}};
}

std::vector<Provider> runtimes() {
  std::vector<Provider> all;
  for (const char* version : {"11", "12", "13"}) all.push_back({Driver::simulated, "", version, true});
  for (const auto& under : drivers()) {
    for (const char* version : {"11.2", "11.8", "12", "13.0", "13.5"}) {
      all.push_back({under.driver, under.driver_version, version});
    }
  }
  return all;
}

ProviderTests::ProviderTests(const char* situation, const std::vector<Provider>& providers,
                             void (*body)(const Provider&), const Catch::SourceLineInfo& where) {
  for (const auto& provider : providers) {
    const std::string name = situation + std::string(" over ") + provider.name();
    Catch::AutoReg(invoker(provider, body), where, "", Catch::NameAndTags(name));
  }
}

}  // namespace gpumem::test
