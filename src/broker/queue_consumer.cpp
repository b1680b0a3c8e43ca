#include "broker/queue_consumer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "broker/worker_report.hpp"
#include "files/throw_errno.hpp"
#include "flow/pause.hpp"

namespace eckart::broker {
namespace {

using std::chrono::milliseconds;

constexpr const char* kControlConsumer = "eckart.control";
constexpr milliseconds kWait{1000};
constexpr milliseconds kLook{500};             // at an empty queue
constexpr std::size_t kMaxReasonBytes = 4096;  // a header must fit into a frame

files::FileDescriptor make_event() {
  files::FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) files::throw_errno("eventfd");
  return event;
}

}  // namespace

QueueConsumer::QueueConsumer(ConsumerOptions options)
    : options_(std::move(options)), wake_(make_event()) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

QueueConsumer::~QueueConsumer() { end(); }

void QueueConsumer::end() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  wake();
  thread_.join();
}

void QueueConsumer::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

void QueueConsumer::clear_wake() {
  std::uint64_t count = 0;
  static_cast<void>(!::read(wake_.get(), &count, sizeof count));
}

std::optional<QueueMessage> QueueConsumer::next(const std::stop_token& stop, Instant until) {
  std::unique_lock lock(mutex_);
  const auto has_news = [&] { return has_message_to_take() || fatal_ || is_interrupted_; };
  const bool has_any = until == Instant::max() ? changed_.wait(lock, stop, has_news)
                                               : changed_.wait_until(lock, stop, until, has_news);
  if (stop.stop_requested() || !has_any) return std::nullopt;
  if (fatal_) std::rethrow_exception(fatal_);
  if (std::exchange(is_interrupted_, false)) return std::nullopt;
  QueueMessage message = std::move(ready_.front());
  ready_.pop_front();
  ++taken_;
  is_one_alone_ = message.delivery_count > 0;
  return message;
}

void QueueConsumer::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    is_interrupted_ = true;
  }
  changed_.notify_all();
}

/// The caller holds mutex_.
bool QueueConsumer::has_message_to_take() const {
  if (ready_.empty() || is_one_alone_) return false;
  return ready_.front().delivery_count == 0 || taken_ == 0;
}

/// A message that was taken is acknowledged or rejected. The caller holds mutex_.
void QueueConsumer::on_finished() {
  --taken_;
  is_one_alone_ = false;
}

void QueueConsumer::ack(DeliveryId id) {
  {
    const std::lock_guard lock(mutex_);
    acks_.push_back(id);
    on_finished();
  }
  changed_.notify_all();
  wake();
}

void QueueConsumer::reject(const QueueMessage& message, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    rejections_.push_back({message.id, message.body, reason.substr(0, kMaxReasonBytes)});
    on_finished();
  }
  changed_.notify_all();
  wake();
}

void QueueConsumer::set_prefetch(int prefetch) {
  {
    const std::lock_guard lock(mutex_);
    prefetch_ = prefetch;
  }
  wake();
}

void QueueConsumer::release() {
  {
    const std::lock_guard lock(mutex_);
    is_released_ = true;
  }
  wake();
}

void QueueConsumer::resume() {
  {
    const std::lock_guard lock(mutex_);
    is_released_ = false;
  }
  wake();
}

ConsumerState QueueConsumer::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool QueueConsumer::is_current(DeliveryId id) const {
  const std::lock_guard lock(mutex_);
  return id.connection == connection_number_;
}

void QueueConsumer::run(const std::stop_token& stop) {
  Backoff backoff(options_.first_wait, options_.max_wait);
  while (!stop.stop_requested()) {
    const auto connections_before = last_connection_;
    try {
      serve(stop);
      forget_connection({});
      continue;
    } catch (const AmqpError& error) {
      if (last_connection_ != connections_before) backoff.reset();
      on_lost(error);
      if (!error.may_pass()) return;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      fatal_ = std::current_exception();
      changed_.notify_all();
      return;
    }
    flow::pause(backoff.next(), stop);
  }
}

/// Messages that no thread has taken come again.
void QueueConsumer::forget_connection(const std::string& error) {
  const std::lock_guard lock(mutex_);
  connection_number_ = 0;
  ready_.clear();
  state_.is_connected = false;
  state_.error = error;
  state_.in_flight = 0;
}

