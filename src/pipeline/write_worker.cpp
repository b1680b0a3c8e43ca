#include "pipeline/write_worker.hpp"

#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

#include "core/instant.hpp"
#include "flow/pause.hpp"
#include "pipeline/attempt.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {

using State = flow::StageClock::State;

void WriteWorker::run() {
  for (;;) {
    // A worker with a non-empty group does not wait for more items.
    auto popped = group_.empty() ? clock_.measure_wait(State::waiting_for_input,
                                                       [&] { return shared_.in.pop(); })
                                 : shared_.in.try_pop();
    if (!popped && group_.empty()) return;
    if (popped) add_to_group(std::move(*popped));
    if (!popped || group_files_ >= std::size_t(shared_.options.publish_group_files)) publish();
  }
}

void WriteWorker::add_to_group(ItemPtr item) {
  shared_.meters.finished.add(Clock::now() - item->entered_at);
  try {
    try_write(*item);
  } catch (const EnvironmentError& error) {
    const bool can_retry =
        !group_.empty() && error.remedy() == EnvironmentError::Remedy::release_resources;
    publish();  // frees the descriptors of the written files
    if (!can_retry && !should_wait_for_space(error)) throw;
    write(*item);
  }
  group_files_ += item->outputs.size();
  group_.push_back(std::move(item));
}

/// Writes all outputs of an item, or none, under temporary names.
void WriteWorker::try_write(WorkItem& item) {
  ThreadTrace::Span span(trace_, item);
  trace_.trace_flow(item);
  const auto args = [&] { return trace_args(item); };
  if (!item.outcome.ok()) return span.end(args);
  const Activity::Scope step(
      shared_.activity,
      {to_string(Stage::write), shared_.options.limits.write(item), {to_activity_file(item)}});
  const auto busy_before = clock_.busy_time();
  attempt(item.outcome, Stage::write, FailureReason::internal, [&] { shared_.steps.write(item); });
  if (item.outcome.ok()) item.advance(ItemState::written);
  if (!item.outcome.ok()) item.publication.clear();
  item.write_time += clock_.busy_time() - busy_before;
  span.end(args);
}

void WriteWorker::write(WorkItem& item) {
  SpaceWait wait;
  for (;;) {
    try {
      try_write(item);
      return end(wait);
    } catch (const EnvironmentError& error) {
      wait_for_space(wait, error);
    }
  }
}

/// Publishes, records and finishes all items of the group, and empties it. If the ledger cannot be
/// written and the run ends, published items are still counted.
void WriteWorker::publish() {
  SpaceWait wait;
  while (!group_.empty()) {
    const auto busy_before = clock_.busy_time();
    ThreadTrace::Span span(trace_, "publish");
    const auto args = [images = group_.size()] { return trace::TraceArgs().add("images", images); };
    std::optional<Activity::Scope> step;
    step.emplace(shared_.activity, publish_step());
    try {
      shared_.steps.publish(group_);
      const auto share = (clock_.busy_time() - busy_before) / group_.size();
      for (const ItemPtr& item : group_) item->write_time += share;
      finish(ItemState::recorded);
      span.end(args);
    } catch (const EnvironmentError& error) {
      finish(ItemState::recorded);
      span.end(args);
      step.reset();
      try {
        wait_for_space(wait, error);
        for (const ItemPtr& item : group_) {
          if (item->state() < ItemState::published) write(*item);
        }
      } catch (const EnvironmentError&) {
        finish(ItemState::published);
        throw;
      }
    }
  }
  end(wait);
  group_files_ = 0;
}

Activity::Step WriteWorker::publish_step() const {
  Activity::Step step{to_string(Stage::write), shared_.options.limits.stall};
  for (const ItemPtr& item : group_) {
    step.max_duration += shared_.options.limits.publish(*item);
    step.files.push_back(to_activity_file(*item));
  }
  return step;
}

/// Counts, reports and removes the items of the group that have reached state `from`.
void WriteWorker::finish(ItemState from) {
  for (const ItemPtr& item : group_) {
    if (item->state() < from) continue;
    if (item->outcome.result == ItemResult::done)
      shared_.meters.service(Stage::write).add(item->write_time);
    trace_.trace_flow(*item, ThreadTrace::Flow::end);
    shared_.tally.count(*item);
    shared_.steps.finish(*item);
    item->advance(ItemState::finished);
  }
  std::erase_if(group_, [](const ItemPtr& item) { return item->state() == ItemState::finished; });
}

/// Pauses if the settings ask for it and free space can help. Otherwise, or if the run is stopped,
/// throws `error`. Earlier stages stop when their queues are full.
void WriteWorker::wait_for_space(SpaceWait& wait, const EnvironmentError& error) {
  if (!should_wait_for_space(error)) throw EnvironmentError(error);
  if (!std::exchange(wait.has_started, true) && shared_.waiting_for_space++ == 0)
    spdlog::warn("{}; waiting for free disk space", text::printable_message(error.what()));
  trace_.name_next_wait("waiting for disk space");
  const bool should_continue = clock_.measure_wait(State::blocked, [&] {
    return flow::pause(shared_.options.space_poll_interval, shared_.stop);
  });
  if (!should_continue) throw EnvironmentError(error);
}

void WriteWorker::end(const SpaceWait& wait) {
  if (wait.has_started && --shared_.waiting_for_space == 0)
    spdlog::warn("disk space is available again; continuing");
}

}  // namespace eckart::pipeline
