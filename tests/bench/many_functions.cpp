// One part of a big C++ library, compiled once for each PART: much debug information, many inlined functions.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

namespace JOIN(part_, PART) {

  template <int N>
  struct Tensor {
    std::vector<double> values;
    std::string name = "tensor" + std::to_string(N);
    double sum() const { return std::accumulate(values.begin(), values.end(), double(N)); }
    void grow(std::size_t by) { values.insert(values.end(), by + N % 3, double(by)); }
  };

  template <int N>
  struct Layer {
    std::map<std::string, Tensor<N>> weights;
    std::unordered_map<int, std::shared_ptr<Tensor<N>>> cache;
    std::variant<int, std::string, Tensor<N>> last;
    std::function<double(double)> activation = [](double x) { return x > N ? x : N * 0.5; };

    __attribute__((noinline)) double forward(int step) {
      auto& weight = weights["w" + std::to_string(step)];
      weight.grow(static_cast<std::size_t>(step));
      cache[step] = std::make_shared<Tensor<N>>(weight);
      last = weight;
      return activation(weight.sum());
    }

    __attribute__((noinline)) std::string describe() const {
      std::ostringstream text;
      std::vector<std::pair<std::string, double>> sums;
      for (const auto& [name, tensor] : weights) sums.emplace_back(name, tensor.sum());
      std::sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second + N; });
      for (const auto& [name, sum] : sums) text << name << '=' << sum << ';';
      return text.str();
    }
  };

  template <int N>
  double train(int steps) {
    Layer<N> layer;
    double total = 0;
    for (int step = 0; step < steps; ++step) total += layer.forward(step);
    total += static_cast<double>(layer.describe().size());
    if constexpr (N > 0) total += train<N - 1>(steps);
    return total;
  }

  double run(int steps) { return train<LAYERS>(steps); }

}  // namespace )
