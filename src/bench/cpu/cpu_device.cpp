#include "bench/cpu/cpu_device.hpp"

#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <new>
#include <type_traits>
#include <utility>

#include "bench/cpu/blas_threads.hpp"
#include "bench/cpu/loops.hpp"
#include "bench/cpu/thread_team.hpp"
#include "compute/cpu/openblas_core.hpp"

namespace eckart::bench {
namespace {

constexpr CBLAS_ORDER kRowMajor = CblasRowMajor;
constexpr CBLAS_TRANSPOSE kPlain = CblasNoTrans;

void blas_multiply(int m, int n, int k, const float* a, const float* b, float* c) {
  cblas_sgemm(kRowMajor, kPlain, kPlain, m, n, k, 1, a, k, b, n, 0, c, n);
}
void blas_multiply(int m, int n, int k, const double* a, const double* b, double* c) {
  cblas_dgemm(kRowMajor, kPlain, kPlain, m, n, k, 1, a, k, b, n, 0, c, n);
}
void blas_multiply_vector(int m, int n, const float* a, const float* b, float* c) {
  cblas_sgemv(kRowMajor, kPlain, m, n, 1, a, n, b, 1, 0, c, 1);
}
void blas_multiply_vector(int m, int n, const double* a, const double* b, double* c) {
  cblas_dgemv(kRowMajor, kPlain, m, n, 1, a, n, b, 1, 0, c, 1);
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class Real>
class CpuOperation : public PreparedOperation {
 public:
  CpuOperation(const Shape& shape, const std::vector<Array>& operands, int cores, ThreadTeam& team)
      : m_(std::size_t(shape.m)),
        n_(std::size_t(shape.n)),
        k_(std::size_t(shape.k)),
        cores_(cores),
        team_(team),
        result_(shape.result_size()) {
    for (const Array& operand : operands) operands_.push_back(std::get<std::vector<Real>>(operand));
    switch (shape.operation) {
      case Operation::reconstruct:
        add_loops(shape, [this] {
          reconstruct_by_loops(operand(0), operand(1), operand(2), c(), m_, n_, k_);
        });
        scaled_.resize(operands_[2].size());
        add_with_blas([this] { reconstruct_with_blas(); });
        break;
      case Operation::multiply:
        add_loops(shape, [this] { multiply_by_loops(operand(0), operand(1), c(), m_, n_, k_); });
        add_with_blas(
            [this] { blas_multiply(int(m_), int(n_), int(k_), operand(0), operand(1), c()); });
        break;
      case Operation::transpose:
        add("loops", 1, [this] { transpose_by_loops(operand(0), c(), m_, n_); });
        add_on_cores("blocks of 32 × 32", m_, [this](std::size_t begin, std::size_t end) {
          transpose_by_blocks(operand(0), c(), m_, n_, begin, end);
        });
        break;
      case Operation::add:
        add_on_cores("loop", n_, [this](std::size_t begin, std::size_t end) {
          add_by_loop(operand(0), operand(1), c(), begin, end);
        });
        break;
      case Operation::multiply_vector:
        add("loops", 1, [this] { multiply_vector_by_loops(operand(0), operand(1), c(), m_, n_); });
        add_with_blas(
            [this] { blas_multiply_vector(int(m_), int(n_), operand(0), operand(1), c()); });
        break;
    }
  }

  const std::vector<Variant>& variants() const override { return variants_; }

  CallTimes run(std::size_t variant) override {
    const BlasThreads threads(variants_[variant].cores);
    const double seconds = seconds_of(runs_[variant]);
    return {.compute_s = seconds, .total_s = seconds};
  }

  Result result(std::size_t variant) override {
    std::fill(result_.begin(), result_.end(), std::numeric_limits<Real>::quiet_NaN());
    const BlasThreads threads(variants_[variant].cores);
    const double seconds = seconds_of(runs_[variant]);
    return {result_, seconds};
  }

  /// The variant with the most cores.
  std::size_t last() const { return variants_.size() - 1; }

 private:
  const Real* operand(std::size_t index) const { return operands_[index].data(); }
  Real* c() { return result_.data(); }

  void add(const std::string& name, int cores, std::function<void()> run) {
    variants_.push_back({.name = name, .cores = cores});
    runs_.push_back(std::move(run));
  }
  /// Plain loops take minutes for large products.
  void add_loops(const Shape& shape, const std::function<void()>& run) {
    constexpr double kMaxFlops = 1e9;
    if (shape.flops() <= kMaxFlops) add("loops", 1, run);
  }
  void add_with_blas(const std::function<void()>& run) {
    for (const int cores : core_counts()) {
      add("OpenBLAS", cores, run);
    }
  }
  void add_on_cores(const std::string& name, std::size_t size,
                    const std::function<void(std::size_t begin, std::size_t end)>& run) {
    for (const int cores : core_counts()) {
      add(name, cores, [=, this] {
        if (cores == 1)
          run(0, size);
        else
          team_.run(size, run);
      });
    }
  }
  std::vector<int> core_counts() const {
    return cores_ == 1 ? std::vector{1} : std::vector{1, cores_};
  }

  /// Multiplies the rows of V' by the singular values first: k n products instead of m n k.
  void reconstruct_with_blas() {
    for (std::size_t t = 0; t < k_; ++t) {
      const Real s = operands_[1][t];
      for (std::size_t j = 0; j < n_; ++j) scaled_[t * n_ + j] = s * operands_[2][t * n_ + j];
    }
    blas_multiply(int(m_), int(n_), int(k_), operand(0), scaled_.data(), c());
  }

  const std::size_t m_, n_, k_;
  const int cores_;
  ThreadTeam& team_;
  std::vector<std::vector<Real>> operands_;
  std::vector<Real> scaled_, result_;
  std::vector<Variant> variants_;
  std::vector<std::function<void()>> runs_;  // of each variant
};

/// The shortest time of three to ten calls, or of more if these are short, in seconds.
double shortest_time(const std::function<void()>& work, PeakMeasurement peaks) {
  constexpr int kMinCalls = 3, kCalls = 10;
  const double max_seconds = peaks == PeakMeasurement::full ? 0.4 : 4e-3;
  double shortest = std::numeric_limits<double>::infinity(), total = 0;
  for (int i = 0; i < kMinCalls || total < (i < kCalls ? max_seconds : max_seconds / 2); ++i) {
    const double seconds = seconds_of(work);
    shortest = std::min(shortest, seconds);
    total += seconds;
  }
  return shortest;
}

double measure_copy(int cores, ThreadTeam& team, PeakMeasurement peaks) {
  const int log2_elements = peaks == PeakMeasurement::full ? 24 : 16;  // of each core
  const std::size_t size = (std::size_t(1) << log2_elements) * std::size_t(cores);
  std::vector<float> from(size, 1.5f), to(size);
  const ThreadTeam::Work copy = [&](std::size_t begin, std::size_t end) {
    std::copy(from.data() + begin, from.data() + end, to.data() + begin);
  };
  const double seconds = shortest_time(
      [&] {
        if (cores == 1)
          copy(0, size);
        else
          team.run(size, copy);
      },
      peaks);
  return 2.0 * double(size * sizeof(float)) / seconds;
}

/// Additions and multiplications per second of OpenBLAS, in the best of some sizes.
template <class Real>
double measure_product(int cores, ThreadTeam& team, PeakMeasurement peaks) {
  double fastest = 0;
  const std::vector<int> sides =
      peaks == PeakMeasurement::full ? std::vector{256, 1024, 2048} : std::vector{64};
  for (const int side : sides) {
    const Shape shape{
        .precision = std::is_same_v<Real, float> ? Precision::float32 : Precision::float64,
        .m = side,
        .n = side,
        .k = side};
    CpuOperation<Real> product(shape, random_operands(shape, 1), cores, team);
    fastest = std::max(fastest,
                       shape.flops() / shortest_time([&] { product.run(product.last()); }, peaks));
  }
  return fastest;
}

class CpuDevice : public Device {
 public:
  CpuDevice(int cores, PeakMeasurement peaks) : cores_(cores), peaks_(peaks), team_(cores) {}
  std::unique_ptr<PreparedOperation> prepare(const Shape& shape,
                                             const std::vector<Array>& operands) override {
    if (shape.precision == Precision::float32)
      return std::make_unique<CpuOperation<float>>(shape, operands, cores_, team_);
    return std::make_unique<CpuOperation<double>>(shape, operands, cores_, team_);
  }
  const Ceilings& ceilings(const Variant& variant) override {
    const auto [entry, is_new] = ceilings_.try_emplace(variant.cores);
    if (!is_new) return entry->second;
    Ceilings& measured = entry->second;
    measured = {.bytes_per_s = measure_copy(variant.cores, team_, peaks_),
                .float32_per_s = measure_product<float>(variant.cores, team_, peaks_),
                .float64_per_s = measure_product<double>(variant.cores, team_, peaks_)};
    for (const auto& [cores, fewer] : ceilings_) {  // some of the cores may be left idle
      if (cores > variant.cores) break;
      measured.bytes_per_s = std::max(measured.bytes_per_s, fewer.bytes_per_s);
      measured.float32_per_s = std::max(measured.float32_per_s, fewer.float32_per_s);
      measured.float64_per_s = std::max(measured.float64_per_s, fewer.float64_per_s);
    }
    return measured;
  }

 private:
  const int cores_;
  const PeakMeasurement peaks_;
  ThreadTeam team_;
  std::map<int, Ceilings> ceilings_;  // by cores
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(int cores, PeakMeasurement peaks) {
  return std::make_unique<CpuDevice>(cores, peaks);
}

RepeatableWork make_cpu_copy(int cores, std::size_t bytes) {
  struct Buffers {
    Buffers(int cores, std::size_t bytes) : from(bytes, std::byte(1)), to(bytes), team(cores) {}
    std::vector<std::byte> from, to;
    ThreadTeam team;
  };
  const auto buffers = std::make_shared<Buffers>(cores, bytes);
  const ThreadTeam::Work copy = [=](std::size_t begin, std::size_t end) {
    std::memcpy(buffers->to.data() + begin, buffers->from.data() + begin, end - begin);
  };
  if (cores == 1) return [=] { return seconds_of([&] { copy(0, bytes); }); };
  return [=] { return seconds_of([&] { buffers->team.run(bytes, copy); }); };
}

RepeatableWork make_cpu_allocation(std::size_t bytes) {
  return [=] {
    return seconds_of([=] {
      // Not malloc(), which keeps memory for the next call.
      void* const memory =
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      std::memset(memory, 1, bytes);
      ::munmap(memory, bytes);
    });
  };
}

RepeatableWork make_cpu_write(std::size_t bytes) {
  const auto memory = std::make_shared<std::vector<std::byte>>(bytes, std::byte(1));
  return [=] { return seconds_of([&] { std::memset(memory->data(), 1, bytes); }); };
}

std::string openblas_warning() {
  return compute::cpu::openblas_core_warning(openblas_get_corename(),
                                             compute::cpu::detect_simd_features());
}

}  // namespace eckart::bench
