#include "app/queue_source.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "text/format_count.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPoll{200};  // for images that wait for another attempt
constexpr milliseconds kMaxPause{30000};
constexpr milliseconds kMaxCheckInterval = std::chrono::hours(1);
constexpr std::int64_t kOneByOne = 2;  // deliveries before
constexpr int kMaxRefusedFirst = 8;    // messages for other settings
constexpr int kMaxAttempts = 6;        // of images that are not available

}  // namespace

QueueSource::QueueSource(QueueSourceOptions options)
    : options_(std::move(options)),
      check_interval_(options_.check_interval),
      consumer_(options_.consumer) {}

std::optional<io::SourceItem> QueueSource::next(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (must_give_back()) give_back();
    resume_if_recovered();
    if (std::optional<io::SourceItem> item = take_entry()) return item;
    if (auto message = consumer_.next(stop, Clock::now() + kPoll)) accept(std::move(*message));
  }
  return std::nullopt;
}

std::vector<io::SourceItem> QueueSource::next_group(const std::stop_token& stop, std::size_t max) {
  std::vector<io::SourceItem> items = Source::next_group(stop, max);
  while (!items.empty() && items.size() < max) {
    std::optional<io::SourceItem> item = take_entry();
    if (!item) break;
    items.push_back(std::move(*item));
  }
  return items;
}

void QueueSource::accept(broker::QueueMessage message) {
  const auto refuse = [&](const std::string& why) {
    const std::lock_guard lock(mutex_);
    reject(message, why);
  };
  broker::WorkMessage work;
  try {
    work = broker::parse_work_message(message.body);
  } catch (const std::invalid_argument& error) {
    return refuse(error.what());
  }
  if (work.settings_hash != options_.settings_hash) {
    refuse("it is for other settings: hash " + work.settings_hash + ", but that of this " +
           "worker is " + options_.settings_hash);
    if (!has_accepted_ && ++refused_first_ == kMaxRefusedFirst)
      throw FatalError(ExitCode::configuration,
                       "the first " + std::to_string(kMaxRefusedFirst) +
                           " messages are for other settings: give this worker the options of "
                           "eckart enqueue, or publish the images again");
    return;
  }
  has_accepted_ = true;
  const bool is_one_by_one = message.delivery_count >= kOneByOne;
  if (message.delivery_count > 0)  // often those of a worker that was stopped
    spdlog::log(is_one_by_one ? spdlog::level::info : spdlog::level::debug,
                "a message with {} was delivered again ({} before)",
                text::format_count(std::int64_t(work.images.size()), "image"),
                text::format_count(message.delivery_count, "time"));
  choose_prefetch(work.images.size());
  if (is_one_by_one && (message.delivery_count - kOneByOne) % 2 == 1)
    std::ranges::reverse(work.images);
  const auto shared = std::make_shared<Work>(Work{.message = std::move(message),
                                                  .unfinished = work.images.size(),
                                                  .is_one_by_one = is_one_by_one});
  const std::lock_guard lock(mutex_);
  for (broker::WorkImage& image : work.images) waiting_.push_back({shared, std::move(image)});
}

/// The first message shows how many images a message has.
void QueueSource::choose_prefetch(std::size_t images) {
  constexpr std::int64_t kMaxMessages = 1000;
  const std::lock_guard lock(mutex_);
  if (prefetch_) return;
  const std::int64_t messages =
      (options_.max_images + std::int64_t(images) - 1) / std::int64_t(images);
  prefetch_.emplace(int(std::clamp<std::int64_t>(messages, MessagePrefetch::kMin, kMaxMessages)));
  consumer_.set_prefetch(prefetch_->value());
}

/// Whether an image has waited for too long. Messages that were delivered often are held instead.
bool QueueSource::must_give_back() const {
  const std::lock_guard lock(mutex_);
  const int max_count = options_.consumer.queue.delivery_limit - 2;
  bool has_waited = false;
  for (const Entry& entry : waiting_) {
    if (entry.work->message.delivery_count > max_count) return false;
    has_waited |= entry.retried_since && Clock::now() - *entry.retried_since >= options_.max_hold;
  }
  return has_waited && !has_given_back_;
}

