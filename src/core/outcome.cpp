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

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "none";
    case Reason::not_found:
      return "not found";
    case Reason::unreadable:
      return "unreadable";
    case Reason::empty_file:
      return "empty file";
    case Reason::not_an_image:
      return "not an image";
    case Reason::unsupported:
      return "unsupported";
    case Reason::too_large:
      return "too large";
    case Reason::corrupt:
      return "corrupt";
    case Reason::not_encodable:
      return "not encodable";
    case Reason::output_collision:
      return "output collision";
    case Reason::out_of_memory:
      return "out of memory";
    case Reason::not_converged:
      return "not converged";
    case Reason::compute_failed:
      return "compute failed";
    case Reason::not_written:
      return "not written";
    case Reason::internal:
      return "internal";
  }
  return "?";
}

std::string_view to_string(Result result) {
  switch (result) {
    case Result::done:
      return "done";
    case Result::skipped:
      return "skipped";
    case Result::failed:
      return "failed";
    case Result::deferred:
      return "deferred";
  }
  return "?";
}

}  // namespace eckart
