#include "app/upkeep.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <vector>

#include "core/printable.hpp"

namespace eckart::app {
namespace {

// A sweep looks at all that is there.
constexpr int kSweepShare = 20;  // it rests for so many times what it took, at least
constexpr auto kAfterMore = std::chrono::seconds(10), kForAge = std::chrono::seconds(600);
constexpr auto kForgetEvery = std::chrono::seconds(3600);
constexpr auto kForgetFor = std::chrono::milliseconds(50);

void tell_later(const std::exception& error) {
  spdlog::debug("what is gone is forgotten later: {}", printable_message(error.what()));
}

}  // namespace

void Upkeep::run(Job* job, const std::stop_token& stop) {
  const auto is_over = [](Clock::time_point since, Clock::duration pause) {
    return since == Clock::time_point() || Clock::now() - since >= pause;
  };
  const Clock::duration pause = has_quarantined_ ? kAfterMore : kForAge;
  if (is_over(swept_, std::max(pause, kSweepShare * sweep_took_))) sweep(job);
  if (!job) return;
  if (!looked_at_ && is_over(began_to_forget_, kForgetEvery)) {
    began_to_forget_ = Clock::now();
    looked_at_.emplace();
  }
  if (looked_at_) forget_gone(*job, stop);
}

void Upkeep::sweep(Job* job) {
  const Clock::time_point start = Clock::now();
  has_quarantined_ = false;
  const auto removed = quarantine_.sweep(std::chrono::system_clock::now());
  for (const std::filesystem::path& file : removed)
    spdlog::warn("{}: removed from the quarantine, by its limits of age and size",
                 printable(file.native()));
  swept_ = Clock::now();
  sweep_took_ = swept_ - start;
  if (removed.empty() || !job) return;
  try {
    job->forget_failures_of_what_is_gone();
  } catch (const std::exception& error) {
    tell_later(error);
  }
}

/// For a little while: other watches are looked after by the same thread.
void Upkeep::forget_gone(Job& job, const std::stop_token& stop) {
  const Clock::time_point end = Clock::now() + kForgetFor;
  try {
    do {
      looked_at_ = job.forget_gone(*looked_at_);
    } while (looked_at_ && !stop.stop_requested() && Clock::now() < end);
  } catch (const std::exception& error) {  // which the next image finds out, too
    tell_later(error);
    looked_at_.reset();
  }
}

}  // namespace eckart::app
