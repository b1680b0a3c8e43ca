#include "io/source.hpp"

#include <algorithm>
#include <functional>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/codec.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

Arrival failed_arrival(const fs::path& file, const fs::path& relative, const std::error_code& why) {
  if (why == std::errc::no_such_file_or_directory || why == std::errc::not_a_directory) {
    return {file, relative,
            Outcome::failed(Stage::source, Reason::not_found, "no such file or folder")};
  }
  return {file, relative,
          Outcome::failed(Stage::source, Reason::unreadable, "cannot be read: " + why.message())};
}

/// The name a path ends with, also when it ends with a slash.
fs::path last_name(const fs::path& path) {
  return path.has_filename() ? path.filename() : path.parent_path().filename();
}

/// Gives one arrival.
class SingleSource : public Source {
 public:
  explicit SingleSource(Arrival arrival) : arrival_(std::move(arrival)) {}
  std::optional<Arrival> next() override { return std::exchange(arrival_, std::nullopt); }

 private:
  std::optional<Arrival> arrival_;
};

/// Holds the names of one folder, and of the folders still to be listed.
class FolderSource : public Source {
 public:
  explicit FolderSource(fs::path root) : root_(std::move(root)) { pending_.emplace_back(); }

  std::optional<Arrival> next() override {
    for (;;) {
      if (!names_.empty()) {
        const fs::path relative = folder_ / names_.back();
        names_.pop_back();
        return Arrival{root_ / relative, relative, {}};
      }
      if (pending_.empty()) return std::nullopt;
      folder_ = std::move(pending_.back());
      pending_.pop_back();
      if (const std::error_code error = list(folder_)) {
        return failed_arrival(place_of(folder_), folder_, error);
      }
    }
  }

  std::int64_t ignored() const override { return ignored_; }

 private:
  fs::path place_of(const fs::path& folder) const {
    return folder.empty() ? root_ : root_ / folder;
  }

  /// Fills names_ and pending_, the next one last. After an error they hold what came before it.
  std::error_code list(const fs::path& folder) {
    std::error_code error;
    std::vector<std::string> subfolders;
    fs::directory_iterator entry(place_of(folder), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      sort_in(*entry, subfolders);
    }
    std::sort(names_.begin(), names_.end(), std::greater<>());
    std::sort(subfolders.begin(), subfolders.end(), std::greater<>());
    for (const std::string& name : subfolders) pending_.push_back(folder / name);
    return error;
  }

  /// Whatever is no folder and is named like an image is worth an arrival: reading it says what is
  /// wrong with a broken link or a FIFO.
  void sort_in(const fs::directory_entry& entry, std::vector<std::string>& subfolders) {
    std::string name = entry.path().filename().native();
    std::error_code unknown;
    if (entry.is_directory(unknown)) {
      if (name.starts_with('.')) {
        ++ignored_;
      } else if (!entry.is_symlink(unknown)) {
        subfolders.push_back(std::move(name));
      }
    } else if (looks_like_image(name)) {
      names_.push_back(std::move(name));
    } else {
      ++ignored_;
    }
  }

  const fs::path root_;
  fs::path folder_;                 // the one that names_ belong to, below root_
  std::vector<std::string> names_;  // descending: the next one is last
  std::vector<fs::path> pending_;   // below root_; the next one is last
  std::int64_t ignored_ = 0;
};

/// One source after the other; `more` gives them, and nullptr at the end.
class ChainSource : public Source {
 public:
  explicit ChainSource(std::function<std::unique_ptr<Source>()> more) : more_(std::move(more)) {}

  std::optional<Arrival> next() override {
    for (;;) {
      if (!current_ && !(current_ = more_())) return std::nullopt;
      if (std::optional<Arrival> arrival = current_->next()) return arrival;
      ignored_ += current_->ignored();
      current_.reset();
    }
  }

  std::int64_t ignored() const override { return ignored_ + (current_ ? current_->ignored() : 0); }

 private:
  const std::function<std::unique_ptr<Source>()> more_;
  std::unique_ptr<Source> current_;
  std::int64_t ignored_ = 0;  // of the sources that are through
};

std::unique_ptr<Source> source_of_next_line(std::istream& in) {
  std::string line;
  while (std::getline(in, line)) {
    if (line.find('\0') != std::string::npos) {
      throw FatalError(
          ExitCode::usage,
          "the list of inputs has a null byte: give one path a line (find without -print0)");
    }
    if (line.ends_with('\r')) line.pop_back();  // a list from another system
    if (!line.empty()) return make_source(line);
  }
  if (in.bad())
    throw FatalError(ExitCode::no_input, "the list of inputs cannot be read to its end");
  return nullptr;
}

}  // namespace

std::unique_ptr<Source> make_folder_source(const fs::path& folder) {
  return std::make_unique<FolderSource>(folder);
}

std::unique_ptr<Source> make_file_source(const fs::path& file) {
  return std::make_unique<SingleSource>(Arrival{file, last_name(file), {}});
}

std::unique_ptr<Source> make_list_source(std::istream& in) {
  return std::make_unique<ChainSource>([&in] { return source_of_next_line(in); });
}

std::unique_ptr<Source> make_source(const fs::path& input) {
  std::error_code error;
  const fs::file_status status = fs::status(input, error);
  if (fs::is_directory(status)) return make_folder_source(input);
  if (fs::exists(status)) return make_file_source(input);
  return std::make_unique<SingleSource>(failed_arrival(input, last_name(input), error));
}

std::unique_ptr<Source> chain(std::vector<std::unique_ptr<Source>> sources) {
  auto rest = std::make_shared<std::vector<std::unique_ptr<Source>>>(std::move(sources));
  return std::make_unique<ChainSource>([rest, i = std::size_t(0)]() mutable {
    return i < rest->size() ? std::move((*rest)[i++]) : nullptr;
  });
}

}  // namespace eckart::io
