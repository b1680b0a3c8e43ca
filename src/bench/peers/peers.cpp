#include "bench/peers/peers.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/peers/peer_process.hpp"

namespace eckart::bench {
namespace {

using text::Json;

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::reconstruct:
      return "reconstruct";
    case Operation::multiply:
      return "multiply";
    case Operation::transpose:
      return "transpose";
    case Operation::add:
      return "add";
    case Operation::multiply_vector:
      return "multiply_vector";
  }
  return "";
}

/// What Python has prepared, until this object ends: its variants, and their numbers there.
class Prepared {
 public:
  Prepared(PeerProcess& process, const Json& request, bool has_gpu, int cores) : process_(process) {
    int number = 0;
    const Json answer = process.ask(request);
    for (const Json& each : answer.at("variants")) {
      const bool is_on_gpu = each.at("device") == "gpu";
      Variant variant{.name = each.at("name").get<std::string>()};
      if (!is_on_gpu) variant.cores = each.at("threads") == "all" ? cores : 1;
      if (!is_on_gpu || has_gpu) {
        variants_.push_back(variant);
        numbers_.push_back(number);
      }
      ++number;
    }
  }

  ~Prepared() {
    try {
      process_.ask({{"request", "free"}});
    } catch (const std::runtime_error&) {  // Python has ended, and with it its memory
    }
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  const std::vector<Variant>& variants() const { return variants_; }
  CallTimes run(std::size_t variant) {
    const Json times = process_.ask({{"request", "run"}, {"variant", numbers_[variant]}});
    return {.compute_s = times.at("compute_s").get<double>(),
            .copy_in_s = times.at("copy_in_s").get<double>(),
            .copy_out_s = times.at("copy_out_s").get<double>(),
            .total_s = times.at("total_s").get<double>()};
  }
  /// Copies the result, which has this size.
  void copy_result(std::size_t variant, void* result, std::size_t bytes) {
    process_.ask({{"request", "result"}, {"variant", numbers_[variant]}});
    std::memcpy(result, process_.memory(bytes).data(), bytes);
  }

 private:
  PeerProcess& process_;
  std::vector<Variant> variants_;
  std::vector<int> numbers_;
};

class PeerOperation : public PreparedOperation {
 public:
  PeerOperation(std::unique_ptr<Prepared> prepared, const Shape& shape)
      : prepared_(std::move(prepared)), shape_(shape) {}
  const std::vector<Variant>& variants() const override { return prepared_->variants(); }
  CallTimes run(std::size_t variant) override { return prepared_->run(variant); }
  Result result(std::size_t variant) override {  // its first call may compile the function
    Array result = make_array(shape_.precision, shape_.result_size());
    std::visit(
        [&](auto& values) {
          prepared_->copy_result(variant, values.data(), values.size() * shape_.element_bytes());
        },
        result);
    return {std::move(result)};
  }

 private:
  const std::unique_ptr<Prepared> prepared_;
  const Shape shape_;
};

class PreparedImages : public PeerImages {
 public:
  PreparedImages(std::unique_ptr<Prepared> prepared, std::size_t bytes)
      : prepared_(std::move(prepared)), bytes_(bytes) {}
  const std::vector<Variant>& variants() const override { return prepared_->variants(); }
  double run(std::size_t variant) override { return prepared_->run(variant).total_s; }
  std::vector<std::uint8_t> pixels(std::size_t variant) override {
    std::vector<std::uint8_t> pixels(bytes_);
    prepared_->copy_result(variant, pixels.data(), bytes_);
    return pixels;
  }

 private:
  const std::unique_ptr<Prepared> prepared_;
  const std::size_t bytes_;
};

class PythonPeers : public Peers {
 public:
  PythonPeers(const std::string& python, Device& cpu, Device* gpu, int cores,
              const std::stop_token& stop)
      : process_(python, stop), cpu_(cpu), gpu_(gpu), cores_(cores) {
    const Json answer = process_.ask({{"request", "libraries"}});
    answer.at("libraries").get_to(versions_);
  }

  const std::map<std::string, std::string>& versions() const override { return versions_; }

  pid_t process() const override { return process_.process(); }

  std::unique_ptr<PreparedOperation> prepare(const Shape& shape,
                                             const std::vector<Array>& operands) override {
    std::size_t elements = shape.result_size(), offset = 0;
    for (const std::size_t size : shape.operand_sizes()) offset += size;
    std::byte* to = process_.memory(std::max(elements, offset) * shape.element_bytes()).data();
    for (const Array& operand : operands) {
      std::visit(
          [&](const auto& values) {
            const std::size_t bytes = values.size() * shape.element_bytes();
            std::memcpy(to, values.data(), bytes);
            to += bytes;
          },
          operand);
    }
    return std::make_unique<PeerOperation>(
        prepared({{"request", "prepare"},
                  {"operation", name_of(shape.operation)},
                  {"precision", std::string(to_string(shape.precision))},
                  {"m", shape.m},
                  {"n", shape.n},
                  {"k", shape.k}}),
        shape);
  }

  const Ceilings& ceilings(const Variant& variant) override {
    return variant.cores == 0 ? gpu_->ceilings(variant) : cpu_.ceilings(variant);
  }

  std::unique_ptr<PeerImages> prepare_images(std::span<const std::uint8_t> pixels, int n,
                                             int k) override {
    std::memcpy(process_.memory(pixels.size()).data(), pixels.data(), pixels.size());
    const std::size_t images = pixels.size() / (std::size_t(n) * std::size_t(n));
    return std::make_unique<PreparedImages>(
        prepared({{"request", "prepare_images"}, {"images", images}, {"n", n}, {"k", k}}),
        pixels.size());
  }

 private:
  std::unique_ptr<Prepared> prepared(const Json& request) {
    return std::make_unique<Prepared>(process_, request, gpu_ != nullptr, cores_);
  }

  PeerProcess process_;
  Device& cpu_;
  Device* const gpu_;
  const int cores_;
  std::map<std::string, std::string> versions_;
};

}  // namespace

std::unique_ptr<Peers> start_peers(const std::string& python, Device& cpu, Device* gpu, int cores,
                                   const std::stop_token& stop) {
  return std::make_unique<PythonPeers>(python, cpu, gpu, cores, stop);
}

}  // namespace eckart::bench
