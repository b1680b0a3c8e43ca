#include "pipeline/resume.hpp"

#include <system_error>

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

Resume::Resume(ledger::Ledger& ledger, const std::vector<std::string>& settings, bool redo)
    : ledger_(ledger), redo_(redo), folder_(current_folder()) {
  for (const std::string& text : settings) settings_.push_back(hashed(text));
}

void Resume::check(WorkItem& item) const {
  item.state = io::state_of(item.file);
  if (redo_) return;
  const std::string input = absolute(item.file);
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (!is_done(item, input, i)) return;
  }
  item.outcome = {Result::skipped, Stage::load, Reason::none, "done before"};
}

bool Resume::is_done(const WorkItem& item, const std::string& input, std::size_t output) const {
  const auto known = ledger_.find(absolute(item.outputs[output]));
  if (!known || !known->done || known->input != input || known->state != item.state) return false;
  std::error_code gone;
  return known->settings == settings_[output] &&
         std::int64_t(std::filesystem::file_size(item.outputs[output], gone)) == known->bytes;
}

void Resume::record(std::span<const ItemPtr> items) const {
  std::vector<ledger::Entry> entries;
  for (const ItemPtr& item : items) {
    const Outcome& outcome = item->outcome;
    if (!item->published || outcome.result == Result::skipped) continue;
    // What has no outputs of its own, or is not there, is no image of this folder's.
    if (outcome.result == Result::failed && outcome.stage == Stage::source) continue;
    for (std::size_t i = 0; i < (outcome.ok() ? item->outputs.size() : 1); ++i) {
      entries.push_back({.output = absolute(item->outputs[i]),
                         .input = absolute(item->file),
                         .settings = settings_[i],
                         .part = int(i),
                         .state = item->state,
                         .done = outcome.ok(),
                         .reason = outcome.reason,
                         .detail = outcome.detail,
                         .bytes = outcome.ok() ? item->file_bytes[i] : 0});
    }
  }
  ledger_.record(entries);
}

std::string Resume::absolute(const std::filesystem::path& path) const {
  return (folder_ / path).lexically_normal().native();
}

}  // namespace eckart
