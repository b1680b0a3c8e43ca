#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_set>

namespace eckart::app {

/// Tells of each input that stays where it should not, once: scans find it again and again.
/// Thread-safe.
class InputsThatStay {
 public:
  void tell(const std::filesystem::path& input, const std::string& why);
  /// It is as it should be, and told of anew where that changes.
  void forget(const std::filesystem::path& input);

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> told_;
};

}  // namespace eckart::app
