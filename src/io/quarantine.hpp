#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "io/taken_file.hpp"

namespace eckart::io {

struct QuarantineLimits {
  int keep_days = 30;          ///< 0: for ever
  std::int64_t max_mb = 1024;  ///< MiB; 0: no limit
};

/// Where inputs go that cannot be done, each with its reason beside it in NAME.reason.json:
/// OUT/.eckart/quarantine, in the tree of the inputs. Of an input that stays where it is only the
/// reason is there. Thread-safe. Everything throws ItemError(not_written) with the system's
/// reason, or EnvironmentError.
class Quarantine {
 public:
  Quarantine(const std::filesystem::path& output, QuarantineLimits limits);

  /// Moves the file there. `relative` is its place in the tree of the inputs.
  void take(TakenFile& file, const std::filesystem::path& relative, const std::string& reason);
  /// Of a file that stays.
  void note(const std::filesystem::path& relative, const std::string& reason);
  bool has_note(const std::filesystem::path& relative) const;
  void remove_note(const std::filesystem::path& relative) const;

  /// Removes what is too old, and the oldest where all are too large; their places. A file that is
  /// too large alone goes only by its age.
  std::vector<std::filesystem::path> sweep(std::chrono::system_clock::time_point now) const;

 private:
  void write(const std::filesystem::path& reason_file, const std::string& reason);

  const std::filesystem::path folder_;
  const QuarantineLimits limits_;
  std::mutex mutex_;  // between the choice of a name and its use
};

/// The quarantine of an output folder.
std::filesystem::path quarantine_folder(const std::filesystem::path& output);

/// The file that a file of a reason is of; it is not there where the input has stayed.
std::filesystem::path file_of_reason(const std::filesystem::path& reason_file);

/// Where the reason is written, of a file at `place` in a quarantine.
std::filesystem::path reason_file_of(const std::filesystem::path& place);

/// All files of reasons in a quarantine, the oldest first.
std::vector<std::filesystem::path> reason_files(const std::filesystem::path& folder);

}  // namespace eckart::io
