#include "app/input_count.hpp"

#include <exception>
#include <utility>

namespace eckart::app {

InputCount::InputCount(std::unique_ptr<io::Source> source)
    : source_(std::move(source)), thread_([this](const std::stop_token& stop) {
        try {
          std::int64_t count = 0;
          while (source_->next(stop)) ++count;
          if (!stop.stop_requested()) total_ = count;
        } catch (const std::exception&) {  // the pipeline meets it as well, and says it
        }
      }) {}

std::optional<std::int64_t> InputCount::total() const {
  const std::int64_t total = total_;
  return total < 0 ? std::nullopt : std::optional(total);
}

}  // namespace eckart::app
