#include "io/read_ahead.hpp"

#include <algorithm>
#include <utility>

#include "io/input_file.hpp"

namespace eckart::io {
namespace {

constexpr std::size_t kGroupFiles = 32;  // reading them takes longer than to start a thread
constexpr std::size_t kGroupBytes = std::size_t(16) << 20;
constexpr std::size_t kGroups = 4;  // that are read at the same time

ReadAhead::File read(const std::filesystem::path& path) {
  ReadAhead::File file;
  try {
    const InputFile input(path);
    file.bytes.resize(std::size_t(input.size()));
    file.bytes.resize(input.read_at(0, file.bytes));
    file.mtime_ns = input.state().mtime_ns;
  } catch (const ItemError& error) {
    file.failure = error;
  }
  return file;
}

}  // namespace

ReadAhead::ReadAhead(std::filesystem::path folder, std::span<const std::string> names)
    : folder_(std::move(folder)), left_(names) {
  start_groups();
}

void ReadAhead::start_groups() {
  while (groups_.size() < kGroups && !left_.empty()) {
    const std::span<const std::string> names = left_.first(std::min(left_.size(), group_files_));
    left_ = left_.subspan(names.size());
    groups_.push_back(std::async(std::launch::async, [this, names] {
      Group group;
      for (const std::string& name : names) group.push_back(read(folder_ / name));
      return group;
    }));
  }
}

/// So many files that they have about kGroupBytes, if they are as large as the last ones.
void ReadAhead::adapt_group_files() {
  std::size_t bytes = 1;
  for (const File& file : current_) bytes += file.bytes.size();
  group_files_ = std::clamp<std::size_t>(kGroupBytes * current_.size() / bytes, 1, kGroupFiles);
}

ReadAhead::File ReadAhead::next() {
  if (next_ == current_.size()) {
    current_ = groups_.front().get();
    groups_.pop_front();
    next_ = 0;
    adapt_group_files();
    start_groups();
  }
  return std::move(current_[next_++]);
}

}  // namespace eckart::io
