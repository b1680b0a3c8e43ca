#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cpu/thread_team.hpp"
#include "bench/operation/batch.hpp"
#include "compute/backend.hpp"
#include "core/image.hpp"

namespace eckart::bench {

/// 8-bit gray images of n x n that are decomposed and reconstructed at rank k.
struct ImageBatch {
  int images = 1, n = 1, k = 1;

  std::string size_text() const;  ///< such as "256 × 256, k = 20"
  std::string text() const;       ///< such as "64 of 256 × 256, k = 20"
};

/// The images of a batch: photographs and their repeats, at most `kScenes` different ones.
std::vector<Image> batch_images(const ImageBatch& batch);
inline constexpr int kScenes = 4;
/// The sum of the squared differences of an 8-bit image from these pixels, in levels^2.
double squared_error(const Image& image, const std::uint8_t* pixels);

/// What a call took, in seconds.
struct BatchTimes {
  double total_s = 0;      ///< by the clock of the host, from pixels to pixels in its memory
  double compute_s = 0;    ///< the GPU computed, by its clock; on the CPU the same as `total_s`
  EngineShares engines{};  ///< of the GPU, if the backend has BackendOptions::trace
};

inline constexpr int kAllSlots = 1 << 10;

/// Decomposes a batch as runs do: on all lanes of a backend, in batches of the size it asks for.
class BackendBatch {
 public:
  /// The backend must outlive it. At most `max_slots` slots of each lane are used.
  BackendBatch(compute::Backend& backend, const ImageBatch& batch, int max_slots = kAllSlots);
  ~BackendBatch();
  BackendBatch(const BackendBatch&) = delete;
  BackendBatch& operator=(const BackendBatch&) = delete;

  /// Decomposes and reconstructs all images. The first call makes the lanes. Before the second,
  /// and not in its time, all slots compute a part: they allocate their memory then, and otherwise
  /// in any of the later calls. Throws std::runtime_error if an image fails, and as
  /// Backend::make_lane() and Lane::finish().
  BatchTimes run();
  /// The squared errors of the pixels of the last run(), in levels^2, image after image.
  std::vector<double> squared_errors() const;
  /// The solver that the backend chose for the images.
  SolverKind solver() const;

 private:
  /// Calls work(lane) on the thread of each lane. Rethrows what one of them throws.
  void on_each_lane(const std::function<void(std::size_t lane)>& work);
  void use_all_slots();
  void compute_parts(std::size_t lane);
  int slots(std::size_t lane);  // makes the lane if there is none
  void start(std::size_t lane, int slot, std::size_t part);

  compute::Backend& backend_;
  const int max_slots_;
  std::vector<compute::Task> tasks_;
  compute::BatchKey key_;
  std::size_t part_ = 1;  // images that are computed together
  std::atomic<std::size_t> next_ = 0;
  int calls_ = 0;  // of run()
  ThreadTeam team_;
  std::vector<std::unique_ptr<compute::Lane>> lanes_;
};

/// The squared errors of the different images of a batch, decomposed by this backend.
std::vector<double> scene_errors(compute::Backend& backend, const ImageBatch& batch);
/// The largest loss in dB of these squared errors of a batch against those of its scenes.
double largest_loss_db(const std::vector<double>& errors, const std::vector<double>& scene_errors);

}  // namespace eckart::bench
