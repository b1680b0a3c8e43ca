#include "broker/broker_connection.hpp"

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <poll.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <random>

#include "core/instant.hpp"
#include "files/throw_errno.hpp"
#include "text/printable.hpp"

namespace eckart::broker {
namespace {

using std::chrono::milliseconds;

constexpr const char* kSystemCa = "/etc/ssl/certs/ca-certificates.crt";  // of ca-certificates
constexpr int kMaxChannels = 16;
constexpr int kMaxFrameBytes = 131072;  // the limit of RabbitMQ
constexpr milliseconds kHeartbeatCheck{1000};
constexpr std::size_t kMaxNameBytes = 255;  // of AMQP

/// Valid as long as the text.
amqp_bytes_t bytes_of(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};
}

std::string text_of(amqp_bytes_t bytes) {
  return bytes.bytes == nullptr ? std::string()
                                : std::string(static_cast<const char*>(bytes.bytes), bytes.len);
}

timeval timeval_of(milliseconds time) {
  return {time.count() / 1000, (time.count() % 1000) * 1000};
}

amqp_channel_t number_of(Channel channel) { return static_cast<amqp_channel_t>(channel); }

amqp_table_entry_t text_entry(std::string_view key, std::string_view value) {
  amqp_table_entry_t entry{};
  entry.key = bytes_of(key);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = bytes_of(value);
  return entry;
}

amqp_table_entry_t integer_entry(std::string_view key, int value) {
  amqp_table_entry_t entry{};
  entry.key = bytes_of(key);
  entry.value.kind = AMQP_FIELD_KIND_I32;
  entry.value.value.i32 = value;
  return entry;
}

template <class Entries>
amqp_table_t table_of(Entries& entries) {
  return {int(entries.size()), entries.data()};
}

/// The value of an integer of any width; 0 if it is none.
std::int64_t integer_of(const amqp_field_value_t& value) {
  switch (value.kind) {
    case AMQP_FIELD_KIND_I8:
      return value.value.i8;
    case AMQP_FIELD_KIND_U8:
      return value.value.u8;
    case AMQP_FIELD_KIND_I16:
      return value.value.i16;
    case AMQP_FIELD_KIND_U16:
      return value.value.u16;
    case AMQP_FIELD_KIND_I32:
      return value.value.i32;
    case AMQP_FIELD_KIND_U32:
      return value.value.u32;
    case AMQP_FIELD_KIND_I64:
      return value.value.i64;
    default:
      return 0;
  }
}

void read_headers(const amqp_table_t& headers, Delivery& delivery) {
  for (int i = 0; i < headers.num_entries; ++i) {
    const amqp_table_entry_t& entry = headers.entries[i];
    const std::string key = text_of(entry.key);
    if (key == "x-delivery-count") {
      delivery.delivery_count = integer_of(entry.value);
    } else if (entry.value.kind == AMQP_FIELD_KIND_UTF8) {
      delivery.headers.emplace_back(key, text_of(entry.value.value.bytes));
    }
  }
}

void read_properties(const amqp_basic_properties_t& properties, Delivery& delivery) {
  if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) != 0)
    read_headers(properties.headers, delivery);
  if ((properties._flags & AMQP_BASIC_REPLY_TO_FLAG) != 0)
    delivery.reply_to = text_of(properties.reply_to);
  if ((properties._flags & AMQP_BASIC_CORRELATION_ID_FLAG) != 0)
    delivery.correlation_id = text_of(properties.correlation_id);
}

/// A message that amqp_read_message() fills.
struct ReadMessage {
  ReadMessage() = default;
  ReadMessage(const ReadMessage&) = delete;
  ReadMessage& operator=(const ReadMessage&) = delete;
  ~ReadMessage() {
    if (is_filled) amqp_destroy_message(&message);
  }

  amqp_message_t message{};
  bool is_filled = false;
};

/// Throws AmqpError(configuration) if librabbitmq cannot use a file.
void check_tls_file(int status, const std::string& files) {
  if (status != AMQP_STATUS_OK)
    throw AmqpError(ExitCode::configuration, "TLS: cannot use " + files);
}

void use_tls_files(amqp_socket_t* socket, const TlsFiles& files) {
  const std::string ca = files.ca.empty() ? kSystemCa : files.ca.native();
  check_tls_file(amqp_ssl_socket_set_cacert(socket, ca.c_str()),
                 "the authorities in " + text::printable(ca));
  if (!files.certificate.empty())
    check_tls_file(amqp_ssl_socket_set_key(socket, files.certificate.c_str(), files.key.c_str()),
                   "the certificate " + text::printable(files.certificate.native()) +
                       " with the key " + text::printable(files.key.native()));
  amqp_ssl_socket_set_verify_peer(socket, 1);
  amqp_ssl_socket_set_verify_hostname(socket, 1);
  amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
}

}  // namespace

