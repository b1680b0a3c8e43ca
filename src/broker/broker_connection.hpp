#pragma once

#include <sys/time.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "broker/amqp_error.hpp"
#include "broker/broker_address.hpp"

struct amqp_connection_state_t_;  // of librabbitmq

namespace eckart::broker {

/// Files in PEM format for TLS.
struct TlsFiles {
  std::filesystem::path ca;                ///< trusted authorities; empty: those of the system
  std::filesystem::path certificate, key;  ///< of this client; empty: none
};

struct ConnectionOptions {
  BrokerAddress address;
  Credentials credentials;
  TlsFiles tls{};
  /// Limits the connection and the login, to all hosts together, and each request.
  std::chrono::milliseconds timeout{10000};
  /// How long a side may be silent before the other side closes the connection.
  std::chrono::seconds heartbeat{30};
  std::string name = "eckart";  ///< in the list of connections of the broker
};

/// A queue of work, and one of its dead letters. Both are quorum queues.
struct QueueOptions {
  std::string name = "eckart";
  /// How often a message is delivered again before it is dead-lettered. Lost connections count.
  int delivery_limit = 5;
};
/// The name of the dead-letter exchange of a queue, and of the queue that is bound to it.
std::string dead_letter_name(const std::string& queue);
/// The header of a dead letter with the reason why a worker rejected it.
inline constexpr const char* kReasonHeader = "eckart-reason";
/// Throws FatalError(usage) if a broker does not accept the name for a queue and its exchanges.
void check_queue_name(const std::string& queue);

/// Each has its own errors and confirms.
enum class Channel : std::uint16_t { work = 1, control = 2, query = 3, first_fetch = 4 };
/// A broker answers one request() of a channel after the other, so there are several.
inline constexpr int kFetchChannels = 8;
/// `index`: less than kFetchChannels.
constexpr Channel fetch_channel(int index) { return Channel(int(Channel::first_fetch) + index); }

/// A message that is published.
struct OutgoingMessage {
  std::string exchange{};  ///< empty: the default exchange
  std::string routing_key{};
  std::string_view body;
  bool is_persistent = true;
  bool is_mandatory = false;  ///< see Returned
  std::string reply_to{}, correlation_id{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// A message that the broker delivered.
struct Delivery {
  Channel channel{};
  std::uint64_t tag = 0;  ///< of the channel
  std::string body;
  std::int64_t delivery_count = 0;  ///< how often it was delivered before
  std::string reply_to, correlation_id;
  std::vector<std::pair<std::string, std::string>> headers;  ///< those that are texts
};

/// The broker has taken messages, or has not. `number`: of the message in its channel, from 1 on.
struct Confirm {
  std::uint64_t number = 0;
  bool includes_earlier = false;
  bool is_accepted = true;
};
/// A mandatory message that no queue took. Its Confirm follows.
struct Returned {
  std::string reason;
};
/// The answer to a request() if the queue has no message.
struct Empty {
  Channel channel{};
};
/// The broker ended a consumer, for example because its queue was deleted.
struct Canceled {
  std::string consumer;
};
using Event = std::variant<Delivery, Empty, Confirm, Returned, Canceled>;

/// What a broker tells of a queue.
struct QueueDepth {
  std::int64_t ready = 0;  ///< messages that are not delivered
};

/// A connection to a broker. Used by one thread, which must call wait() about every second, so
/// that heartbeats are sent. All functions throw AmqpError; after that, the connection is unusable.
class BrokerConnection {
 public:
  /// Connects to any of the hosts, the first one at random, and logs in. Throws AmqpError:
  /// unavailable if no host accepts it and a host does not answer; otherwise no_permission if it
  /// refuses the user, configuration if it has no such virtual host, if its certificate is not
  /// trusted, or if the files for TLS cannot be used.
  explicit BrokerConnection(const ConnectionOptions& options);
  BrokerConnection(BrokerConnection&&) noexcept = default;
  /// Closes the connection. The broker delivers again what is not acknowledged.
  ~BrokerConnection();

  /// Makes the queue, the dead-letter exchange and the dead-letter queue if they do not exist.
  /// Throws AmqpError(configuration) if they exist with other options.
  void declare(const QueueOptions& queue);
  /// Makes a fanout exchange that does not outlive the broker.
  void declare_fanout(const std::string& exchange);
  /// Makes a queue of this connection only, for all messages of an exchange.
  void bind_own_queue(const std::string& queue, const std::string& exchange);
  /// nullopt if there is no such queue.
  std::optional<QueueDepth> depth(const std::string& queue);

  /// From now on, the broker confirms each message of Channel::work.
  void select_confirms();
  void publish(Channel channel, const OutgoingMessage& message);

  /// At most `prefetch` messages of consumers that are added later are not acknowledged at a time.
  void set_prefetch(int prefetch);
  /// `consumer` names the consumer in events. `acknowledges`: whether ack() or reject() is called
  /// for each message.
  void consume(Channel channel, const std::string& queue, const std::string& consumer,
               bool acknowledges);
  /// Must be called once before request().
  void open_fetch_channels();
  /// Asks for one message of a queue, on a fetch_channel() that has no request. A Delivery of this
  /// channel follows, or Empty.
  void request(Channel channel, const std::string& queue);
  /// Must be called at most once for a message: a second ack closes the channel.
  void ack(Channel channel, std::uint64_t tag);
  /// Dead-letters the message. Otherwise as ack().
  void reject(Channel channel, std::uint64_t tag);

  /// Waits until there is an event, until the time has passed, or until `wake`, a descriptor, is
  /// readable. Sends and checks heartbeats.
  std::optional<Event> wait(std::chrono::milliseconds time, int wake = -1);

  /// The URL with the host that it is connected to.
  const std::string& address() const { return address_; }

 private:
  struct Destroy {
    void operator()(amqp_connection_state_t_* state) const;
  };

  void connect_to_any(const ConnectionOptions& options);
  void connect(const ConnectionOptions& options, const BrokerHost& host);
  void open_socket(const ConnectionOptions& options, const BrokerHost& host,
                   const timeval& timeout);
  void log_in(const ConnectionOptions& options);
  void open_channel(Channel channel);
  /// Throws if the last request failed.
  void check_reply(const std::string& what);
  [[noreturn]] void fail_with_close(std::uint32_t method, void* decoded, const std::string& what,
                                    std::uint16_t channel);
  void check_status(int status, const std::string& what);
  bool wait_for_data(std::chrono::milliseconds time, int wake);
  std::optional<Event> read_frame();
  Delivery read_delivery(std::uint16_t channel, std::uint64_t tag);
  void declare_queue(const std::string& queue, bool is_work, const QueueOptions& options);

  std::unique_ptr<amqp_connection_state_t_, Destroy> state_;
  std::string address_;
  bool is_usable_ = false;
};

}  // namespace eckart::broker
