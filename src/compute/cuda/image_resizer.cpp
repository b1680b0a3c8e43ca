#include "compute/cuda/image_resizer.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "compute/cuda/plan/resize_choice.hpp"
#include "compute/out_of_memory.hpp"

namespace eckart::compute::cuda {

ImageResizer::ImageResizer(const std::vector<int>& devices, std::size_t max_bytes)
    : max_bytes_(max_bytes) {
  for (int i = 0; i < kWorkersPerGpu; ++i) {
    for (const int device : devices) idle_.push_back({device, nullptr});
  }
}

std::optional<Image> ImageResizer::try_resize(const Image& image, int rows, int cols) {
  if (!is_resized_faster_on_gpu(image.shape(), rows, cols)) return std::nullopt;
  const ResizePlan plan = plan_resize(image.shape(), rows, cols, weights_);
  Image result(plan.shapes.back());
  std::optional<IdleWorker> idle = take_worker(plan.image_bytes());
  if (!idle) return std::nullopt;
  bool is_done = false;
  try {
    if (!idle->worker) idle->worker = std::make_unique<ResizeWorker>(idle->device);
    idle->worker->resize(image, plan, result);
    is_done = true;
  } catch (const std::bad_alloc&) {
  } catch (const OutOfMemory&) {
    limit_memory(plan.image_bytes());
  } catch (const std::exception& error) {  // also a lost device, which the lanes report
    disable(error.what());
  }
  if (!is_done) idle->worker.reset();
  put_back(std::move(*idle));
  return is_done ? std::optional(std::move(result)) : std::nullopt;
}

std::vector<std::string> ImageResizer::warnings() const {
  const std::lock_guard lock(mutex_);
  if (error_.empty()) return {};
  return {"images were resized on the CPU, because the GPU failed: " + error_};
}

std::optional<ImageResizer::IdleWorker> ImageResizer::take_worker(std::size_t image_bytes) {
  const std::lock_guard lock(mutex_);
  if (idle_.empty() || image_bytes > max_bytes_ || !error_.empty()) return std::nullopt;
  IdleWorker worker = std::move(idle_.front());
  idle_.pop_front();
  return worker;
}

void ImageResizer::put_back(IdleWorker worker) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
}

void ImageResizer::limit_memory(std::size_t image_bytes) {
  const std::lock_guard lock(mutex_);
  max_bytes_ = std::min(max_bytes_, image_bytes / 2);
}

void ImageResizer::disable(const std::string& error) {
  const std::lock_guard lock(mutex_);
  if (error_.empty()) error_ = error;
}

}  // namespace eckart::compute::cuda
