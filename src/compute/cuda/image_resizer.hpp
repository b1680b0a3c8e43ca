#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/cuda/resize_worker.hpp"
#include "preparation/filter_weights.hpp"
#include "preparation/resizer.hpp"

namespace eckart::compute::cuda {

/// Resizes images on GPUs, on the threads that load them. It is separate from the lanes, because an
/// image is much larger before it is resized than afterwards. Nothing is allocated before the first
/// image. An image is left to the CPU if the GPU is not faster, if the image is too large, and if
/// all workers are busy.
class ImageResizer : public preparation::Resizer {
 public:
  static constexpr int kWorkersPerGpu = 2;

  /// `max_bytes`: of an image and its results on the device. A worker may use twice as much.
  ImageResizer(const std::vector<int>& devices, std::size_t max_bytes);

  std::optional<Image> try_resize(const Image& image, int rows, int cols) override;

  /// See Backend.
  std::vector<std::string> warnings() const;

 private:
  struct IdleWorker {
    int device;
    std::unique_ptr<ResizeWorker> worker;  // null before it is needed, and after an error
  };
  std::optional<IdleWorker> take_worker(std::size_t image_bytes);
  void put_back(IdleWorker worker);
  void limit_memory(std::size_t image_bytes);
  void disable(const std::string& error);

  preparation::WeightCache weights_;
  mutable std::mutex mutex_;  // of all below
  std::size_t max_bytes_;     // shrinks if memory runs out
  std::deque<IdleWorker> idle_;
  std::string error_;  // after which the GPUs are not used; empty if there was none
};

}  // namespace eckart::compute::cuda
