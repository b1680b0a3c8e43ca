#include "pipeline/write_worker.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/instant.hpp"
#include "pipeline/attempt.hpp"

namespace eckart::pipeline {

using State = flow::StageClock::State;

namespace {

bool lacks_resources(const EnvironmentError& error) {
  return error.remedy() == EnvironmentError::Remedy::release_resources;
}

}  // namespace

bool WriteWorker::run(const std::function<bool()>& leaves) try {
  for (;;) {
    if (group_files_ == 0 && leaves()) {
      end_group();
      return true;
    }
    // A worker with a non-empty group does not wait for more items.
    auto popped = group_.empty()
                      ? clock_.measure_wait(State::waiting_for_input, [&] { return in_.pop(); })
                      : in_.try_pop();
    if (!popped && group_.empty()) return false;
    if (popped) {
      if (group_files_ == 0) group_begin_ = Clock::now();
      add_to_group(std::move(*popped));
    }
    if (popped && group_files_ < std::size_t(stage_.options.publish_group_files)) continue;
    publish();
    if (Clock::now() - group_begin_ >= stage_.options.max_unrecorded) end_group();
  }
} catch (...) {
  record_published();
  throw;
}

void WriteWorker::add_to_group(ItemPtr item) {
  stage_.meters.finished.add(Clock::now() - item->entered_at);
  try {
    try_write(*item);
  } catch (const EnvironmentError& error) {
    end_group();  // frees the descriptors of the written files
    if (!lacks_resources(error) && !stage_.space.should_wait(error)) throw;
    write(*item);
  }
  group_files_ += item->outputs.size();
  group_.push_back(std::move(item));
}

/// Writes all outputs of an item, or none, without a name or under temporary names.
void WriteWorker::try_write(WorkItem& item) {
  ThreadTrace::Span span(trace_, item);
  trace_.trace_flow(item);
  const auto args = [&] { return trace_args(item); };
  if (!item.outcome.ok()) return span.end(args);
  const Activity::Scope step(
      stage_.activity,
      {to_string(Stage::write), stage_.options.limits.write(item), {to_activity_file(item)}});
  const auto busy_before = clock_.busy_time();
  attempt(item.outcome, Stage::write, FailureReason::internal, [&] { stage_.steps.write(item); });
  if (item.outcome.ok()) item.advance(ItemState::written);
  if (!item.outcome.ok()) item.publication.clear();
  item.write_time += clock_.busy_time() - busy_before;
  span.end(args);
}

void WriteWorker::write(WorkItem& item) {
  SpaceWait wait(stage_.space);
  for (int exhaustions = 0;;) {
    try {
      try_write(item);
      return wait.end();
    } catch (const EnvironmentError& error) {
      wait_for_retry(wait, exhaustions, error);
    }
  }
}

/// Publishes the written items of the group. Records and finishes those that are published already;
/// the others become so. If the ledger cannot be written and the run ends, published items are
/// still counted.
void WriteWorker::publish() {
  SpaceWait wait(stage_.space);
  int exhaustions = 0;
  for (bool is_done = group_.empty(); !is_done;) {
    const auto busy_before = clock_.busy_time();
    ThreadTrace::Span span(trace_, "publish");
    const auto args = [images = group_.size() - published()] {
      return trace::TraceArgs().add("images", images);
    };
    std::optional<Activity::Scope> step;
    step.emplace(stage_.activity, publish_step());
    try {
      stage_.steps.publish(group_);
      const auto share = (clock_.busy_time() - busy_before) / group_.size();
      for (const ItemPtr& item : group_) item->write_time += share;
      step.emplace(stage_.activity, finish_step());
      finish(ItemState::recorded);
      span.end(args);
      is_done = true;
    } catch (const EnvironmentError& error) {
      step.emplace(stage_.activity, finish_step());
      finish(ItemState::recorded);
      span.end(args);
      step.reset();
      try {
        wait_for_retry(wait, exhaustions, error);
        for (const ItemPtr& item : group_) {
          if (item->state() < ItemState::published) write(*item);
        }
      } catch (const EnvironmentError&) {
        finish(ItemState::published);
        throw;
      }
      is_done = group_.empty();
    }
  }
  wait.end();
  group_files_ = 0;
}

/// The run ends with an error. The other items of the group are dropped. Errors are ignored: the
/// next run makes the outputs again that are not recorded.
void WriteWorker::record_published() noexcept try {
  std::erase_if(group_, [](const ItemPtr& item) { return item->state() < ItemState::published; });
  if (group_.empty()) return;
  const Activity::Scope step(stage_.activity, publish_step());
  stage_.steps.publish(group_);
  finish(ItemState::recorded);
} catch (...) {
}

/// The number of items of the group that are to be recorded only.
std::size_t WriteWorker::published() const {
  return std::size_t(std::ranges::count_if(
      group_, [](const ItemPtr& item) { return item->state() >= ItemState::published; }));
}

/// Publishes, records and finishes all items of the group.
void WriteWorker::end_group() {
  while (!group_.empty()) publish();
}

Activity::Step WriteWorker::publish_step() const {
  Activity::Step step{to_string(Stage::write), stage_.options.limits.stall};
  for (const ItemPtr& item : group_) {
    step.max_duration += stage_.options.limits.publish(*item);
    step.files.push_back(to_activity_file(*item));
  }
  return step;
}

/// Names no files, because finish() ends the items.
Activity::Step WriteWorker::finish_step() const {
  return {to_string(Stage::write), stage_.options.limits.stall};
}

/// Counts, reports and removes the items of the group that have reached state `from`.
void WriteWorker::finish(ItemState from) {
  const auto end = std::stable_partition(
      group_.begin(), group_.end(), [&](const ItemPtr& item) { return item->state() >= from; });
  const std::span<const ItemPtr> items(group_.begin(), end);
  stage_.tally.count(items);
  for (const ItemPtr& item : items) {
    if (item->outcome.result == ItemResult::done)
      stage_.meters.service(Stage::write).add(item->write_time);
    trace_.trace_flow(*item, ThreadTrace::Flow::end);
    stage_.steps.finish(*item);
    item->advance(ItemState::finished);
  }
  group_.erase(group_.begin(), end);
}

/// After a failed attempt: waits for disk space, or for descriptors that other threads release.
/// Throws `error` if neither helps. `exhaustions`: the attempts that found no descriptor.
void WriteWorker::wait_for_retry(SpaceWait& wait, int& exhaustions, const EnvironmentError& error) {
  if (!lacks_resources(error)) return wait_for_space(wait, error);
  trace_.name_next_wait("waiting for file descriptors");
  const auto pause = [&] {
    return clock_.measure_wait(State::blocked, [&] { return stage_.space.pause(); });
  };
  if (++exhaustions == stage_.options.max_attempts || !pause()) throw EnvironmentError(error);
}

/// Earlier stages stop when their queues are full.
void WriteWorker::wait_for_space(SpaceWait& wait, const EnvironmentError& error) {
  trace_.name_next_wait("waiting for disk space");
  clock_.measure_wait(State::blocked, [&] { wait.pause(error); });
}

}  // namespace eckart::pipeline
