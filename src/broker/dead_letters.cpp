#include "broker/dead_letters.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <variant>

#include "broker/work_message.hpp"

namespace eckart::broker {
namespace {

constexpr std::chrono::milliseconds kMaxDeliveryTime{2000};

/// The value of a header; empty if there is none.
std::string header_of(const Delivery& delivery, const std::string& key) {
  const auto found =
      std::ranges::find(delivery.headers, key, [](const auto& header) { return header.first; });
  return found == delivery.headers.end() ? "" : found->second;
}

std::string reason_of(const Delivery& delivery) {
  if (std::string reason = header_of(delivery, kReasonHeader); !reason.empty()) return reason;
  const std::string reason = header_of(delivery, "x-first-death-reason");  // of RabbitMQ
  if (reason == "delivery_limit")
    return "delivered too often: its workers were killed or lost their connection";
  return reason.empty() ? "unknown" : reason;
}

}  // namespace

DeadLetter dead_letter_of(const Delivery& delivery) {
  DeadLetter letter{.reason = reason_of(delivery), .images = {}};
  try {
    for (WorkImage& image : parse_work_message(delivery.body).images)
      letter.images.push_back(std::move(image.path));
  } catch (const std::invalid_argument&) {  // perhaps that is the reason
  }
  return letter;
}

/// The broker gets them back when the connection is closed.
std::vector<DeadLetter> read_dead_letters(const ConnectionOptions& options,
                                          const std::string& queue, int max) {
  BrokerConnection connection(options);
  const std::string name = dead_letter_name(queue);
  const std::optional<QueueDepth> depth = connection.depth(name);
  const std::int64_t count = std::min<std::int64_t>(max, depth ? depth->ready : 0);
  std::vector<DeadLetter> letters;
  if (count == 0) return letters;
  connection.set_prefetch(int(count));
  connection.consume(Channel::work, name, "status", true);
  while (std::int64_t(letters.size()) < count) {
    const std::optional<Event> event = connection.wait(kMaxDeliveryTime);
    if (!event) break;  // another client has taken them
    if (const auto* delivery = std::get_if<Delivery>(&*event))
      letters.push_back(dead_letter_of(*delivery));
  }
  return letters;
}

}  // namespace eckart::broker
