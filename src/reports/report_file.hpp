#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "reports/report_format.hpp"

namespace eckart::reports {

/// The file of a report, in the format that its name stands for. Records are written to FILE.part,
/// which only one process writes at a time, and publish() renames it to FILE. If FILE is `-`, not a
/// regular file, below /dev or /proc, or the file that stdout or stderr writes to, records are
/// written to it directly, and it is not truncated. For one thread at a time.
class ReportFile {
 public:
  /// Throws FatalError: `temporary` if another run writes this report, `usage` if FILE or FILE.part
  /// exists and is not a report, `cannot_create`. Throws EnvironmentError if there is no space.
  explicit ReportFile(const std::filesystem::path& file);

  using RecordVisitor = std::function<void(const ReportReader::Record& record)>;

  ReportFormat format() const { return format_; }
  bool is_direct() const { return part_.empty(); }
  const std::filesystem::path& path() const { return path_; }

  /// Writes and flushes. Does nothing after a failure.
  void write(const std::string& text);
  /// Calls `visit` with each complete record that was written. Not to be called if is_direct().
  void for_each_written_record(const RecordVisitor& visit);
  /// Whether FILE existed before. Not to be called if is_direct().
  bool has_previous() const;
  /// The same for the previous content of FILE.
  void for_each_previous_record(const RecordVisitor& visit);
  /// Closes the file; nothing may be written afterwards. If nothing failed, FILE is this report,
  /// durably; otherwise FILE is unchanged. Returns the errno of the first failure, or 0.
  int publish();

 private:
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void read_records(const std::filesystem::path& file, const RecordVisitor& visit);
  void rename_into_place();

  const ReportFormat format_;
  const std::filesystem::path path_;
  const std::filesystem::path part_;  // empty if direct
  std::unique_ptr<std::FILE, FileCloser> file_;
  int first_errno_ = 0;  // of the first failure
};

}  // namespace eckart::reports
