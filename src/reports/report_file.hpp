#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace eckart::reports {

/// Where the lines of a report go: to FILE.part, which nobody else writes to meanwhile, until
/// publish() puts that to FILE's place. Or directly: to stdout (`-`), to what is no regular file,
/// to what is named below /dev or /proc, and to a file that stdout or stderr goes to. What was
/// there is not cut short then. One thread at a time.
class ReportFile {
 public:
  /// Throws FatalError: temporary where another run writes this report, usage where FILE or
  /// FILE.part is there and is no report, cannot_create; and EnvironmentError where there is no
  /// space.
  explicit ReportFile(const std::filesystem::path& file);

  bool is_direct() const { return part_.empty(); }
  const std::filesystem::path& path() const { return path_; }

  /// At once. After a failure nothing is written any more.
  void write(const std::string& text);
  /// Calls `use` with each whole line that was written; not where it is direct.
  void for_each_written_line(const std::function<void(const std::string& line)>& use);
  /// The same of the report that FILE was before.
  void for_each_previous_line(const std::function<void(const std::string& line)>& use);
  /// Nothing is written after it. Without a failure until then, FILE is this report, durably; else
  /// it is what it was before. Gives the first failure's errno, or 0.
  int publish();

 private:
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void read_lines(const std::filesystem::path& file,
                  const std::function<void(const std::string& line)>& use);
  void rename_into_place();

  const std::filesystem::path path_;
  const std::filesystem::path part_;  // empty: direct
  std::unique_ptr<std::FILE, FileCloser> file_;
  int first_errno_ = 0;  // the first
};

}  // namespace eckart::reports