void QueueConsumer::on_lost(const AmqpError& error) {
  forget_connection(error.what());
  if (!error.may_pass()) {
    const std::lock_guard lock(mutex_);
    fatal_ = std::make_exception_ptr(error);
  }
  changed_.notify_all();
  options_.on_change({}, error.what());
}

/// Ends after a stop request, or to give messages back: the broker does so when the connection is
/// closed.
void QueueConsumer::serve(const std::stop_token& stop) {
  BrokerConnection connection(options_.connection);
  begin_connection(connection);
  std::optional<Instant> end;  // of the wait for the last confirms
  for (;;) {
    clear_wake();
    send_waiting(connection);
    if (stop.stop_requested()) {
      if (!end) end = Clock::now() + options_.connection.timeout;
      if ((dead_letters_.empty() && !has_work_to_send()) || Clock::now() > *end) return;
    } else {
      if (must_give_back()) return;
      request_messages(connection);
      update_depths(connection);
    }
    const milliseconds wait = is_queue_empty_ ? kLook : kWait;
    if (const auto event = connection.wait(wait, wake_.get())) on_event(connection, *event);
  }
}

/// Not while the broker has not confirmed dead letters: they would be dead letters twice.
bool QueueConsumer::must_give_back() const {
  if (!dead_letters_.empty() || has_work_to_send()) return false;
  const std::lock_guard lock(mutex_);
  return is_released_ && state_.in_flight > 0;
}

bool QueueConsumer::has_work_to_send() const {
  const std::lock_guard lock(mutex_);
  return !acks_.empty() || !rejections_.empty();
}

void QueueConsumer::begin_connection(BrokerConnection& connection) {
  connection.declare(options_.queue);
  connection.select_confirms();
  connection.open_fetch_channels();
  const std::string questions = workers_exchange(options_.queue.name);
  connection.declare_fanout(questions);
  // The broker may not know yet that the last connection, and its queue, are gone.
  const std::string own_queue =
      questions + '.' + options_.name + '.' + std::to_string(last_connection_ + 1);
  connection.bind_own_queue(own_queue, questions);
  connection.consume(Channel::control, own_queue, kControlConsumer, false);
  dead_letters_.clear();
  next_number_ = 1;
  free_channels_.clear();
  for (int i = 0; i < kFetchChannels; ++i) free_channels_.insert(fetch_channel(i));
  is_queue_empty_ = false;
  has_new_message_ = false;
  known_.clear();
  next_depths_ = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    connection_number_ = ++last_connection_;
    state_.is_connected = true;
    state_.error.clear();
    state_.reconnects = std::int64_t(last_connection_) - 1;
  }
  options_.on_change(connection.address(), {});
}

/// A lost connection drops what was to be sent through it.
void QueueConsumer::send_waiting(BrokerConnection& connection) {
  std::vector<DeliveryId> acks;
  std::vector<Rejection> rejections;
  std::uint64_t current = 0;
  {
    const std::lock_guard lock(mutex_);
    current = connection_number_;
    acks.swap(acks_);
    rejections.swap(rejections_);
  }
  std::int64_t dropped = 0, acknowledged = 0;
  for (const DeliveryId& id : acks) {
    if (id.connection != current) {
      ++dropped;
      continue;
    }
    connection.ack(id.channel, id.tag);
    known_.erase(id);
    ++acknowledged;
  }
  for (const Rejection& rejection : rejections) {
    if (rejection.id.connection != current) {
      ++dropped;
      continue;
    }
    send_to_dead_letters(connection, rejection);
  }
  const std::lock_guard lock(mutex_);
  state_.acknowledged += acknowledged;
  state_.dropped_acks += dropped;
  state_.in_flight -= acknowledged;
}

/// The message is acknowledged when the broker has confirmed its copy with the reason.
void QueueConsumer::send_to_dead_letters(BrokerConnection& connection, const Rejection& rejection) {
  connection.publish(Channel::work, {.exchange = dead_letter_name(options_.queue.name),
                                     .body = rejection.body,
                                     .is_mandatory = true,
                                     .headers = {{kReasonHeader, rejection.reason},
                                                 {"eckart-queue", options_.queue.name}}});
  dead_letters_.emplace(next_number_++, rejection.id);
}

