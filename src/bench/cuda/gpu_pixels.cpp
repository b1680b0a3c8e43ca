#include "bench/cuda/gpu_pixels.hpp"

#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "bench/cuda/batch_kernels.hpp"
#include "bench/cuda/mirrored_array.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/reconstruct_float16.hpp"
#include "compute/cuda/solvers/float64_reconstruction.hpp"
#include "core/round_up.hpp"

namespace eckart::bench::cuda {
namespace {

using compute::cuda::DeviceBuffer;
using compute::cuda::PlaneLayout;
using compute::cuda::TileError;

/// `values` in the memory of the host and of the device.
template <class T>
MirroredArray mirror(const std::vector<T>& values, const Queue& queue) {
  MirroredArray array(values.size() * sizeof(T));
  std::memcpy(array.host(), values.data(), array.bytes());
  array.queue_copy_in(queue.stream.get());
  queue.wait();
  return array;
}

/// The factors of all images, P = U diag(s) and V, column-major, one image after the other. In
/// float16 each matrix is in two parts.
template <class Number>
struct DeviceFactors {
  MirroredArray p_mk, v_nk;

  DeviceFactors(const std::vector<Number>& p, const std::vector<Number>& v, const Queue& queue)
      : p_mk(mirror(p, queue)), v_nk(mirror(v, queue)) {}
  Number* p() const { return static_cast<Number*>(p_mk.device()); }
  Number* v() const { return static_cast<Number*>(v_nk.device()); }
};

/// Appends a column-major matrix of rows x columns in float16: the rounded numbers, then what
/// rounding took from them. The columns from `used` on are zero.
template <class At>
void append_split(int rows, int used, int columns, const At& at, std::vector<__half>& to) {
  const std::size_t begin = to.size(), size = std::size_t(rows) * std::size_t(columns);
  to.resize(begin + 2 * size, __float2half(0));
  std::size_t next = begin;
  for (int t = 0; t < used; ++t) {
    for (int i = 0; i < rows; ++i, ++next) {
      const float value = at(i, t);
      to[next] = __float2half(value);
      to[next + size] = __float2half(value - __half2float(to[next]));
    }
  }
}

template <class Real>
constexpr auto batched_gemm = cublasSgemmStridedBatched;
template <>
constexpr auto batched_gemm<double> = cublasDgemmStridedBatched;

class GpuPixels : public PixelReconstruction {
 public:
  GpuPixels(const BatchShape& shape, Queue& queue) : shape_(shape), queue_(queue) {
    const auto pixels = std::size_t(shape.images) * shape.pixel_count();
    std::vector<float> p, v;
    std::vector<double> p64, v64;
    std::vector<__half> u16, v16;
    std::vector<std::uint8_t> originals;
    std::vector<PlaneLayout> planes;
    columns_ = round_up(shape.k, 16);
    for (int image = 0; image < shape.images; ++image) {
      const std::vector<float> factors = random_factors(shape, image);
      const auto m = std::size_t(shape.m), n = std::size_t(shape.n), k = std::size_t(shape.k);
      const float *u_mk = factors.data(), *s_k = u_mk + m * k, *vt_kn = s_k + k;
      for (std::size_t t = 0; t < k; ++t) {
        for (std::size_t i = 0; i < m; ++i) {
          p.push_back(u_mk[i * k + t] * s_k[t]);
          p64.push_back(double(u_mk[i * k + t]) * double(s_k[t]));
        }
      }
      v.insert(v.end(), vt_kn, vt_kn + n * k);
      v64.insert(v64.end(), vt_kn, vt_kn + n * k);
      append_split(
          shape.m, shape.k, columns_,
          [&](int i, int t) { return u_mk[std::size_t(i) * k + std::size_t(t)] * s_k[t]; }, u16);
      append_split(
          shape.n, shape.k, columns_,
          [&](int j, int t) { return vt_kn[std::size_t(t) * n + std::size_t(j)]; }, v16);
      const std::vector<std::uint8_t> original = original_pixels(shape, image);
      originals.insert(originals.end(), original.begin(), original.end());
      planes.push_back({.offset_bytes = std::int64_t(image) * std::int64_t(shape.pixel_count()),
                        .rows = shape.m,
                        .cols = shape.n,
                        .channels = 1,
                        .channel = 0,
                        .sample_bytes = 1,
                        .scale = 1});
    }
    float32_.emplace(p, v, queue);
    float64_.emplace(p64, v64, queue);
    float16_.emplace(u16, v16, queue);
    originals_.emplace(mirror(originals, queue));
    planes_.emplace(mirror(planes, queue));
    values_.reserve(pixels * sizeof(double));
    pixels_.emplace(pixels);
    tiles_ = std::size_t(compute::cuda::reconstruct_tile_count(shape.m, shape.n));
    const std::size_t blocks = std::size_t(error_blocks(shape));
    errors_.reserve(std::size_t(shape.images) *
                    std::max(tiles_ * sizeof(TileError), blocks * sizeof(PixelErrors)));

    using Kind = PixelVariant::Kind;
    using Arithmetic = PixelVariant::Arithmetic;
    add({.name = "one kernel, 3 × float16",
         .arithmetic = Arithmetic::float16_products,
         .kind = Kind::one_kernel,
         .occupancy = compute::cuda::reconstruct_float16_occupancy()},
        *float16_, [this] { reconstruct_float16(); });
    add({.name = "cuBLAS in float32, then rounding",
         .arithmetic = Arithmetic::float32,
         .kind = Kind::library},
        *float32_, [this] { multiply(*float32_); });
    add({.name = "one kernel, float64",
         .arithmetic = Arithmetic::float64,
         .kind = Kind::one_kernel,
         .occupancy = compute::cuda::reconstruct_occupancy()},
        *float64_, [this] { reconstruct(); });
    if (shape.k > compute::cuda::kMaxFusedRank)
      add({.name = "as in a run, float64: cuBLAS, then rounding",
           .arithmetic = Arithmetic::float64,
           .kind = Kind::run},
          *float64_, [this] { reconstruct_at_rank(); });
    add({.name = "cuBLAS in float64, then rounding",
         .arithmetic = Arithmetic::float64,
         .kind = Kind::library},
        *float64_, [this] { multiply(*float64_); });
  }

