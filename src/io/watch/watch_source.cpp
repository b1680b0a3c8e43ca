#include "io/watch/watch_source.hpp"

#include <algorithm>
#include <utility>

#include "core/instant.hpp"
#include "io/watch/folder_watcher.hpp"
#include "io/watch/wake_event.hpp"

namespace eckart::io {

WatchSource::WatchSource(std::vector<Watch> watches, const LogFunction& log)
    : wake_event_(std::make_unique<WakeEvent>()) {
  for (std::size_t i = 0; i < watches.size(); ++i) {
    watchers_.push_back(std::make_unique<FolderWatcher>(
        int(i), std::move(watches[i].options), std::move(watches[i].work_filter), log,
        [wake_event = wake_event_.get()] { wake_event->signal(); }));
  }
}

WatchSource::~WatchSource() = default;

void WatchSource::end() {
  for (const auto& watcher : watchers_) watcher->end();
}

std::optional<SourceItem> WatchSource::next(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint64_t previous_count = wake_event_->signal_count();
    std::optional<Instant> until;
    for (std::size_t i = 0; i < watchers_.size(); ++i) {
      const std::size_t index = (next_watcher_ + i) % watchers_.size();
      if (std::optional<SourceItem> item = watchers_[index]->pop()) {
        next_watcher_ = index + 1;
        return item;
      }
      const std::optional<Instant> retry_at = watchers_[index]->retry_at();
      if (retry_at) until = std::min(until.value_or(*retry_at), *retry_at);
    }
    wake_event_->wait(previous_count, until, stop);
  }
  return std::nullopt;
}

void WatchSource::finish(int watch, const std::filesystem::path& relative, FinishStatus status,
                         const std::string& why) {
  watchers_.at(std::size_t(watch))->finish(relative.native(), status, why);
}

void WatchSource::request_scan(int watch) { watchers_.at(std::size_t(watch))->request_scan(); }

UnreadFiles WatchSource::unread_files() const {
  UnreadFiles files;
  for (const auto& watcher : watchers_) files.add(watcher->state().unread_files);
  return files;
}

std::vector<WatchState> WatchSource::states() const {
  std::vector<WatchState> states;
  for (const auto& watcher : watchers_) states.push_back(watcher->state());
  return states;
}

}  // namespace eckart::io
