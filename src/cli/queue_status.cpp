#include "cli/queue_status.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "broker/dead_letters.hpp"
#include "broker/worker_report.hpp"
#include "text/format_count.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

/// Workers that are stopped do not answer.
constexpr std::chrono::milliseconds kMaxAnswerTime{2000};

struct QueueStatus {
  broker::QueueDepth queue, dead_letters;
  std::vector<broker::WorkerReport> workers;
  std::vector<broker::DeadLetter> letters;

  std::int64_t in_flight() const {
    std::int64_t sum = 0;
    for (const broker::WorkerReport& worker : workers) sum += worker.in_flight;
    return sum;
  }
};

QueueStatus read_status(const AmqpArgs& args, int max_dead_letters) {
  const broker::ConnectionOptions options = connection_options(args, "status");
  broker::BrokerConnection connection(options);
  const std::optional<broker::QueueDepth> depth = connection.depth(args.queue.name);
  if (!depth)
    throw FatalError(ExitCode::no_input, "there is no queue " + text::printable(args.queue.name) +
                                             " at " + broker::to_string(options.address) +
                                             "; eckart enqueue makes it");
  QueueStatus status;
  status.queue = *depth;
  status.dead_letters =
      connection.depth(broker::dead_letter_name(args.queue.name)).value_or(broker::QueueDepth{});
  status.workers = broker::ask_workers(options, args.queue.name, kMaxAnswerTime);
  status.letters = broker::read_dead_letters(options, args.queue.name, max_dead_letters);
  return status;
}

void print_json(const AmqpArgs& args, const QueueStatus& status) {
  text::Json workers = text::Json::array(), letters = text::Json::array();
  for (const broker::WorkerReport& worker : status.workers)
    workers.push_back({{"worker", worker.name}, {"in_flight", worker.in_flight}});
  for (const broker::DeadLetter& letter : status.letters) {
    text::Json images = text::Json::array();
    for (const std::string& image : letter.images) images.push_back(image);
    letters.push_back({{"reason", letter.reason}, {"images", images}});
  }
  const text::Json json = {{"kind", "queue"},
                           {"queue", args.queue.name},
                           {"waiting", status.queue.ready},
                           {"in_flight", status.in_flight()},
                           {"dead_letters", status.dead_letters.ready},
                           {"workers", workers},
                           {"dead_letter_list", letters}};
  std::printf("%s\n", text::dump_json(json).c_str());
}

/// "/a.png, /b.png and 14 more".
std::string images_text(const std::vector<std::string>& images) {
  constexpr std::size_t kShown = 2;
  std::string list;
  for (std::size_t i = 0; i < std::min(images.size(), kShown); ++i)
    list += (i > 0 ? ", " : "") + text::printable(images[i]);
  if (images.size() > kShown) list += " and " + std::to_string(images.size() - kShown) + " more";
  return list.empty() ? "no images" : list;
}

void print_text(const AmqpArgs& args, const QueueStatus& status) {
  const auto messages = [](std::int64_t count) { return text::format_count(count, "message"); };
  std::printf("queue %s: %s waiting, %s in flight at %s, %s\n",
              text::printable(args.queue.name).c_str(), messages(status.queue.ready).c_str(),
              text::group_digits(status.in_flight()).c_str(),
              text::format_count(std::int64_t(status.workers.size()), "worker").c_str(),
              text::format_count(status.dead_letters.ready, "dead letter").c_str());
  for (const broker::WorkerReport& worker : status.workers)
    std::printf("worker %s: %s in flight\n", text::printable(worker.name).c_str(),
                messages(worker.in_flight).c_str());
  for (const broker::DeadLetter& letter : status.letters)
    std::printf("dead letter: %s (%s)\n", text::printable_message(letter.reason).c_str(),
                images_text(letter.images).c_str());
  const std::int64_t more = status.dead_letters.ready - std::int64_t(status.letters.size());
  if (more > 0 && !status.letters.empty())
    std::printf("and %s more; use --failures N to list N\n", text::group_digits(more).c_str());
}

}  // namespace

void print_queue_status(const AmqpArgs& args, int max_dead_letters, bool json) {
  const QueueStatus status = read_status(args, max_dead_letters);
  json ? print_json(args, status) : print_text(args, status);
}

}  // namespace eckart::cli
