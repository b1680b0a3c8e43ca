#include "pipeline/output_stamp.hpp"

#include "core/rank_spec.hpp"

namespace eckart::pipeline {

std::vector<TextEntry> output_stamp(const WorkItem& item, std::size_t output,
                                    const std::string& program) {
  if (program.empty()) return {};
  std::string channel_ranks;
  for (const compute::PlaneResult& plane : item.task.results[output])
    channel_ranks += (channel_ranks.empty() ? "" : ",") + std::to_string(plane.rank);
  std::vector<TextEntry> stamp{{"Software", program},
                               {"eckart:rank", to_string(item.output_ranks[output])},
                               {"eckart:channel_ranks", channel_ranks}};
  if (item.color != ColorMode::channels && item.image_shape.channels > 1)
    stamp.push_back({"eckart:color", to_string(item.color)});
  return stamp;
}

}  // namespace eckart::pipeline