void QueueConsumer::on_event(BrokerConnection& connection, const Event& event) {
  if (const auto* delivery = std::get_if<Delivery>(&event))
    delivery->channel == Channel::control ? answer(connection, *delivery) : on_message(*delivery);
  if (const auto* empty = std::get_if<Empty>(&event)) {
    free_channels_.insert(empty->channel);
    is_queue_empty_ = true;
    next_look_ = Clock::now() + kLook;
  }
  if (const auto* confirm = std::get_if<Confirm>(&event)) on_confirm(connection, *confirm);
  if (std::holds_alternative<Returned>(event))  // the next connection makes it again
    throw AmqpError(ExitCode::unavailable, "the dead-letter queue was deleted");
  if (std::holds_alternative<Canceled>(event))
    throw AmqpError(ExitCode::unavailable, "the broker ended a consumer");
}

void QueueConsumer::on_message(const Delivery& delivery) {
  const DeliveryId id{last_connection_, delivery.channel, delivery.tag};
  free_channels_.insert(delivery.channel);
  has_new_message_ = delivery.delivery_count == 0;
  if (!has_new_message_) known_.insert(id);
  {
    const std::lock_guard lock(mutex_);
    ++state_.in_flight;
    const auto first_known = std::ranges::find_if(
        ready_, [](const QueueMessage& message) { return message.delivery_count > 0; });
    ready_.insert(has_new_message_ ? first_known : ready_.end(),
                  {.id = id,
                   .body = delivery.body,
                   .delivery_count = delivery.delivery_count,
                   .received_at = Clock::now()});
  }
  changed_.notify_all();
}

void QueueConsumer::on_confirm(BrokerConnection& connection, const Confirm& confirm) {
  const auto end = dead_letters_.upper_bound(confirm.number);
  auto message =
      confirm.includes_earlier ? dead_letters_.begin() : dead_letters_.lower_bound(confirm.number);
  std::int64_t rejected = 0;
  while (message != end) {
    const DeliveryId id = message->second;
    confirm.is_accepted ? connection.ack(id.channel, id.tag)
                        : connection.reject(id.channel, id.tag);
    known_.erase(id);
    message = dead_letters_.erase(message);
    ++rejected;
  }
  const std::lock_guard lock(mutex_);
  state_.rejected += rejected;
  state_.in_flight -= rejected;
}

void QueueConsumer::answer(BrokerConnection& connection, const Delivery& question) {
  if (question.reply_to.empty()) return;
  const std::string body = to_body({options_.name, state().in_flight});
  connection.publish(Channel::control, {.routing_key = question.reply_to,
                                        .body = body,
                                        .is_persistent = false,
                                        .correlation_id = question.correlation_id});
}

/// How many messages may be taken and not acknowledged. If there is one that was delivered before,
/// no other is taken until all are finished.
std::int64_t QueueConsumer::max_messages() const {
  if (!known_.empty()) return 0;
  const std::lock_guard lock(mutex_);
  if (is_released_) return 0;
  return has_new_message_ ? prefetch_ : 1;
}

void QueueConsumer::request_messages(BrokerConnection& connection) {
  if (is_queue_empty_) look(connection);
  const std::int64_t requested = kFetchChannels - std::int64_t(free_channels_.size());
  std::int64_t left = max_messages() - state().in_flight - requested;
  while (left-- > 0 && !is_queue_empty_ && !free_channels_.empty()) {
    const Channel channel = free_channels_.extract(free_channels_.begin()).value();
    connection.request(channel, options_.queue.name);
  }
}

/// A request to an empty quorum queue would write to the disks of its servers.
void QueueConsumer::look(BrokerConnection& connection) {
  if (Clock::now() < next_look_) return;
  const auto queue = connection.depth(options_.queue.name);
  if (!queue) throw AmqpError(ExitCode::unavailable, "the queue was deleted");
  is_queue_empty_ = queue->ready == 0;
  next_look_ = Clock::now() + kLook;
  const std::lock_guard lock(mutex_);
  state_.queue = queue;
}

void QueueConsumer::update_depths(BrokerConnection& connection) {
  if (Clock::now() < next_depths_) return;
  const auto queue = connection.depth(options_.queue.name);
  const auto dead_letters = connection.depth(dead_letter_name(options_.queue.name));
  next_depths_ = Clock::now() + options_.depth_interval;
  const std::lock_guard lock(mutex_);
  state_.queue = queue;
  state_.dead_letters = dead_letters;
}

}  // namespace eckart::broker
