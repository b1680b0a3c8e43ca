#include "app/input_counter.hpp"

#include <utility>

namespace eckart::app {

namespace {

/// The pipeline meets the same error and reports it.
void ignore_error(const std::exception_ptr&) {}

}  // namespace

InputCounter::InputCounter(std::unique_ptr<io::Source> source)
    : source_(std::move(source)),
      worker_(
          "count", 1, [this](int) { run(); }, ignore_error) {}

void InputCounter::run() {
  const std::stop_token stop = stop_.get_token();
  std::int64_t count = 0;
  while (source_->next(stop)) ++count;
  if (!stop.stop_requested()) total_ = count;
}

std::optional<std::int64_t> InputCounter::total() const {
  const std::int64_t total = total_;
  return total < 0 ? std::nullopt : std::optional(total);
}

}  // namespace eckart::app