  const std::vector<PixelVariant>& variants() const override { return variants_; }
  CallTimes run(std::size_t variant) override {
    const Launch& launch = launches_[variant];
    return queue_.call_times(
        [&] {
          for (const MirroredArray* operand : launch.operands)
            operand->queue_copy_in(queue_.stream.get());
        },
        launch.compute, [&] { pixels_->queue_copy_out(queue_.stream.get()); });
  }

  ReconstructedPixels result(std::size_t variant, int image) override {
    ECKART_CUDA_CHECK(cudaMemsetAsync(pixels_->device(), 0, pixels_->bytes(), queue_.stream.get()));
    ECKART_CUDA_CHECK(cudaMemsetAsync(errors_.as<void>(), 0, errors_.bytes(), queue_.stream.get()));
    launches_[variant].compute();
    pixels_->queue_copy_out(queue_.stream.get());
    queue_.wait();
    ReconstructedPixels result;
    const auto index = std::size_t(image);
    const auto* const first =
        reinterpret_cast<const std::uint8_t*>(pixels_->host()) + index * shape_.pixel_count();
    result.pixels.assign(first, first + shape_.pixel_count());
    const auto add_errors = [&](const auto& errors) {
      for (const auto& error : errors) result.squared_error += error.squared_error;
    };
    if (variants_[variant].kind == PixelVariant::Kind::library) {
      const auto blocks = std::size_t(error_blocks(shape_));
      add_errors(download<PixelErrors>(errors_, index * blocks, blocks));
    } else {
      add_errors(download<TileError>(errors_, index * tiles_, tiles_));
    }
    return result;
  }

 private:
  struct Launch {
    std::array<const MirroredArray*, 2> operands;
    std::function<void()> compute;
  };

