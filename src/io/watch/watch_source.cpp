#include "io/watch/watch_source.hpp"

#include <algorithm>
#include <utility>

#include "io/watch/bell.hpp"
#include "io/watch/folder_watcher.hpp"

namespace eckart::io {

WatchSource::WatchSource(std::vector<Watch> watches, const Tell& tell)
    : bell_(std::make_unique<Bell>()) {
  for (std::size_t i = 0; i < watches.size(); ++i) {
    watchers_.push_back(std::make_unique<FolderWatcher>(int(i), std::move(watches[i].options),
                                                        std::move(watches[i].wants), tell,
                                                        [bell = bell_.get()] { bell->ring(); }));
  }
}

WatchSource::~WatchSource() = default;

void WatchSource::end() {
  for (const auto& watcher : watchers_) watcher->end();
}

std::optional<Arrival> WatchSource::next(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint64_t heard = bell_->rings();
    std::optional<Instant> until;
    for (std::size_t i = 0; i < watchers_.size(); ++i) {
      const std::size_t turn = (turn_ + i) % watchers_.size();
      if (std::optional<Arrival> arrival = watchers_[turn]->take()) {
        turn_ = turn + 1;
        return arrival;
      }
      const std::optional<Instant> held = watchers_[turn]->held_until();
      if (held) until = std::min(until.value_or(*held), *held);
    }
    bell_->wait(heard, until, stop);
  }
  return std::nullopt;
}

void WatchSource::finished(int watch, const std::filesystem::path& relative, Ending ending,
                           const std::string& why) {
  watchers_.at(std::size_t(watch))->finished(relative.native(), ending, why);
}

void WatchSource::rescan(int watch) { watchers_.at(std::size_t(watch))->rescan(); }

std::vector<WatchState> WatchSource::states() const {
  std::vector<WatchState> states;
  for (const auto& watcher : watchers_) states.push_back(watcher->state());
  return states;
}

}  // namespace eckart::io
