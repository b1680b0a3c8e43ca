#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "broker/backoff.hpp"
#include "broker/broker_connection.hpp"
#include "core/instant.hpp"

namespace eckart::broker {

struct PublisherOptions {
  ConnectionOptions connection;
  QueueOptions queue;
  std::size_t window = 256;  ///< messages that the broker has not confirmed yet, at most
  /// How long to connect again, and to wait for a confirm, before publish() or flush() throws.
  std::chrono::milliseconds max_wait{60000};
};

/// Publishes messages durably. After a lost connection or a refusal it connects again and publishes
/// what is not confirmed, so a message may come twice, but none is lost. Used by one thread.
///
/// A broker that is killed within about half a second after it made a quorum queue may lose
/// messages that it has confirmed: see is_new_queue().
class QueuePublisher {
 public:
  /// Connects and makes the queue. Throws AmqpError without a second attempt.
  explicit QueuePublisher(PublisherOptions options);

  /// Whether the constructor made the queue.
  bool is_new_queue() const { return is_new_queue_; }
  /// Waits while the window is full. Throws AmqpError(unavailable) if the broker has not taken any
  /// message for max_wait, and at once after an error that does not pass.
  void publish(std::string body);
  /// Waits until all messages are confirmed. Throws as publish().
  void flush();
  /// Messages that the broker has.
  std::int64_t confirmed() const { return confirmed_; }
  /// How often it has connected again.
  std::int64_t reconnects() const { return reconnects_; }

 private:
  void connect();
  void send_unsent();
  void wait_for_confirms(std::size_t max_unconfirmed);
  void on_event(const Event& event);
  void on_confirm(const Confirm& confirm);
  template <class Step>
  void with_reconnect(const Step& step);

  const PublisherOptions options_;
  std::optional<BrokerConnection> connection_;
  Backoff backoff_;
  bool is_new_queue_ = false;
  std::map<std::uint64_t, std::string> unconfirmed_;  // by number in the channel
  std::uint64_t next_number_ = 1, next_to_send_ = 1;
  std::int64_t confirmed_ = 0, reconnects_ = 0;
  Instant last_progress_ = Clock::now();
};

}  // namespace eckart::broker
