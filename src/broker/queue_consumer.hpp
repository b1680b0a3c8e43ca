#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "broker/backoff.hpp"
#include "broker/broker_connection.hpp"
#include "core/instant.hpp"
#include "files/file_descriptor.hpp"

namespace eckart::broker {

/// Names a delivery. It is valid as long as the connection that it came through.
struct DeliveryId {
  std::uint64_t connection = 0;
  Channel channel{};
  std::uint64_t tag = 0;
  friend auto operator<=>(const DeliveryId&, const DeliveryId&) = default;
};

/// A message of the queue. Call QueueConsumer::ack() or reject() once for it.
struct QueueMessage {
  DeliveryId id;
  std::string body;
  std::int64_t delivery_count = 0;  ///< how often it was delivered before
  Instant received_at{};
};

struct ConsumerOptions {
  ConnectionOptions connection;
  QueueOptions queue;
  std::string name;  ///< of this worker; different for each process
  /// Between questions for the depth of the queues.
  std::chrono::milliseconds depth_interval{10000};
  Backoff::Duration first_wait{500}, max_wait{30000};  ///< see Backoff
  /// Called on the thread of the consumer, which must not wait: the state of the connection has
  /// changed. `broker`: the URL of the host that it is connected to; empty: there is an error.
  std::function<void(const std::string& broker, const std::string& error)> on_change =
      [](const std::string&, const std::string&) {};
};

/// A snapshot of a consumer.
struct ConsumerState {
  bool is_connected = false;
  std::string error;                ///< why it is not; empty before the first attempt
  std::int64_t in_flight = 0;       ///< messages that are not acknowledged
  std::int64_t acknowledged = 0;    ///< all so far
  std::int64_t rejected = 0;        ///< likewise
  std::int64_t dropped_acks = 0;    ///< of connections that were lost; these messages come again
  std::int64_t reconnects = 0;      ///< connections after the first one
  std::optional<QueueDepth> queue;  ///< at the last question; nullopt before the first one
  std::optional<QueueDepth> dead_letters;
};

/// Takes messages of a queue on a thread of its own, which also sends heartbeats, so that messages
/// may take any time. After a lost connection it connects again, with back-off; messages that were
/// taken before come again. Thread-safe.
///
/// A message that kills its worker is delivered again with the other messages that the worker had
/// taken, and each delivery counts towards the limit of all of them. Therefore a message that was
/// delivered before is processed alone, when all others are finished. Until one has come that was
/// not delivered before, the consumer takes one message at a time.
///
/// It asks for each message. A consumer in the sense of AMQP would have to be canceled while it has
/// messages: if its server then fails, RabbitMQ 3.10 keeps these messages for it, without an end.
class QueueConsumer {
 public:
  /// Returns at once; the thread connects.
  explicit QueueConsumer(ConsumerOptions options);
  /// Calls end().
  ~QueueConsumer();

  /// Waits for a message. Returns nullopt after a stop request, after interrupt(), and at this
  /// time. Throws AmqpError if the broker refuses the user, the queue or the connection, so that to
  /// connect again is of no use.
  std::optional<QueueMessage> next(const std::stop_token& stop, Instant until = Instant::max());
  /// Ends the wait of next(), or the next one.
  void interrupt();
  /// Sends the acknowledgement soon. Call it only when the message is done, because next() may wait
  /// for that. It is dropped if the connection of the message was lost.
  void ack(DeliveryId id);
  /// Moves the message to the dead-letter queue with the header `eckart-reason`. If that fails, it
  /// is dead-lettered without it. Dropped as for ack().
  void reject(const QueueMessage& message, const std::string& reason);
  /// At most so many messages are taken and not acknowledged. Those that were taken before stay.
  /// The default is 1.
  void set_prefetch(int prefetch);
  /// Gives all messages back to the queue, and takes no others until resume(). The broker counts
  /// that as a delivery. Takes effect soon.
  void release();
  void resume();
  /// Sends what is to be sent, and closes the connection. May be called several times.
  void end();

  ConsumerState state() const;
  /// Whether the connection of this delivery is still the current one.
  bool is_current(DeliveryId id) const;

 private:
  struct Rejection {
    DeliveryId id;
    std::string body, reason;
  };

  void run(const std::stop_token& stop);
  void serve(const std::stop_token& stop);
  void begin_connection(BrokerConnection& connection);
  void send_waiting(BrokerConnection& connection);
  void send_to_dead_letters(BrokerConnection& connection, const Rejection& rejection);
  void on_event(BrokerConnection& connection, const Event& event);
  void on_message(const Delivery& delivery);
  void on_confirm(BrokerConnection& connection, const Confirm& confirm);
  void answer(BrokerConnection& connection, const Delivery& question);
  std::int64_t max_messages() const;
  void request_messages(BrokerConnection& connection);
  void look(BrokerConnection& connection);
  bool has_message_to_take() const;
  void on_finished();
  void update_depths(BrokerConnection& connection);
  bool must_give_back() const;
  void forget_connection(const std::string& error);
  void on_lost(const AmqpError& error);
  void wake();
  void clear_wake();
  bool has_work_to_send() const;

  const ConsumerOptions options_;
  const files::FileDescriptor wake_;
  // Used by the thread:
  std::map<std::uint64_t, DeliveryId> dead_letters_;  // by the number of their dead letter
  std::uint64_t next_number_ = 1;                     // of a published message
  std::set<Channel> free_channels_;                   // without a request
  bool is_queue_empty_ = false;                       // at the last answer
  Instant next_look_{};                               // whether it is still empty
  bool has_new_message_ = false;                      // the last message was not delivered before
  std::set<DeliveryId> known_;                        // messages that were, until they are finished
  Instant next_depths_{};
  // Used by all threads:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t connection_number_ = 0;  // 0: not connected
  std::uint64_t last_connection_ = 0;
  std::deque<QueueMessage> ready_;  // those that were delivered before are last
  int taken_ = 0;                   // by next(), and not finished
  bool is_interrupted_ = false;     // by interrupt()
  bool is_one_alone_ = false;       // what was taken was delivered before
  std::vector<DeliveryId> acks_;
  std::vector<Rejection> rejections_;
  int prefetch_ = 1;
  bool is_released_ = false;  // by release()
  ConsumerState state_;
  std::exception_ptr fatal_;
  std::jthread thread_;
};

}  // namespace eckart::broker
