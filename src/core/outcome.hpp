#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eckart {

/// The stages of the pipeline, in order.
enum class Stage { source, load, batch, compute, write };
std::string_view to_string(Stage stage);
std::optional<Stage> parse_stage(std::string_view name);
constexpr int kStageCount = int(Stage::write) + 1;

/// Why an image failed. The same closed list is used in logs, summary and JSON.
enum class FailureReason {
  none,
  not_found,   ///< no such file
  unreadable,  ///< exists, but cannot be opened or read
  empty_file,
  not_an_image,      ///< the file signature is not that of a supported format
  unsupported,       ///< an image of a kind that is not supported (alpha, CMYK, ...)
  too_large,         ///< exceeds a limit of core/image_limits.hpp
  corrupt,           ///< has the signature of an image but does not decode
  not_encodable,     ///< the output format cannot represent the image
  output_collision,  ///< its output path is that of another input's output, of an input, or of a
                     ///< file that this program did not write
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
  incomplete,  ///< failed, but the file may be incomplete: it will be tried again
  deferred,    ///< an environment error, for which no file is to blame: it will be tried again
};
std::string_view to_string(ItemResult result);

/// The outcome of one image. `detail` is text for people, on one line. It does not contain the path
/// of the image, which messages put before it.
struct Outcome {
  ItemResult result = ItemResult::done;
  Stage stage = Stage::source;
  FailureReason reason = FailureReason::none;
  std::string detail;

  static Outcome failed(Stage stage, FailureReason reason, std::string detail) {
    return {ItemResult::failed, stage, reason, std::move(detail)};
  }
  static Outcome incomplete(Stage stage, FailureReason reason, std::string detail) {
    return {ItemResult::incomplete, stage, reason, std::move(detail)};
  }
  static Outcome deferred(Stage stage, std::string detail) {
    return {ItemResult::deferred, stage, FailureReason::none, std::move(detail)};
  }
  bool ok() const { return result == ItemResult::done; }
  bool will_be_retried() const {
    return result == ItemResult::incomplete || result == ItemResult::deferred;
  }
};

}  // namespace eckart