  template <class Number>
  void add(const PixelVariant& variant, const DeviceFactors<Number>& factors,
           std::function<void()> compute) {
    variants_.push_back(variant);
    launches_.push_back({{&factors.p_mk, &factors.v_nk}, std::move(compute)});
  }

  std::byte* pixels() const { return static_cast<std::byte*>(pixels_->device()); }
  const PlaneLayout* planes() const { return static_cast<const PlaneLayout*>(planes_->device()); }
  template <class T>
  const T* originals() const {
    return static_cast<const T*>(originals_->device());
  }

  template <class T>
  std::vector<T> download(const DeviceBuffer& buffer, std::size_t first, std::size_t count) const {
    std::vector<T> values(count);
    ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(values.data(), buffer.as<T>() + first, count * sizeof(T),
                                           cudaMemcpyDeviceToHost, queue_.stream.get()),
                           count * sizeof(T));
    queue_.wait();
    return values;
  }

  compute::cuda::Factors float64_factors() const {
    return compute::cuda::make_factors(float64_->p(), shape_.m, float64_->v(), shape_.n, shape_.k,
                                       shape_.k, false);
  }
  void reconstruct() const {
    compute::cuda::reconstruct(originals<std::byte>(), planes(), shape_.images, shape_.m, shape_.n,
                               shape_.k, nullptr, float64_factors(), pixels(),
                               errors_.as<TileError>(), queue_.stream.get());
  }
  void reconstruct_at_rank() const {
    compute::cuda::reconstruct_at_rank({queue_.stream.get(), queue_.blas.get(), nullptr},
                                       {originals<std::byte>(), planes(), false, shape_.images,
                                        shape_.m, shape_.n, pixels(), errors_.as<TileError>()},
                                       shape_.k, float64_factors(), float64_->v(),
                                       values_.as<double>());
  }

  void reconstruct_float16() const {
    compute::cuda::reconstruct_float16(
        originals<std::byte>(), planes(), shape_.images, shape_.m, shape_.n, {shape_.k}, nullptr,
        {float16_->p(), float16_->v(), columns_, 1.0F}, pixels(), pixels_->bytes(),
        errors_.as<TileError>(), tiles_ * std::size_t(shape_.images), queue_.stream.get());
  }

  // cuBLAS has column-major matrices: the rows of an image are columns there, image' = V P'.
  template <class Real>
  void multiply(const DeviceFactors<Real>& factors) const {
    const int m = shape_.m, n = shape_.n, k = shape_.k;
    const Real one = 1, zero = 0;
    ECKART_CUDA_CHECK(batched_gemm<Real>(queue_.blas.get(), CUBLAS_OP_N, CUBLAS_OP_T, n, m, k, &one,
                                         factors.v(), n, std::int64_t(n) * k, factors.p(), m,
                                         std::int64_t(m) * k, &zero, values_.as<Real>(), n,
                                         std::int64_t(m) * n, shape_.images));
    queue_pixels_and_errors(values_.as<Real>(), originals<std::uint8_t>(),
                            static_cast<std::uint8_t*>(pixels_->device()),
                            errors_.as<PixelErrors>(), shape_, queue_.stream.get());
  }

  const BatchShape shape_;
  Queue& queue_;
  int columns_ = 0;        // of the factors in float16
  std::size_t tiles_ = 0;  // of an image
  // Always there after the constructor.
  std::optional<DeviceFactors<float>> float32_;
  std::optional<DeviceFactors<double>> float64_;
  std::optional<DeviceFactors<__half>> float16_;
  std::optional<MirroredArray> originals_, planes_, pixels_;
  DeviceBuffer values_;  // products
  DeviceBuffer errors_;
  std::vector<PixelVariant> variants_;
  std::vector<Launch> launches_;  // of each variant
};

}  // namespace

std::unique_ptr<PixelReconstruction> make_gpu_pixels(const BatchShape& shape, Queue& queue) {
  return std::make_unique<GpuPixels>(shape, queue);
}

}  // namespace eckart::bench::cuda
