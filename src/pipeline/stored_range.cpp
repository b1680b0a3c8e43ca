#include "pipeline/stored_range.hpp"

#include <cstddef>
#include <optional>

#include "analysis/comparison.hpp"
#include "core/stored_range.hpp"
#include "pipeline/measure.hpp"

namespace eckart::pipeline {
void clamp_outputs_to_stored_bits(WorkItem& item) {
  compute::Task& task = item.task;
  const auto max = largest_stored_sample(item.metadata, task.input.shape().depth);
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
