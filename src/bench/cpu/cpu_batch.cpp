#include "bench/cpu/cpu_batch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/cpu/blas_threads.hpp"
#include "bench/cpu/thread_team.hpp"

namespace eckart::bench {
namespace {

class CpuBatch : public PreparedBatch {
 public:
  CpuBatch(const BatchShape& shape, int images_at_once, int cores_per_image)
      : shape_(shape),
        cores_per_image_(cores_per_image),
        values_(std::size_t(images_at_once)),
        team_(std::max(images_at_once, cores_per_image)) {
    for (int image = 0; image < shape.images; ++image) {
      factors_.push_back(random_factors(shape, image));
      pixels_.emplace_back(shape.pixel_count());
    }
    for (Values& values : values_) {
      values.scaled_vt.resize(std::size_t(shape.n) * std::size_t(shape.k));
      values.image.resize(shape.pixel_count());
    }
  }

  double run() override {
    const BlasThreads threads(cores_per_image_);
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t images = factors_.size();
    const std::size_t part = (images + values_.size() - 1) / values_.size();
    const ThreadTeam::Work work = [&](std::size_t first, std::size_t end) {
      for (std::size_t image = first; image < end; ++image)
        reconstruct(image, values_[first / part]);
    };
    if (values_.size() == 1)
      work(0, images);
    else
      team_.run(images, work, 1);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  void clear() override {
    for (std::vector<std::uint8_t>& pixels : pixels_) std::fill(pixels.begin(), pixels.end(), 0);
  }
  std::vector<std::uint8_t> pixels(int image) override { return pixels_of(std::size_t(image)); }
  const std::vector<std::uint8_t>& pixels_of(std::size_t image) const { return pixels_[image]; }
  EngineShares measure_engines() override { return {}; }

 private:
  struct Values {
    std::vector<float> scaled_vt, image;
  };

  void reconstruct(std::size_t image, Values& values) {
    const auto m = std::size_t(shape_.m), n = std::size_t(shape_.n), k = std::size_t(shape_.k);
    const float *u_mk = factors_[image].data(), *s_k = u_mk + m * k, *vt_kn = s_k + k;
    in_parallel(k * n, n, [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; ++at) values.scaled_vt[at] = s_k[at / n] * vt_kn[at];
    });
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, shape_.m, shape_.n, shape_.k, 1, u_mk,
                shape_.k, values.scaled_vt.data(), shape_.n, 0, values.image.data(), shape_.n);
    in_parallel(m * n, n, [&](std::size_t begin, std::size_t end) {
      std::transform(values.image.begin() + std::ptrdiff_t(begin),
                     values.image.begin() + std::ptrdiff_t(end),
                     pixels_[image].begin() + std::ptrdiff_t(begin), to_pixel);
    });
  }

  /// On the cores of an image, if it has several.
  void in_parallel(std::size_t size, std::size_t unit, const ThreadTeam::Work& work) {
    if (cores_per_image_ == 1)
      work(0, size);
    else
      team_.run(size, work, unit);
  }

  /// Rounds to nearest even and clamps. The compiler vectorizes it, unlike std::nearbyint().
  static std::uint8_t to_pixel(float value) {
    constexpr float kLarge = 12582912;  // 1.5 * 2^23: the sum has no bits for a fraction
    const float clamped = std::clamp(value, 0.0F, 255.0F);
    return std::uint8_t((clamped + kLarge) - kLarge);
  }

  const BatchShape shape_;
  const int cores_per_image_;
  std::vector<std::vector<float>> factors_;
  std::vector<std::vector<std::uint8_t>> pixels_;
  std::vector<Values> values_;  // of each thread
  ThreadTeam team_;
};

class CpuPixels : public PixelReconstruction {
 public:
  CpuPixels(const BatchShape& shape, int cores)
      : team_(cores), squared_errors_(std::size_t(shape.images)) {
    for (int image = 0; image < shape.images; ++image)
      originals_.push_back(original_pixels(shape, image));
    for (const int count : {1, cores}) {
      variants_.push_back({.name = "OpenBLAS in float32, then rounding",
                           .kind = PixelVariant::Kind::library,
                           .cores = count});
      const bool has_image_for_each_core = shape.images >= count;
      batches_.push_back(std::make_unique<CpuBatch>(shape, has_image_for_each_core ? count : 1,
                                                    has_image_for_each_core ? 1 : count));
      if (cores == 1) break;
    }
  }

  const std::vector<PixelVariant>& variants() const override { return variants_; }

  CallTimes run(std::size_t variant) override {
    const double reconstruction_s = batches_[variant]->run();
    const auto begin = std::chrono::steady_clock::now();
    compare(variant);
    const std::chrono::duration<double> comparison = std::chrono::steady_clock::now() - begin;
    return {.compute_s = reconstruction_s + comparison.count()};
  }

  ReconstructedPixels result(std::size_t variant, int image) override {
    batches_[variant]->clear();
    run(variant);
    return {batches_[variant]->pixels(image), double(squared_errors_[std::size_t(image)])};
  }

 private:
  void compare(std::size_t variant) {
    for (std::size_t image = 0; image < originals_.size(); ++image) {
      const std::vector<std::uint8_t>& pixels = batches_[variant]->pixels_of(image);
      std::atomic<std::int64_t> squared_error = 0;
      const ThreadTeam::Work add = [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        for (std::size_t at = begin; at < end; ++at) {
          const std::int64_t difference = int(pixels[at]) - int(originals_[image][at]);
          sum += difference * difference;
        }
        squared_error += sum;
      };
      if (variants_[variant].cores == 1)
        add(0, pixels.size());
      else
        team_.run(pixels.size(), add);
      squared_errors_[image] = squared_error;
    }
  }

  ThreadTeam team_;
  std::vector<std::vector<std::uint8_t>> originals_;
  std::vector<PixelVariant> variants_;
  std::vector<std::unique_ptr<CpuBatch>> batches_;  // of each variant
  std::vector<std::int64_t> squared_errors_;        // of the last run
};

}  // namespace

std::unique_ptr<PixelReconstruction> make_cpu_pixels(const BatchShape& shape, int cores) {
  return std::make_unique<CpuPixels>(shape, cores);
}

std::unique_ptr<PreparedBatch> make_cpu_batch(const BatchShape& shape, int images_at_once,
                                              int cores_per_image) {
  return std::make_unique<CpuBatch>(shape, images_at_once, cores_per_image);
}

}  // namespace eckart::bench