std::string dead_letter_name(const std::string& queue) { return queue + ".dead"; }

void check_queue_name(const std::string& queue) {
  constexpr std::size_t kMaxSuffix = 64;  // of what belongs to the queue
  if (queue.empty() || queue.size() > kMaxNameBytes - kMaxSuffix || queue.starts_with("amq.") ||
      std::ranges::any_of(queue, [](unsigned char c) { return c < ' ' || c == 0x7F; }))
    throw FatalError(ExitCode::usage, "queue '" + text::printable(queue) +
                                          "': a name has 1 to 191 bytes, no control characters, "
                                          "and does not begin with amq.");
}

void BrokerConnection::Destroy::operator()(amqp_connection_state_t_* state) const {
  amqp_destroy_connection(state);
}

BrokerConnection::BrokerConnection(const ConnectionOptions& options) {
  connect_to_any(options);
  is_usable_ = true;
  for (const Channel channel : {Channel::work, Channel::control}) open_channel(channel);
}

BrokerConnection::~BrokerConnection() {
  if (!state_ || !is_usable_) return;
  const timeval timeout = timeval_of(milliseconds(1000));
  amqp_set_rpc_timeout(state_.get(), &timeout);
  amqp_connection_close(state_.get(), AMQP_REPLY_SUCCESS);
}

/// The order is random, so that the clients of a broker are spread over its hosts.
void BrokerConnection::connect_to_any(const ConnectionOptions& options) {
  std::vector<BrokerHost> hosts = options.address.hosts;
  std::ranges::shuffle(hosts, std::minstd_rand(std::random_device{}()));
  std::vector<AmqpError> errors;
  for (const BrokerHost& host : hosts) {
    try {
      return connect(options, host);
    } catch (const AmqpError& error) {  // another host may have other users or certificates
      errors.push_back(error);
    }
  }
  std::ranges::sort(errors, {}, [](const AmqpError& error) { return std::string(error.what()); });
  std::string all;  // the same each time
  for (const AmqpError& error : errors)
    all += (all.empty() ? "" : "; ") + std::string(error.what());
  const bool may_pass = std::ranges::any_of(errors, &AmqpError::may_pass);
  throw AmqpError(may_pass ? ExitCode::unavailable : errors.front().code(), all,
                  errors.front().reply_code());
}

void BrokerConnection::connect(const ConnectionOptions& options, const BrokerHost& host) {
  state_.reset(amqp_new_connection());
  if (!state_) throw std::bad_alloc();
  const BrokerAddress& all = options.address;
  address_ = to_string(BrokerAddress{all.uses_tls, {host}, all.vhost});
  const timeval timeout = timeval_of(options.timeout / std::int64_t(all.hosts.size()));
  amqp_set_handshake_timeout(state_.get(), &timeout);
  amqp_set_rpc_timeout(state_.get(), &timeout);
  open_socket(options, host, timeout);
  log_in(options);
  const timeval request_timeout = timeval_of(options.timeout);
  amqp_set_rpc_timeout(state_.get(), &request_timeout);
}

void BrokerConnection::open_socket(const ConnectionOptions& options, const BrokerHost& host,
                                   const timeval& timeout) {
  const bool uses_tls = options.address.uses_tls;
  amqp_socket_t* socket =  // owned by the connection
      uses_tls ? amqp_ssl_socket_new(state_.get()) : amqp_tcp_socket_new(state_.get());
  if (socket == nullptr) throw std::bad_alloc();
  if (uses_tls) use_tls_files(socket, options.tls);
  const int status = amqp_socket_open_noblock(socket, host.name.c_str(), host.port, &timeout);
  const std::string what = "cannot connect to " + address_;
  if (status == AMQP_STATUS_SOCKET_ERROR)
    throw AmqpError(ExitCode::unavailable, what + ": connection refused, or no route to the host");
  check_status(status, what);
}

void BrokerConnection::log_in(const ConnectionOptions& options) {
  std::array properties{text_entry("product", "eckart"),
                        text_entry("connection_name", options.name)};
  const amqp_table_t table = table_of(properties);
  const amqp_rpc_reply_t reply = amqp_login_with_properties(
      state_.get(), options.address.vhost.c_str(), kMaxChannels, kMaxFrameBytes,
      int(options.heartbeat.count()), &table, AMQP_SASL_METHOD_PLAIN,
      options.credentials.user.c_str(), options.credentials.password.c_str());
  const std::string what = "cannot log in to " + address_;
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION)
    fail_with_close(reply.reply.id, reply.reply.decoded, what, 0);
  if (reply.reply_type != AMQP_RESPONSE_NORMAL) throw library_error(reply.library_error, what);
}

