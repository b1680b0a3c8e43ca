#include "broker/queue_publisher.hpp"

#include <iterator>
#include <stop_token>
#include <utility>
#include <variant>

#include "flow/pause.hpp"
#include "text/printable.hpp"

namespace eckart::broker {
namespace {

constexpr Backoff::Duration kFirstWait{200}, kMaxWait{5000};
constexpr std::chrono::milliseconds kConfirmCheck{1000};

}  // namespace

QueuePublisher::QueuePublisher(PublisherOptions options)
    : options_(std::move(options)), backoff_(kFirstWait, kMaxWait) {
  connect();
}

/// Messages get new numbers, because the broker counts those of a channel.
void QueuePublisher::connect() {
  connection_.emplace(options_.connection);
  is_new_queue_ |= !connection_->depth(options_.queue.name).has_value();
  connection_->declare(options_.queue);
  connection_->select_confirms();
  next_number_ = next_to_send_ = 1;
  for (auto& [number, body] : std::exchange(unconfirmed_, {}))
    unconfirmed_.emplace(next_number_++, std::move(body));
}

/// Connects again after an error that may pass.
template <class Step>
void QueuePublisher::with_reconnect(const Step& step) {
  for (;;) {
    try {
      if (!connection_) connect();
      return step();
    } catch (const AmqpError& error) {
      connection_.reset();
      if (!error.may_pass() || Clock::now() - last_progress_ > options_.max_wait) throw;
      ++reconnects_;
      flow::pause(backoff_.next(), {});
    }
  }
}

void QueuePublisher::send_unsent() {
  for (auto message = unconfirmed_.lower_bound(next_to_send_); message != unconfirmed_.end();
       ++message) {
    connection_->publish(
        Channel::work,
        {.routing_key = options_.queue.name, .body = message->second, .is_mandatory = true});
    next_to_send_ = message->first + 1;
  }
}

void QueuePublisher::publish(std::string body) {
  if (unconfirmed_.empty()) last_progress_ = Clock::now();
  unconfirmed_.emplace(next_number_++, std::move(body));
  with_reconnect([&] { wait_for_confirms(options_.window - 1); });
}

void QueuePublisher::flush() {
  with_reconnect([&] { wait_for_confirms(0); });
}

void QueuePublisher::wait_for_confirms(std::size_t max_unconfirmed) {
  send_unsent();
  while (unconfirmed_.size() > max_unconfirmed) {
    if (const std::optional<Event> event = connection_->wait(kConfirmCheck)) {
      on_event(*event);
    } else if (Clock::now() - last_progress_ > options_.max_wait) {
      throw AmqpError(ExitCode::unavailable,
                      "the broker confirms no messages; it may be out of memory or disk space");
    }
  }
}

void QueuePublisher::on_event(const Event& event) {
  if (const auto* confirm = std::get_if<Confirm>(&event)) on_confirm(*confirm);
  if (const auto* returned = std::get_if<Returned>(&event))
    throw AmqpError(ExitCode::unavailable,
                    "the queue " + text::printable(options_.queue.name) +
                        " is gone: " + text::printable_message(returned->reason));
}

void QueuePublisher::on_confirm(const Confirm& confirm) {
  if (!confirm.is_accepted)  // for example, its queue is being made
    throw AmqpError(ExitCode::unavailable,
                    "the broker refuses messages: a limit of the queue may be reached");
  const auto end = unconfirmed_.upper_bound(confirm.number);
  const auto begin =
      confirm.includes_earlier ? unconfirmed_.begin() : unconfirmed_.lower_bound(confirm.number);
  confirmed_ += std::distance(begin, end);
  unconfirmed_.erase(begin, end);
  last_progress_ = Clock::now();
  backoff_.reset();
}

}  // namespace eckart::broker