/// Before the broker closes the connection, again and again, because messages are held too long.
void QueueSource::give_back() {
  const std::lock_guard lock(mutex_);
  if (pause_reason_.empty()) pause_reason_ = "an image waits for too long";  // others are finished
  spdlog::warn("{}; messages are given back to the broker until that passes",
               text::printable_message(pause_reason_));
  has_given_back_ = true;
  paused_until_ = Instant::max();
  next_check_ = Clock::now() + check_interval_;
  consumer_.release();
}

void QueueSource::resume_if_recovered() {
  {
    const std::lock_guard lock(mutex_);
    if (!has_given_back_ || Clock::now() < next_check_) return;
  }
  next_check_ = Clock::now() + check_interval_;
  if (!options_.has_recovered()) return;
  check_interval_ = std::min<milliseconds>(2 * check_interval_, kMaxCheckInterval);
  spdlog::info("messages are taken again");
  const std::lock_guard lock(mutex_);
  has_given_back_ = false;
  paused_until_ = {};
  end_pause();
  consumer_.resume();
}

/// Drops images of messages that the broker delivers again, because their connection was lost. An
/// image whose outputs another one is making waits for that.
std::optional<io::SourceItem> QueueSource::take_entry() {
  const std::lock_guard lock(mutex_);
  if (Clock::now() < paused_until_) return std::nullopt;
  for (auto entry = waiting_.begin(); entry != waiting_.end();) {
    if (!consumer_.is_current(entry->work->message.id)) {
      const std::shared_ptr<Work> work = entry->work;
      entry = waiting_.erase(entry);
      end_entry(*work);
      continue;
    }
    if (in_flight_.contains(entry->image.relative) ||
        (entry->work->is_one_by_one && !in_flight_.empty())) {
      ++entry;
      continue;
    }
    io::SourceItem item{entry->image.path, entry->image.relative, {}};
    ++entry->attempts;
    std::string relative = entry->image.relative;
    in_flight_.emplace(std::move(relative), std::move(*entry));
    waiting_.erase(entry);
    return item;
  }
  return std::nullopt;
}

/// The caller holds mutex_.
void QueueSource::end_entry(Work& work) {
  if (--work.unfinished > 0) return;
  if (prefetch_ && prefetch_->on_finished(work.message.received_at, Clock::now()))
    consumer_.set_prefetch(prefetch_->value());
  if (work.rejection.empty()) return consumer_.ack(work.message.id);
  reject(work.message, work.rejection);
}

/// Logs a reason again only after another one: a whole queue may be for other settings. The caller
/// holds mutex_.
void QueueSource::reject(const broker::QueueMessage& message, const std::string& why) {
  if (why != last_rejection_)
    spdlog::warn("a message was dead-lettered: {}; others for the same reason are not logged",
                 text::printable_message(why));
  last_rejection_ = why;
  consumer_.reject(message, why);
}

void QueueSource::finish(const std::filesystem::path& relative, Ending ending,
                         const std::string& why) {
  const std::lock_guard lock(mutex_);
  auto node = in_flight_.extract(relative.native());
  if (node.empty()) throw std::logic_error("an image was finished twice");
  Entry& entry = node.mapped();
  if (ending == Ending::finished) {
    if (!has_given_back_) end_pause();
    if (!waiting_.empty()) consumer_.interrupt();  // one may have waited for this
    return end_entry(*entry.work);
  }
  pause(why);
  if (ending == Ending::retried && !entry.retried_since) entry.retried_since = Clock::now();
  if (ending == Ending::unavailable && entry.attempts >= kMaxAttempts) {
    entry.work->rejection = why;
    return end_entry(*entry.work);
  }
  waiting_.push_front(std::move(entry));
}

/// The caller holds mutex_. Images that fail during a pause do not make it longer.
void QueueSource::pause(const std::string& why) {
  const Instant now = Clock::now();
  if (now < paused_until_) return;
  pause_time_ =
      pause_time_ == milliseconds(0) ? options_.first_pause : std::min(2 * pause_time_, kMaxPause);
  paused_until_ = now + pause_time_;
  if (pause_reason_ != why)
    spdlog::warn("{}; images wait until that passes", text::printable_message(why));
  pause_reason_ = why;
}

/// The caller holds mutex_.
void QueueSource::end_pause() {
  pause_time_ = milliseconds(0);
  pause_reason_.clear();
}

std::string QueueSource::pause_reason() const {
  const std::lock_guard lock(mutex_);
  return pause_reason_;
}

}  // namespace eckart::app
