#include "cli/log_files.hpp"

#include <system_error>

#include "app/shard_files.hpp"
#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::cli {

std::vector<std::filesystem::path> log_files(const std::vector<std::filesystem::path>& logs) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& log : logs) {
    std::error_code none;
    if (!std::filesystem::is_directory(log, none)) {
      files.push_back(log);
      continue;
    }
    const std::vector<std::filesystem::path> found = app::shard_throughput_logs(log);
    if (found.empty())
      throw FatalError(ExitCode::no_input, text::printable(log.native()) +
                                               ": no throughput logs of shards in this folder");
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace eckart::cli