void BrokerConnection::open_channel(Channel channel) {
  amqp_channel_open(state_.get(), number_of(channel));
  check_reply("cannot open a channel");
}

void BrokerConnection::check_status(int status, const std::string& what) {
  if (status == AMQP_STATUS_OK) return;
  is_usable_ = false;
  throw library_error(status, what);
}

void BrokerConnection::check_reply(const std::string& what) {
  const amqp_rpc_reply_t reply = amqp_get_rpc_reply(state_.get());
  switch (reply.reply_type) {
    case AMQP_RESPONSE_NORMAL:
      return;
    case AMQP_RESPONSE_SERVER_EXCEPTION:
      fail_with_close(reply.reply.id, reply.reply.decoded, what, 0);
    case AMQP_RESPONSE_LIBRARY_EXCEPTION:
      check_status(reply.library_error, what);
      break;
    case AMQP_RESPONSE_NONE:
      break;
  }
  is_usable_ = false;
  throw AmqpError(ExitCode::unavailable, what + ": the connection was lost");
}

/// `channel`: that was closed, if it is known.
void BrokerConnection::fail_with_close(std::uint32_t method, void* decoded, const std::string& what,
                                       std::uint16_t channel) {
  if (method == AMQP_CONNECTION_CLOSE_METHOD) {
    is_usable_ = false;
    const auto* close = static_cast<const amqp_connection_close_t*>(decoded);
    const AmqpError error = reply_error(close->reply_code, text_of(close->reply_text), what);
    amqp_connection_close_ok_t ok{};
    amqp_send_method(state_.get(), 0, AMQP_CONNECTION_CLOSE_OK_METHOD, &ok);
    throw error;
  }
  if (method == AMQP_CHANNEL_CLOSE_METHOD) {
    const auto* close = static_cast<const amqp_channel_close_t*>(decoded);
    const AmqpError error = reply_error(close->reply_code, text_of(close->reply_text), what);
    amqp_channel_close_ok_t ok{};
    if (channel != 0) amqp_send_method(state_.get(), channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
    throw error;
  }
  is_usable_ = false;
  throw AmqpError(ExitCode::unavailable, what + ": the broker sent an unexpected method");
}

void BrokerConnection::declare_queue(const std::string& queue, bool is_work,
                                     const QueueOptions& options) {
  const std::string dead_letters = dead_letter_name(options.name);
  // Dead letters that are looked at return to their queue, which counts that, and has a limit in
  // RabbitMQ 4.
  constexpr int kNoLimit = 1'000'000'000;
  std::vector<amqp_table_entry_t> arguments{
      text_entry("x-queue-type", "quorum"),
      integer_entry("x-delivery-limit", is_work ? options.delivery_limit : kNoLimit)};
  if (is_work) {
    arguments.push_back(text_entry("x-dead-letter-exchange", dead_letters));
    // A dead letter leaves the queue only after the dead-letter queue has it.
    arguments.push_back(text_entry("x-dead-letter-strategy", "at-least-once"));
    arguments.push_back(text_entry("x-overflow", "reject-publish"));
  }
  amqp_queue_declare(state_.get(), number_of(Channel::work), bytes_of(queue), /*passive=*/0,
                     /*durable=*/1, /*exclusive=*/0, /*auto_delete=*/0, table_of(arguments));
  try {
    check_reply("cannot make the queue " + text::printable(queue));
  } catch (const AmqpError& error) {
    if (error.reply_code() != kPreconditionFailed) throw;
    throw AmqpError(
        ExitCode::configuration,
        std::string(error.what()) + "; use the options that the queue was made with, or delete it",
        error.reply_code());
  }
}

void BrokerConnection::declare(const QueueOptions& queue) {
  const std::string dead_letters = dead_letter_name(queue.name);
  const amqp_channel_t channel = number_of(Channel::work);
  amqp_exchange_declare(state_.get(), channel, bytes_of(dead_letters), bytes_of("fanout"),
                        /*passive=*/0, /*durable=*/1, /*auto_delete=*/0, /*internal=*/0,
                        amqp_empty_table);
  check_reply("cannot make the exchange " + text::printable(dead_letters));
  declare_queue(dead_letters, false, queue);
  amqp_queue_bind(state_.get(), channel, bytes_of(dead_letters), bytes_of(dead_letters),
                  amqp_empty_bytes, amqp_empty_table);
  check_reply("cannot bind the queue " + text::printable(dead_letters));
  declare_queue(queue.name, true, queue);
}

void BrokerConnection::declare_fanout(const std::string& exchange) {
  amqp_exchange_declare(state_.get(), number_of(Channel::control), bytes_of(exchange),
                        bytes_of("fanout"), /*passive=*/0, /*durable=*/0, /*auto_delete=*/0,
                        /*internal=*/0, amqp_empty_table);
  check_reply("cannot make the exchange " + text::printable(exchange));
}

void BrokerConnection::bind_own_queue(const std::string& queue, const std::string& exchange) {
  const amqp_channel_t channel = number_of(Channel::control);
  amqp_queue_declare(state_.get(), channel, bytes_of(queue), /*passive=*/0, /*durable=*/0,
                     /*exclusive=*/1, /*auto_delete=*/1, amqp_empty_table);
  check_reply("cannot make the queue " + text::printable(queue));
  amqp_queue_bind(state_.get(), channel, bytes_of(queue), bytes_of(exchange), amqp_empty_bytes,
                  amqp_empty_table);
  check_reply("cannot bind the queue " + text::printable(queue));
}

/// On a channel of its own, which the broker closes if there is no such queue.
std::optional<QueueDepth> BrokerConnection::depth(const std::string& queue) {
  const amqp_channel_t channel = number_of(Channel::query);
  open_channel(Channel::query);
  const amqp_queue_declare_ok_t* found = amqp_queue_declare(
      state_.get(), channel, bytes_of(queue), /*passive=*/1, 0, 0, 0, amqp_empty_table);
  std::optional<QueueDepth> depth;
  if (found != nullptr) depth = QueueDepth{found->message_count};
  try {
    check_reply("cannot ask for the queue " + text::printable(queue));
    amqp_channel_close(state_.get(), channel, AMQP_REPLY_SUCCESS);
  } catch (const AmqpError& error) {
    if (error.reply_code() != kNotFound) throw;
    amqp_channel_close_ok_t ok{};
    check_status(amqp_send_method(state_.get(), channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok),
                 error.what());
  }
  amqp_maybe_release_buffers_on_channel(state_.get(), channel);
  return depth;
}

void BrokerConnection::select_confirms() {
  amqp_confirm_select(state_.get(), number_of(Channel::work));
  check_reply("cannot ask for confirms");
}

void BrokerConnection::publish(Channel channel, const OutgoingMessage& message) {
  std::vector<amqp_table_entry_t> headers;
  for (const auto& [key, value] : message.headers) headers.push_back(text_entry(key, value));
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                      AMQP_BASIC_APP_ID_FLAG | AMQP_BASIC_HEADERS_FLAG;
  properties.content_type = bytes_of("application/json");
  properties.delivery_mode = message.is_persistent ? 2 : 1;
  properties.app_id = bytes_of("eckart");
  properties.headers = table_of(headers);
  if (!message.reply_to.empty()) {
    properties._flags |= AMQP_BASIC_REPLY_TO_FLAG;
    properties.reply_to = bytes_of(message.reply_to);
  }
  if (!message.correlation_id.empty()) {
    properties._flags |= AMQP_BASIC_CORRELATION_ID_FLAG;
    properties.correlation_id = bytes_of(message.correlation_id);
  }
  check_status(amqp_basic_publish(state_.get(), number_of(channel), bytes_of(message.exchange),
                                  bytes_of(message.routing_key), message.is_mandatory,
                                  /*immediate=*/0, &properties, bytes_of(message.body)),
               "cannot publish");
}

void BrokerConnection::set_prefetch(int prefetch) {
  const int limited = std::clamp(prefetch, 1, int(std::numeric_limits<std::uint16_t>::max()));
  amqp_basic_qos(state_.get(), number_of(Channel::work), 0, std::uint16_t(limited), /*global=*/0);
  check_reply("cannot limit the number of messages");
}

void BrokerConnection::consume(Channel channel, const std::string& queue,
                               const std::string& consumer, bool acknowledges) {
  amqp_basic_consume(state_.get(), number_of(channel), bytes_of(queue), bytes_of(consumer),
                     /*no_local=*/0, /*no_ack=*/!acknowledges, /*exclusive=*/0, amqp_empty_table);
  check_reply("cannot take messages from " + text::printable(queue));
}

void BrokerConnection::open_fetch_channels() {
  for (int i = 0; i < kFetchChannels; ++i) open_channel(fetch_channel(i));
}

void BrokerConnection::request(Channel channel, const std::string& queue) {
  amqp_basic_get_t get{};
  get.queue = bytes_of(queue);
  check_status(amqp_send_method(state_.get(), number_of(channel), AMQP_BASIC_GET_METHOD, &get),
               "cannot take messages from " + text::printable(queue));
}

void BrokerConnection::ack(Channel channel, std::uint64_t tag) {
  check_status(amqp_basic_ack(state_.get(), number_of(channel), tag, /*multiple=*/0),
               "cannot acknowledge");
}

void BrokerConnection::reject(Channel channel, std::uint64_t tag) {
  check_status(amqp_basic_reject(state_.get(), number_of(channel), tag, /*requeue=*/0),
               "cannot reject");
}

/// Returns whether there may be data.
bool BrokerConnection::wait_for_data(milliseconds time, int wake) {
  if (amqp_frames_enqueued(state_.get()) || amqp_data_in_buffer(state_.get())) return true;
  pollfd ends[] = {{amqp_get_sockfd(state_.get()), POLLIN, 0}, {wake, POLLIN, 0}};
  if (::poll(ends, 2, int(time.count())) < 0 && errno != EINTR) files::throw_errno("poll");
  return ends[0].revents != 0;
}

std::optional<Event> BrokerConnection::wait(milliseconds time, int wake) {
  const Instant end = Clock::now() + time;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    const bool has_data = wait_for_data(std::clamp(left, milliseconds(0), kHeartbeatCheck), wake);
    if (std::optional<Event> event = read_frame()) return event;  // also sends heartbeats
    if (has_data && left > milliseconds(0)) continue;
    if (Clock::now() >= end) return std::nullopt;
    pollfd woken{wake, POLLIN, 0};
    if (wake >= 0 && ::poll(&woken, 1, 0) > 0) return std::nullopt;
  }
}

