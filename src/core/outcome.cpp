#include "core/outcome.hpp"

namespace eckart {

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::source:
      return "source";
    case Stage::load:
      return "load";
    case Stage::batch:
      return "batch";
    case Stage::compute:
      return "compute";
    case Stage::write:
      return "write";
  }
  return "?";
}

std::optional<Stage> parse_stage(std::string_view name) {
  for (int i = 0; i < kStageCount; ++i) {
    if (to_string(Stage(i)) == name) return Stage(i);
  }
  return std::nullopt;
}

std::string_view to_string(FailureReason reason) {
  switch (reason) {
    case FailureReason::none:
      return "none";
    case FailureReason::not_found:
      return "not found";
    case FailureReason::unreadable:
      return "unreadable";
    case FailureReason::empty_file:
      return "empty file";
    case FailureReason::not_an_image:
      return "not an image";
    case FailureReason::unsupported:
      return "unsupported";
    case FailureReason::too_large:
      return "too large";
    case FailureReason::corrupt:
      return "corrupt";
    case FailureReason::not_encodable:
      return "not encodable";
    case FailureReason::output_collision:
      return "output collision";
    case FailureReason::out_of_memory:
      return "out of memory";
    case FailureReason::not_converged:
      return "not converged";
    case FailureReason::compute_failed:
      return "compute failed";
    case FailureReason::not_written:
      return "not written";
    case FailureReason::internal:
      return "internal";
  }
  return "?";
}

std::string_view to_string(ItemResult result) {
  switch (result) {
    case ItemResult::done:
      return "done";
    case ItemResult::skipped:
      return "skipped";
    case ItemResult::failed:
      return "failed";
    case ItemResult::incomplete:
      return "incomplete";
    case ItemResult::deferred:
      return "deferred";
  }
  return "?";
}

}  // namespace eckart
