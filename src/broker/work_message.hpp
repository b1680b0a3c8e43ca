#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "files/file_state.hpp"

namespace eckart::broker {

/// The most bytes and images of a message that parse_work_message() accepts.
inline constexpr std::size_t kMaxWorkBytes = std::size_t(4) << 20;
inline constexpr std::size_t kMaxWorkImages = 10000;

/// An image to process.
struct WorkImage {
  std::string path;        ///< absolute; bytes, not text
  std::string relative;    ///< io::SourceItem::relative: names the outputs; bytes
  files::FileState state;  ///< when the image was listed
  friend bool operator==(const WorkImage&, const WorkImage&) = default;
};

/// Images that one worker processes with the same settings. Pixels are never in a message.
struct WorkMessage {
  std::string settings_hash;  ///< of all settings that affect outputs
  std::vector<WorkImage> images;
  friend bool operator==(const WorkMessage&, const WorkMessage&) = default;
};

/// Returns the body of a message: one JSON object, which parse_work_message() reads.
std::string to_json(const WorkMessage& message);

/// The inverse. Unknown keys are ignored. Throws std::invalid_argument, with the reason, if the
/// body has another version, is too large, is not an object of this kind, or names a path that is
/// not absolute or an output that is not below the output folder.
WorkMessage parse_work_message(std::string_view body);

/// Divides images, in their order, into messages of at most `max_images` images (at least one) and
/// kMaxWorkBytes.
std::vector<WorkMessage> split_into_messages(std::vector<WorkImage> images,
                                             const std::string& settings_hash,
                                             std::size_t max_images);

}  // namespace eckart::broker
