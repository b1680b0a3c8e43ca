#include "pipeline/resume.hpp"

#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/file.hpp"

namespace eckart {
namespace {

/// FNV-1a: the same in every process and on every machine.
std::uint64_t hashed(const std::string& bytes) {
  constexpr std::uint64_t kOffset = 14695981039346656037U, kPrime = 1099511628211U;
  std::uint64_t hash = kOffset;
  for (const char byte : bytes) hash = (hash ^ std::uint8_t(byte)) * kPrime;
  return hash;
}

/// Nothing where it is gone, or may not be searched.
std::filesystem::path current_folder() {
  std::error_code none;
  return std::filesystem::current_path(none);
}

}  // namespace

Resume::Resume(ledger::Ledger& ledger, ResumeOptions options)
    : ledger_(ledger),
      options_(std::move(options)),
      had_failures_(!ledger.failed(1).empty()),
      current_(current_folder()),
      root_(absolute(options_.root)) {
  for (const std::string& text : options_.settings) settings_.push_back(hashed(text));
  if (!options_.on_gpu) return;
  for (ledger::Suspect& suspect : ledger_.suspects())
    suspects_.emplace(suspect.input, std::move(suspect));
}

void Resume::check(WorkItem& item) const {
  item.state = io::state_of(item.file);
  if (!is_done(item)) return mark_suspect(item, absolute(item.file));
  item.outcome = {Result::skipped, Stage::load, Reason::none, "done before"};
}

bool Resume::is_done(const WorkItem& item) const {
  const std::string input = absolute(item.file);
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (!is_done(item, input, i)) return false;
  }
  return true;
}

bool Resume::has_failed(const WorkItem& item) const {
  const auto failure = ledger_.find_failure(absolute(item.file));
  return failure && failure->state == item.state;
}

void Resume::check_owner(const WorkItem& item) const {
  const std::string input = absolute(item.file);
  std::error_code none;  // nothing there, so nobody's
  for (const auto& output : item.outputs) {
    const auto known = ledger_.find(below_root(output));
    if (known && known->input != input && std::filesystem::exists(output, none))
      throw ItemError(Reason::output_collision,
                      "its output " + output.string() + " is a result of " + known->input +
                          " (output.name={name}.{ext} tells a.jpg from a.png)");
  }
}

void Resume::mark_suspect(WorkItem& item, const std::string& input) const {
  constexpr int kMostLosses = 2;  // the first may be another's, the second is its own
  const int losses = this->losses(input, item.state);
  item.suspect = losses > 0;
  item.task.off_gpu = losses >= kMostLosses;
  if (item.task.off_gpu && !ledger_.is_read_only())
    spdlog::warn("{}: the GPU was lost {} times while it was computed: the CPU does it",
                 printable(item.file.native()), losses);
}

/// What is known of the file there, if it is the one that was made from the input.
std::optional<ledger::Entry> Resume::result_at(const std::filesystem::path& output,
                                               const std::string& input) const {
  auto known = ledger_.find(below_root(output));
  std::error_code gone;
  if (!known || known->input != input ||
      std::int64_t(std::filesystem::file_size(output, gone)) != known->bytes)
    return {};
  return known;
}

bool Resume::was_made(const WorkItem& item, const std::filesystem::path& output) const {
  return result_at(output, absolute(item.file)).has_value();
}

bool Resume::is_done(const WorkItem& item, const std::string& input, std::size_t output) const {
  const auto known = result_at(item.outputs[output], input);
  return known && known->state == item.state && known->settings == settings_[output] &&
         known->run >= options_.first_run;
}

int Resume::losses(const std::string& input, const FileState& state) const {
  const auto known = suspects_.find(input);
  return known != suspects_.end() && known->second.state == state ? known->second.losses : 0;
}

void Resume::record(std::span<WorkItem* const> items) const {
  ledger::Changes changes;
  for (const WorkItem* item : items) {
    const Outcome& outcome = item->outcome;
    if (outcome.result == Result::deferred) continue;
    const std::string input = absolute(item->file);
    if (outcome.result == Result::skipped) {
      if (had_failures_ || suspects_.contains(input)) changes.cleared.push_back(input);
      continue;
    }
    if (!outcome.ok()) {
      changes.failed.push_back({input, item->state, outcome.reason, outcome.detail});
      continue;
    }
    for (std::size_t i = 0; i < item->outputs.size(); ++i) {
      changes.done.push_back({.output = below_root(item->outputs[i]),
                              .input = input,
                              .settings = settings_[i],
                              .part = int(i),
                              .state = item->state,
                              .bytes = item->file_bytes[i]});
    }
  }
  ledger_.record(changes);
}

void Resume::record_taken(std::span<WorkItem* const> items) const {
  ledger::Changes changes;
  for (const WorkItem* item : items) {
    for (const auto& output : item->outputs) changes.taken.push_back(below_root(output));
  }
  ledger_.record(changes);
}

/// Looks twice, and at the second time while nothing is recorded: a new output is at its place
/// before it is recorded, so that it is never taken for gone.
std::optional<std::string> Resume::forget_gone(
    const std::string& after,
    const std::function<bool(const std::filesystem::path& output)>& is_gone) const {
  constexpr int kMost = 16;  // little, for who waits to record
  std::vector<std::string> outputs = ledger_.outputs_after(after, kMost);
  if (outputs.empty()) return std::nullopt;
  std::string last = outputs.back();
  const auto keep_gone = [&] {
    std::erase_if(outputs, [&](const std::string& output) { return !is_gone(root_ / output); });
    return outputs;
  };
  if (!keep_gone().empty()) ledger_.forget(keep_gone);
  return last;
}

void Resume::record_lost(const std::vector<const WorkItem*>& items) const {
  std::vector<ledger::Suspect> suspects;
  for (const WorkItem* item : items) {
    const std::string input = absolute(item->file);
    suspects.push_back({input, item->state, losses(input, item->state) + 1});
  }
  ledger_.record_suspects(suspects);
}

std::string Resume::absolute(const std::filesystem::path& path) const {
  return (current_ / path).lexically_normal().native();
}

std::string Resume::below_root(const std::filesystem::path& output) const {
  return (current_ / output).lexically_normal().lexically_relative(root_).native();
}

}  // namespace eckart
