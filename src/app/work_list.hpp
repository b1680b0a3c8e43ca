#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/input_sources.hpp"
#include "broker/work_message.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// Returns the hash of all settings that affect the pixels, formats and names of outputs, as in
/// broker::WorkMessage: 16 hexadecimal digits.
std::string work_settings_hash(const settings::Settings& settings);

/// The parameters of one `eckart enqueue`.
struct WorkListRequest {
  InputSources sources;
  settings::Settings settings;
  std::int64_t images_per_message = 16;  ///< at most, unless images must stay together
  /// If not empty, images whose outputs are recorded in the ledgers of this folder are left out.
  std::filesystem::path scanned_output{};
};

/// The work for a queue.
struct WorkList {
  std::vector<broker::WorkMessage> messages;
  std::int64_t images = 0;  ///< in the messages
  std::int64_t done = 0;    ///< left out, because their outputs are recorded
  /// Inputs that are in no message, with the reason.
  std::vector<std::pair<std::filesystem::path, std::string>> failed;
  std::int64_t ignored = 0;                                    ///< see io::Source::ignored_count()
  std::vector<std::pair<std::string, std::int64_t>> not_read;  ///< see io::UnreadFiles
};

/// Lists all inputs. Images whose outputs may have the same name are in the same message. Calls
/// `on_listed` with the number of images so far, after every thousand. Throws
/// FatalError(no_input) if there is no image, and as make_sources(). Throws EnvironmentError.
WorkList list_work(const WorkListRequest& request,
                   const std::function<void(std::int64_t images)>& on_listed);

}  // namespace eckart::app
