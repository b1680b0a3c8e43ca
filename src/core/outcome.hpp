#pragma once

#include <string>
#include <string_view>

namespace eckart {

/// The stages an image passes, in order.
enum class Stage { source, load, batch, compute, write };
std::string_view to_string(Stage stage);
constexpr int kStageCount = int(Stage::write) + 1;

/// Why an image failed: a closed list, the same in logs, summary and JSON.
enum class FailureReason {
  none,
  not_found,   ///< no such file
  unreadable,  ///< exists, but cannot be opened or read
  empty_file,
  not_an_image,      ///< its first bytes are those of no supported format
  unsupported,       ///< an image, but of a kind this program does not take (alpha, CMYK, ...)
  too_large,         ///< over one of the limits of io/codec.hpp
  corrupt,           ///< begins as an image, but does not decode
  not_encodable,     ///< an image that the format of the outputs cannot hold
  output_collision,  ///< its output is another input's output, or an input
  out_of_memory,
  not_converged,   ///< the decomposition did not converge
  compute_failed,  ///< the backend failed on this batch
  not_written,     ///< the output could not be encoded or written
  internal,        ///< a bug
};
std::string_view to_string(FailureReason reason);
constexpr int kFailureReasonCount = int(FailureReason::internal) + 1;

enum class ItemResult {
  done,
  skipped,
  failed,
  deferred,  ///< to come again; with a reason where that may be the file's, half-written say
};
std::string_view to_string(ItemResult result);

/// What became of one image. `detail` is a sentence for people, without the path.
struct Outcome {
  ItemResult result = ItemResult::done;
  Stage stage = Stage::source;
  FailureReason reason = FailureReason::none;
  std::string detail;

  static Outcome failed(Stage stage, FailureReason reason, std::string detail) {
    return {ItemResult::failed, stage, reason, std::move(detail)};
  }
  static Outcome deferred(Stage stage, FailureReason reason, std::string detail) {
    return {ItemResult::deferred, stage, reason, std::move(detail)};
  }
  bool ok() const { return result == ItemResult::done; }
};

}  // namespace eckart
