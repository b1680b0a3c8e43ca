#include "broker/worker_report.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/instant.hpp"
#include "text/json.hpp"

namespace eckart::broker {
namespace {

using std::chrono::milliseconds;

constexpr const char* kDirectReplyTo = "amq.rabbitmq.reply-to";  // a feature of RabbitMQ
constexpr const char* kReportConsumer = "eckart.reports";
constexpr milliseconds kQuiet{1000};  // after the last answer

}  // namespace

std::string to_body(const WorkerReport& report) {
  return text::dump_json(text::Json{{"worker", report.name}, {"in_flight", report.in_flight}});
}

std::optional<WorkerReport> parse_worker_report(const std::string& body) {
  const text::Json json = text::Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("worker") || !json["worker"].is_string() ||
      !json.contains("in_flight") || !json["in_flight"].is_number_integer())
    return std::nullopt;
  return WorkerReport{json["worker"].get<std::string>(), json["in_flight"].get<std::int64_t>()};
}

std::string workers_exchange(const std::string& queue) { return queue + ".workers"; }

std::vector<WorkerReport> ask_workers(const ConnectionOptions& options, const std::string& queue,
                                      milliseconds time) {
  BrokerConnection connection(options);
  std::vector<WorkerReport> reports;
  connection.declare_fanout(workers_exchange(queue));
  connection.consume(Channel::control, kDirectReplyTo, kReportConsumer, false);
  connection.publish(Channel::control, {.exchange = workers_exchange(queue),
                                        .body = "{}",
                                        .is_persistent = false,
                                        .reply_to = kDirectReplyTo});
  const Instant end = Clock::now() + time;
  Instant quiet = Clock::now() + kQuiet;
  while (Clock::now() < std::min(end, quiet)) {
    const auto event =
        connection.wait(std::chrono::ceil<milliseconds>(std::min(end, quiet) - Clock::now()));
    const auto* reply = event ? std::get_if<Delivery>(&*event) : nullptr;
    if (reply == nullptr) continue;
    if (auto report = parse_worker_report(reply->body)) reports.push_back(std::move(*report));
    quiet = Clock::now() + kQuiet;
  }
  std::ranges::sort(reports, {}, &WorkerReport::name);
  return reports;
}

}  // namespace eckart::broker
