#include "app/shard_progress.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <fstream>
#include <system_error>
#include <utility>

#include "app/shard_files.hpp"
#include "app/shard_ledger.hpp"
#include "text/json.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// The shard of a file I.json or I.TOKEN.db; 0 if it is none of them.
std::int64_t shard_of(const fs::path& file) {
  const std::string name = file.filename().native();
  std::int64_t shard = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), shard);
  return error == std::errc() && *end == '.' ? shard : 0;
}

}  // namespace

ShardProgress::ShardProgress(fs::path output, std::string manifest, std::int64_t shards)
    : folder_(shards_folder(output) / manifest), shards_(std::size_t(shards)) {}

void ShardProgress::update() {
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const fs::file_time_type time = entry->last_write_time(gone);
    if (!gone) read(entry->path(), time);
  }
}

void ShardProgress::read(const fs::path& file, fs::file_time_type time) try {
  const std::int64_t index = shard_of(file);
  if (index < 1 || index > std::int64_t(shards_.size())) return;
  if (const auto known = read_.find(file); known != read_.end() && known->second == time) return;
  Shard& shard = shards_[std::size_t(index - 1)];
  if (file.extension() == ".json") {
    std::ifstream stream(file);
    const text::Json json = text::Json::parse(stream);
    shard.counts.done = json.at("done").get<std::int64_t>();
    shard.counts.failed = json.at("failed").get<std::int64_t>();
    shard.is_finished = true;
  } else if (file.extension() == ".db" && !shard.is_finished) {
    const ledger::InputCounts counts = count_published_inputs(file);
    shard.counts.done = std::max(shard.counts.done, counts.done);
    shard.counts.failed = counts.failed;
  }
  read_[file] = time;
} catch (const std::exception&) {  // replaced or removed meanwhile
}

std::int64_t ShardProgress::done() const {
  std::int64_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.counts.done;
  return sum;
}

std::int64_t ShardProgress::failed() const {
  std::int64_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.counts.failed;
  return sum;
}

std::vector<std::int64_t> ShardProgress::unfinished() const {
  std::vector<std::int64_t> unfinished;
  for (std::size_t i = 0; i < shards_.size(); ++i)
    if (!shards_[i].is_finished) unfinished.push_back(std::int64_t(i) + 1);
  return unfinished;
}

}  // namespace eckart::app
