#include "app/stall_record.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/read_small_file.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxEntries = 1000, kMaxBytes = kMaxEntries * 8192;
constexpr std::chrono::minutes kFirstHold{10};
constexpr std::chrono::hours kMaxHold{24};
constexpr int kMaxDoublings = 8;  // kFirstHold * 2^8 is more than a day

std::int64_t seconds_since_1970(StallRecord::Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

void StallRecord::add(const fs::path& relative, const files::FileState& state, Time now) {
  const std::lock_guard lock(mutex_);
  read();
  Entry& entry = entries_[relative.native()];
  if (entry.state != state) entry = {.state = state};
  ++entry.count;
  entry.last_s = seconds_since_1970(now);
  if (entries_.size() > kMaxEntries) {
    entries_.erase(std::min_element(entries_.begin(), entries_.end(), [](auto& a, auto& b) {
      return a.second.last_s < b.second.last_s;
    }));
  }
  write();
}

std::optional<StallRecord::Hold> StallRecord::find_hold(const fs::path& relative,
                                                        const files::FileState& state, Time now) {
  const std::lock_guard lock(mutex_);
  read();
  const auto found = entries_.find(relative.native());
  if (found == entries_.end() || found->second.state != state || found->second.count < 2)
    return std::nullopt;
  const int doublings = std::min(found->second.count - 2, kMaxDoublings);
  const auto wait = std::min<std::chrono::minutes>(kFirstHold * (1 << doublings), kMaxHold);
  const Time until = Time(std::chrono::seconds(found->second.last_s)) + wait;
  // If the clock was set back, the hold does not become longer.
  if (now >= until || until - now > wait) return std::nullopt;
  return Hold{until, !std::exchange(found->second.is_reported, true)};
}

void StallRecord::forget(const fs::path& relative) {
  const std::lock_guard lock(mutex_);
  if (entries_.erase(relative.native()) == 0) return;
  try {
    write();
  } catch (const EnvironmentError&) {  // at worst, the input is held again for a while
  }
}

/// The format is: COUNT LAST SIZE MTIME INODE NAME, each record followed by a NUL byte. File names
/// never contain NUL.
void StallRecord::read() {
  if (std::exchange(is_read_, true)) return;
  const std::optional<std::string> text = io::read_small_file(file_, kMaxBytes);
  if (!text) return;
  std::istringstream file(*text);
  for (std::string record; std::getline(file, record, '\0');) {
    std::istringstream fields(record);
    Entry entry;
    fields >> entry.count >> entry.last_s >> entry.state.size >> entry.state.mtime_ns >>
        entry.state.inode;
    fields.get();
    const std::string name{std::istreambuf_iterator<char>(fields), {}};
    if (fields && !name.empty() && entries_.size() < kMaxEntries) entries_[name] = entry;
  }
}

void StallRecord::write() const {
  const fs::path temporary = file_.native() + ".new";
  std::error_code error;
  fs::remove(temporary, error);  // whatever it is or leads to
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  for (const auto& [name, entry] : entries_) {
    file << entry.count << ' ' << entry.last_s << ' ' << entry.state.size << ' '
         << entry.state.mtime_ns << ' ' << entry.state.inode << ' ' << name << '\0';
  }
  file.close();
  if (file) fs::rename(temporary, file_, error);
  if (!file || error)
    throw EnvironmentError(text::printable(file_.native()) + " cannot be written: " +
                           (error ? error.message() : "input/output error"));
}

}  // namespace eckart::app