std::optional<Event> BrokerConnection::read_frame() {
  amqp_maybe_release_buffers(state_.get());
  amqp_frame_t frame{};
  const timeval none{};
  const int status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &none);
  if (status == AMQP_STATUS_TIMEOUT) return std::nullopt;
  check_status(status, "the connection to " + address_ + " was lost");
  if (frame.frame_type != AMQP_FRAME_METHOD) return std::nullopt;
  void* const decoded = frame.payload.method.decoded;
  switch (frame.payload.method.id) {
    case AMQP_BASIC_DELIVER_METHOD:
      return read_delivery(frame.channel,
                           static_cast<const amqp_basic_deliver_t*>(decoded)->delivery_tag);
    case AMQP_BASIC_GET_OK_METHOD:
      return read_delivery(frame.channel,
                           static_cast<const amqp_basic_get_ok_t*>(decoded)->delivery_tag);
    case AMQP_BASIC_GET_EMPTY_METHOD:
      return Empty{Channel(frame.channel)};
    case AMQP_BASIC_ACK_METHOD: {
      const auto* ack = static_cast<const amqp_basic_ack_t*>(decoded);
      return Confirm{ack->delivery_tag, ack->multiple != 0, true};
    }
    case AMQP_BASIC_NACK_METHOD: {
      const auto* nack = static_cast<const amqp_basic_nack_t*>(decoded);
      return Confirm{nack->delivery_tag, nack->multiple != 0, false};
    }
    case AMQP_BASIC_RETURN_METHOD: {
      Returned returned{text_of(static_cast<const amqp_basic_return_t*>(decoded)->reply_text)};
      read_delivery(frame.channel, 0);
      return returned;
    }
    case AMQP_BASIC_CANCEL_METHOD:
      return Canceled{text_of(static_cast<const amqp_basic_cancel_t*>(decoded)->consumer_tag)};
    case AMQP_CHANNEL_CLOSE_METHOD:
    case AMQP_CONNECTION_CLOSE_METHOD:
      fail_with_close(frame.payload.method.id, decoded, "the broker closed the connection",
                      frame.channel);
    default:
      return std::nullopt;
  }
}

/// Reads the content that follows.
Delivery BrokerConnection::read_delivery(std::uint16_t channel, std::uint64_t tag) {
  Delivery delivery;
  delivery.channel = Channel(channel);
  delivery.tag = tag;
  ReadMessage content;
  const amqp_rpc_reply_t reply =
      amqp_read_message(state_.get(), channel, &content.message, /*flags=*/0);
  const std::string what = "the connection to " + address_ + " was lost";
  if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) check_status(reply.library_error, what);
  if (reply.reply_type != AMQP_RESPONSE_NORMAL)
    fail_with_close(reply.reply.id, reply.reply.decoded, what, channel);
  content.is_filled = true;
  delivery.body = text_of(content.message.body);
  read_properties(content.message.properties, delivery);
  return delivery;
}

}  // namespace eckart::broker
