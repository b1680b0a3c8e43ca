#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "app/message_prefetch.hpp"
#include "broker/queue_consumer.hpp"
#include "broker/work_message.hpp"
#include "core/instant.hpp"
#include "io/source.hpp"

namespace eckart::app {

struct QueueSourceOptions {
  broker::ConsumerOptions consumer;
  std::string settings_hash;    ///< work_settings_hash() of this worker
  std::int64_t max_images = 0;  ///< of messages that it takes ahead, approximately
  /// The pause after an environment error; after each further one it is twice as long, up to 30 s.
  std::chrono::milliseconds first_pause = std::chrono::seconds(1);
  /// How long messages may wait after an environment error. Then they are given back.
  /// Not if the broker would soon count too many deliveries of one of them.
  std::chrono::milliseconds max_hold = std::chrono::minutes(10);
  /// Between calls of has_recovered(); twice as long after each release, up to an hour.
  std::chrono::milliseconds check_interval = std::chrono::seconds(30);
  /// Whether the cause of the last environment error seems to be gone. Called by the thread of
  /// next(), after messages were given back.
  std::function<bool()> has_recovered = [] { return true; };
};

/// Yields the images of the messages of a queue. It has no end. A message is acknowledged when all
/// its images are finished. One that is not for this worker is dead-lettered with the reason.
///
/// One of its images may kill each worker. Therefore the images of a message that was delivered
/// twice before are yielded one after the other: in their order, and at the next delivery in the
/// reverse order. So all others are done when the message is dead-lettered.
class QueueSource : public io::Source {
 public:
  /// What became of an image.
  enum class Ending {
    finished,     ///< it is done, or has failed, and that is recorded
    retried,      ///< an environment error: the source pauses, and yields it again
    unavailable,  ///< likewise; after several attempts its message is dead-lettered
  };

  explicit QueueSource(QueueSourceOptions options);

  /// Throws FatalError(configuration) if the first messages are all for other settings: so that a
  /// worker with wrong options does not dead-letter the whole queue.
  std::optional<io::SourceItem> next(const std::stop_token& stop) override;
  std::vector<io::SourceItem> next_group(const std::stop_token& stop, std::size_t max) override;
  bool may_block() const override { return true; }

  /// Must be called once for each item that was returned, from any thread, after its results are
  /// recorded durably. `why`: of an environment error.
  void finish(const std::filesystem::path& relative, Ending ending, const std::string& why);
  /// Sends the last acknowledgements and closes the connection.
  void end() { consumer_.end(); }

  broker::ConsumerState consumer_state() const { return consumer_.state(); }
  /// Why the source pauses after an environment error; empty if it does not.
  std::string pause_reason() const;

 private:
  /// A message whose images are not finished.
  struct Work {
    broker::QueueMessage message;
    std::size_t unfinished = 0;
    bool is_one_by_one = false;
    std::string rejection{};  ///< why it is dead-lettered; empty: it is not
  };
  struct Entry {
    std::shared_ptr<Work> work;
    broker::WorkImage image;
    int attempts = 0;
    std::optional<Instant> retried_since{};  ///< after environment errors
  };

  void accept(broker::QueueMessage message);
  void choose_prefetch(std::size_t images);
  bool must_give_back() const;
  void give_back();
  void resume_if_recovered();
  std::optional<io::SourceItem> take_entry();
  void end_entry(Work& work);
  void reject(const broker::QueueMessage& message, const std::string& why);
  void pause(const std::string& why);
  void end_pause();

  const QueueSourceOptions options_;
  Instant next_check_{};                      // used by next()
  std::chrono::milliseconds check_interval_;  // likewise
  mutable std::mutex mutex_;
  std::deque<Entry> waiting_;
  std::map<std::string, Entry> in_flight_;  // by their relative paths
  Instant paused_until_{};
  std::chrono::milliseconds pause_time_{0};
  std::string pause_reason_;
  bool has_given_back_ = false;  // the messages, until has_recovered()
  std::string last_rejection_;
  std::optional<MessagePrefetch> prefetch_;
  bool has_accepted_ = false;       // any message
  int refused_first_ = 0;           // messages for other settings, before any other
  broker::QueueConsumer consumer_;  // last: its thread ends first
};

}  // namespace eckart::app
