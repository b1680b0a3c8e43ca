#include "pipeline/stored_range.hpp"

#include <cstddef>
#include <optional>

#include "analysis/comparison.hpp"
#include "pipeline/measure.hpp"

namespace eckart::pipeline {
namespace {

/// The largest sample, if it is smaller than the largest one of the depth.
std::optional<int> largest_sample(const Metadata& metadata, Depth depth) {
  const int bits = bits_stored(metadata.dicom);
  const bool is_partial = bits > 0 && bits < 8 * int(depth);
  return is_partial ? std::optional((1 << bits) - 1) : std::nullopt;
}

/// Returns whether a sample was larger.
bool clamp_samples(Image& image, int max) {
  return with_sample_type(image.shape().depth, [&]<class T>(T*) {
    bool has_changed = false;
    T* const samples = reinterpret_cast<T*>(image.data());
    for (std::size_t i = 0; i < image.shape().samples(); ++i) {
      if (!(samples[i] > T(max))) continue;
      samples[i] = T(max);
      has_changed = true;
    }
    return has_changed;
  });
}

}  // namespace

void clamp_to_stored_bits(Picture& picture) {
  if (const auto max = largest_sample(picture.metadata, picture.pixels.shape().depth))
    clamp_samples(picture.pixels, *max);
}

void clamp_outputs_to_stored_bits(WorkItem& item) {
  compute::Task& task = item.task;
  const auto max = largest_sample(item.metadata, task.input.shape().depth);
  if (!max) return;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    if (task.outputs[i].empty() || !clamp_samples(task.outputs[i], *max)) continue;
    if (item.errors.empty()) {
      for (const auto& planes : task.results) item.errors.push_back(sum_errors(planes));
    }
    item.errors[i].squared_error = analysis::compare(task.input, task.outputs[i]).squared_error;
  }
}

}  // namespace eckart::pipeline
