#include "io/archive_source.hpp"

#include <map>
#include <string>
#include <utility>

#include "codec/codec.hpp"
#include "core/error.hpp"
#include "io/open_archive.hpp"
#include "text/printable.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Returns the part before the last slash; empty if there is none.
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == path.npos ? 0 : slash);
}

bool is_hidden(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != path.npos;
}

/// The names of folders in each folder of an archive.
std::map<std::string, FolderNames, std::less<>> folder_names_of(const tar::Archive& archive) {
  std::map<std::string, std::set<std::string>, std::less<>> names;
  std::string_view previous;
  for (const tar::Member& member : archive.members()) {
    std::string_view folder = folder_of(member.name);
    if (member.is_unsafe || (!names.empty() && folder == previous)) continue;
    previous = folder;
    names.try_emplace(std::string(folder));
    for (; !folder.empty(); folder = folder_of(folder)) {
      const bool is_new =
          names[std::string(folder_of(folder))].emplace(file_name_of(folder)).second;
      if (!is_new) break;
    }
  }
  std::map<std::string, FolderNames, std::less<>> shared;
  for (auto& [folder, in_folder] : names)
    shared.emplace(folder, std::make_shared<const std::set<std::string>>(std::move(in_folder)));
  return shared;
}

class ArchiveSource : public Source {
 public:
  ArchiveSource(fs::path archive, fs::path output_prefix)
      : path_(std::move(archive)), output_prefix_(std::move(output_prefix)) {}

  std::optional<SourceItem> next(const std::stop_token& stop) override {
    if (!is_listed_) {
      is_listed_ = true;
      try {
        archive_ = open_archive(path_, stop);
        folder_names_ = folder_names_of(archive_->archive);
      } catch (const ItemError& error) {
        return archive_item(Outcome::failed(Stage::source, error.reason(), error.what()));
      }
    }
    while (archive_ && !stop.stop_requested()) {
      if (next_ == archive_->archive.members().size()) return end();
      const tar::Member& member = archive_->archive.members()[next_++];
      if (is_image(member)) return item_of(member);
    }
    return std::nullopt;
  }

  std::vector<SourceItem> next_group(const std::stop_token& stop, std::size_t max) override {
    return next_up_to(stop, max);
  }

  std::int64_t ignored_count() const override { return ignored_; }
  UnreadFiles unread_files() const override { return unread_files_; }
  std::vector<fs::path> unread_examples() const override { return unread_examples_; }

 private:
  /// Counts the member if it is not.
  bool is_image(const tar::Member& member) {
    const std::string_view name = file_name_of(member.name);
    const bool is_hidden_member = !member.is_unsafe && is_hidden(member.name);
    if (!is_hidden_member && codec::is_image_file_name(name)) return true;
    ++ignored_;
    if (!is_hidden_member && unread_files_.add(std::string(name)) &&
        unread_examples_.size() < kMaxUnreadExamples)
      unread_examples_.push_back(path_ / (member.is_unsafe ? std::string(name) : member.name));
    return false;
  }

  SourceItem item_of(const tar::Member& member) const {
    if (member.is_unsafe)  // its name must not be used as a path
      return archive_item(Outcome::failed(
          Stage::source, FailureReason::unreadable,
          "the member " + text::printable(member.name) + " cannot be read: " + member.problem));
    SourceItem item{path_ / member.name, output_prefix_ / member.name, {}};
    if (!member.problem.empty())
      item.outcome = Outcome::failed(Stage::source, FailureReason::unreadable, member.problem);
    const auto names = folder_names_.find(folder_of(member.name));
    if (names != folder_names_.end()) item.sibling_folders = names->second;
    return item;
  }

  SourceItem archive_item(Outcome outcome) const {
    return {path_, output_prefix_.empty() ? path_.filename() : output_prefix_, std::move(outcome)};
  }

  std::optional<SourceItem> end() {
    const std::string damage = archive_->archive.damage();
    archive_ = nullptr;
    if (damage.empty()) return std::nullopt;
    return archive_item(
        Outcome::failed(Stage::source, FailureReason::unreadable,
                        "the archive is damaged or truncated after its member number " +
                            std::to_string(next_) + ": " + damage));
  }

  const fs::path path_, output_prefix_;
  bool is_listed_ = false;
  ArchivePtr archive_;    // null: not listed yet, cannot be read, or at its end
  std::size_t next_ = 0;  // index of the next member
  std::map<std::string, FolderNames, std::less<>> folder_names_;
  std::int64_t ignored_ = 0;
  UnreadFiles unread_files_;
  std::vector<fs::path> unread_examples_;
};

}  // namespace

bool is_input_file_name(std::string_view name) {
  return codec::is_image_file_name(name) || (!name.starts_with('.') && tar::is_archive_name(name));
}

std::unique_ptr<Source> make_archive_source(const fs::path& archive,
                                            const fs::path& output_prefix) {
  return std::make_unique<ArchiveSource>(archive, output_prefix);
}

}  // namespace eckart::io
