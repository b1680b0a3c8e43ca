#include "pipeline/found_items.hpp"

#include <cstdint>
#include <utility>

#include "pipeline/attempt.hpp"
#include "pipeline/load.hpp"

namespace eckart::pipeline {

std::vector<ItemPtr> make_found_items(std::vector<io::SourceItem> arrivals, JobSteps& steps,
                                      Tally& tally, Activity& activity, Activity::Duration stall) {
  const auto found_at = Clock::now();
  std::int64_t number = tally.add_found(found_at, arrivals.size());
  std::vector<ItemPtr> items;
  items.reserve(arrivals.size());
  Activity::Step step{to_string(Stage::source), stall};
  step.files.reserve(arrivals.size());
  for (io::SourceItem& arrival : arrivals) {
    ItemPtr& item = items.emplace_back(make_work_item(std::move(arrival)));
    item->number = number++;
    item->found_at = found_at;
    step.files.push_back(to_activity_file(*item));
  }
  const Activity::Scope scope(activity, std::move(step));
  for (const ItemPtr& item : items) {
    if (item->outcome.ok())
      attempt(item->outcome, Stage::source, FailureReason::internal,
              [&] { steps.assign_outputs(*item); });
  }
  return items;
}

}  // namespace eckart::pipeline
