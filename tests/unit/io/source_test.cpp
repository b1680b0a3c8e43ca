#include "io/source.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/error.hpp"
#include "io/parent_links.hpp"
#include "tests/support/no_free_descriptors.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/waiting_thread.hpp"
#include "text/unread_files_text.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using testing::ElementsAre;
using testing::IsEmpty;

class SourceTest : public testing::Test {
 protected:
  fs::path at(const fs::path& name) const { return folder_.path() / name; }

  fs::path make(const fs::path& name) const {
    fs::create_directories(at(name).parent_path());
    std::ofstream(at(name)) << "x";
    return at(name);
  }

  fs::path make_list(const std::string& lines) const {
    std::ofstream(at("list")) << lines;
    return at("list");
  }
  std::unique_ptr<Source> list_of(const std::string& lines) const {
    return make_list_source(make_list(lines), at("out"));
  }

  const TempFolder folder_;
};

/// Changes the working folder of the process while it exists.
class ScopedWorkingFolder {
 public:
  explicit ScopedWorkingFolder(const fs::path& folder) : before_(fs::current_path()) {
    fs::current_path(folder);
  }
  ScopedWorkingFolder(const ScopedWorkingFolder&) = delete;
  ScopedWorkingFolder& operator=(const ScopedWorkingFolder&) = delete;
  ~ScopedWorkingFolder() { fs::current_path(before_); }

 private:
  const fs::path before_;
};

/// Returns the relative paths; a failed item is "path!reason".
std::vector<std::string> all_of(Source& source) {
  std::vector<std::string> paths;
  while (const std::optional<SourceItem> item = source.next({})) {
    std::string path = item->relative.string();
    if (item->outcome.ok()) {
      EXPECT_TRUE(fs::exists(fs::symlink_status(item->file))) << item->file;
    } else {
      EXPECT_EQ(item->outcome.stage, Stage::source);
      EXPECT_NE(item->outcome.detail, "");
      path += "!" + std::string(to_string(item->outcome.reason));
    }
    paths.push_back(path);
  }
  EXPECT_FALSE(source.next({})) << "next() has no item after the end";
  return paths;
}

std::vector<std::string> all_of(const std::unique_ptr<Source>& source) { return all_of(*source); }

TEST_F(SourceTest, lists_folder_by_folder_in_name_order) {
  for (const char* name : {"b.png", "a.jpg", "B.png", "z/2.png", "z/1.png", "a/deep/er/x.jpeg",
                           "a/y.png", "n10.png", "n9.png"}) {
    make(name);
  }
  EXPECT_THAT(all_of(make_source(folder_.path())),
              ElementsAre("B.png", "a.jpg", "b.png", "n10.png", "n9.png", "a/y.png",
                          "a/deep/er/x.jpeg", "z/1.png", "z/2.png"));
}

TEST_F(SourceTest, yields_the_rest_of_a_folder_at_once) {
  for (const char* name : {"a.png", "b.png", "c.png", "d.png", "e/f.png"}) make(name);
  const auto paths_of = [](const std::vector<SourceItem>& group) {
    std::vector<std::string> paths;
    for (const SourceItem& item : group) paths.push_back(item.relative.string());
    return paths;
  };
  std::vector<std::unique_ptr<Source>> inputs;
  inputs.push_back(make_source(folder_.path()));
  inputs.push_back(make_source(folder_.path() / "a.png"));
  const auto source = chain_sources(std::move(inputs));
  EXPECT_THAT(paths_of(source->next_group({}, 3)), ElementsAre("a.png", "b.png", "c.png"));
  EXPECT_THAT(paths_of(source->next_group({}, 3)), ElementsAre("d.png"));
  EXPECT_THAT(paths_of(source->next_group({}, 3)), ElementsAre("e/f.png"));
  EXPECT_THAT(paths_of(source->next_group({}, 3)), ElementsAre("a.png"));
  EXPECT_TRUE(source->next_group({}, 3).empty());
}

TEST_F(SourceTest, skips_and_counts_other_files) {
  for (const char* name :
       {"a.png", "notes.txt", "b.png~", ".hidden.png", "d/c.png.part", ".git/x.png"}) {
    make(name);
  }
  const auto source = make_source(folder_.path());
  EXPECT_THAT(all_of(source), ElementsAre("a.png"));
  EXPECT_EQ(source->ignored_count(), 5);
  EXPECT_EQ(text::unread_files_text(source->unread_files().by_extension()),
            "1 file not read: 1 .txt");
  EXPECT_THAT(source->unread_examples(), ElementsAre(folder_.path() / "notes.txt"));
}

TEST_F(SourceTest, names_at_most_a_hundred_files_that_are_not_read) {
  for (int i = 0; i < 150; ++i) make(std::to_string(i % 2) + "/" + std::to_string(i) + ".txt");
  std::vector<std::unique_ptr<Source>> sources;
  for (const char* name : {"0", "1"}) sources.push_back(make_source(folder_.path() / name));
  const auto source = chain_sources(std::move(sources));
  EXPECT_THAT(all_of(source), ElementsAre());
  EXPECT_EQ(source->unread_examples().size(), 100U);
}

TEST_F(SourceTest, counts_the_files_of_ended_and_of_current_sources) {
  for (const char* folder : {"a/", "b/"}) {
    for (const char* name : {"1.png", "no.txt", "old/2.png", "old/.eckart/ledger.db"})
      make(folder + std::string(name));
  }
  std::vector<std::unique_ptr<Source>> sources;
  for (const char* name : {"a", "b"}) sources.push_back(make_source(at(name)));
  const auto source = chain_sources(std::move(sources));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(source->next({}));
  EXPECT_EQ(source->ignored_count(), 2);
  EXPECT_EQ(source->unread_files().total(), 1);
  EXPECT_THAT(source->unread_examples(), ElementsAre(at("a/no.txt")));
  EXPECT_THAT(source->output_folders(), ElementsAre(at("a/old")));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(source->next({}));
  EXPECT_FALSE(source->next({}));
  EXPECT_EQ(source->ignored_count(), 4);
  EXPECT_EQ(source->unread_files().total(), 2);
  EXPECT_THAT(source->unread_examples(), ElementsAre(at("a/no.txt"), at("b/no.txt")));
  EXPECT_THAT(source->output_folders(), ElementsAre(at("a/old"), at("b/old")));
}

TEST_F(SourceTest, names_output_folders_below_its_folder) {
  for (const char* name : {"a.png", ".eckart/ledger.db", "old/a.png", "old/.eckart/ledger.db"})
    make(name);
  const auto source = chain_sources([&] {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(make_source(folder_.path()));
    return sources;
  }());
  EXPECT_THAT(all_of(source), ElementsAre("a.png", "old/a.png"));
  EXPECT_THAT(source->output_folders(), ElementsAre(at("old")));
}

TEST_F(SourceTest, returns_nothing_for_an_empty_folder) {
  EXPECT_THAT(all_of(make_source(folder_.path())), IsEmpty());
}

/// The folder is not the cause.
TEST_F(SourceTest, throws_if_no_file_descriptors_are_left) {
  if (test::kHasAddressSanitizer) GTEST_SKIP() << "UBSan opens descriptors to check types";
  make("a.png");
  const auto source = make_source(folder_.path());
  const test::NoFreeDescriptors none;
  EXPECT_THROW(source->next({}), EnvironmentError);
}

TEST_F(SourceTest, treats_names_as_bytes) {
  make("new\nline.png");
  make("\xFF\xFE.png");
  make(std::string(251, 'x') + ".png");
  EXPECT_THAT(all_of(make_source(folder_.path())),
              ElementsAre("new\nline.png", std::string(251, 'x') + ".png", "\xFF\xFE.png"));
}

TEST_F(SourceTest, follows_links_to_files_but_not_to_folders) {
  make("real/a.png");
  fs::create_symlink("real/a.png", at("link.png"));
  fs::create_symlink("real", at("folder"));
  fs::create_symlink("..", at("real/up"));
  fs::create_symlink("real", at("folder.png"));
  fs::create_symlink("gone", at("dangling.png"));
  EXPECT_THAT(all_of(make_source(folder_.path())),
              ElementsAre("dangling.png", "link.png", "real/a.png"));
}

/// Another program may do this while `eckart status` counts the pending files of a watched folder.
TEST_F(SourceTest, does_not_list_a_folder_replaced_by_a_link) {
  make("in/a.png");
  make("in/b/mine.png");
  make("elsewhere/theirs.png");
  const auto source = make_source(at("in"));
  EXPECT_EQ(source->next({})->relative, "a.png");
  fs::rename(at("in/b"), at("b"));
  fs::create_directory_symlink(at("elsewhere"), at("in/b"));
  EXPECT_THAT(all_of(source), ElementsAre("b!not found"));
}

/// A mount may lead there. The other folders are listed.
TEST_F(SourceTest, does_not_list_an_own_folder) {
  make("in/a.png");
  make("in/b/c.png");
  make("in/out/d.png");
  fs::create_directory_symlink(at("in/out"), at("another_path"));
  EXPECT_THAT(all_of(make_source(at("in"), OwnFolders({"", at("none"), at("another_path")}))),
              ElementsAre("a.png", "b/c.png", "out!output collision"));
}

TEST_F(SourceTest, finds_the_files_of_a_list_whose_paths_have_dots_after_a_link) {
  make("real/in/a.png");
  make("in/a.png");
  fs::create_directory(at("real/sub"));
  fs::create_directory_symlink(at("real/sub"), at("link"));
  std::ofstream(at("list")) << at("link/../in/a.png").native() << '\n'
                            << at("in/../in/a.png").native() << '\n';
  const auto source = make_list_source(at("list"), at("out"));
  EXPECT_EQ(source->next({})->file, fs::canonical(at("real/in/a.png")));
  EXPECT_EQ(source->next({})->file, at("in/../in/a.png")) << "the text leads there";
  EXPECT_EQ(resolve_parent_links(at("link/../new/b")), fs::canonical(at("real")) / "new" / "b")
      << "it need not exist";
}

TEST_F(SourceTest, lists_a_folder_named_like_an_image) {
  make("a.png/b.png");
  EXPECT_THAT(all_of(make_source(folder_.path())), ElementsAre("a.png/b.png"));
}

TEST_F(SourceTest, tells_the_folders_beside_a_file) {
  make("in/a.png");
  make("in/b.png/c.png");
  make("in/.hidden/d.png");
  fs::create_directory_symlink("b.png", at("in/link"));
  const auto source = make_source(at("in"));
  EXPECT_THAT(*source->next({})->sibling_folders, ElementsAre(".hidden", "b.png", "link"));
  EXPECT_THAT(*source->next({})->sibling_folders, IsEmpty());
  EXPECT_EQ(make_source(at("in/a.png"))->next({})->sibling_folders, nullptr) << "not known";
}

TEST_F(SourceTest, lists_folders_lazily) {
  make("a/1.png");
  make("b/1.png");
  make("c/1.png");
  const auto source = make_source(folder_.path());
  EXPECT_EQ(source->next({})->relative, "a/1.png");
  fs::remove_all(at("b"));
  make("c/2.png");
  EXPECT_THAT(all_of(source), ElementsAre("b!not found", "c/1.png", "c/2.png"));
}

/// Runs as a user without permission to read everything while it exists.
class ScopedUnprivileged {
 public:
  ScopedUnprivileged() : is_unprivileged_(::geteuid() != 0 || ::seteuid(65534) == 0) {}
  ScopedUnprivileged(const ScopedUnprivileged&) = delete;
  ScopedUnprivileged& operator=(const ScopedUnprivileged&) = delete;
  ~ScopedUnprivileged() { (void)!::seteuid(::getuid()); }
  bool worked() const { return is_unprivileged_; }

 private:
  bool is_unprivileged_;
};

TEST_F(SourceTest, returns_one_failed_item_for_an_unreadable_folder) {
  make("a/1.png");
  make("b/1.png");
  make("c/1.png");
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(at("b").c_str(), 0), 0);
  {
    const ScopedUnprivileged user;
    if (!user.worked())
      GTEST_SKIP() << "root may read everything, and cannot switch to user nobody";
    EXPECT_THAT(all_of(make_source(folder_.path())),
                ElementsAre("a/1.png", "b!unreadable", "c/1.png"));
    EXPECT_THAT(all_of(make_source(at("b/1.png"))), ElementsAre("1.png!unreadable"));
  }
  ASSERT_EQ(::chmod(at("b").c_str(), 0700), 0);
}

TEST_F(SourceTest, returns_a_failed_item_for_a_folder_that_cannot_be_read_to_its_end) {
  make("a/1.png");
  test::readdir_error = EIO;
  const auto items = all_of(make_source(folder_.path()));
  test::readdir_error = 0;
  EXPECT_THAT(items, testing::UnorderedElementsAre("a/1.png", "a!unreadable", "!unreadable"));
}

TEST_F(SourceTest, accepts_a_folder_a_file_and_a_missing_path) {
  make("d/a.png");
  EXPECT_THAT(all_of(make_source(at("d"))), ElementsAre("a.png"));
  EXPECT_THAT(all_of(make_source(at("d/"))), ElementsAre("a.png"));
  EXPECT_THAT(all_of(make_source(at("d/a.png"))), ElementsAre("a.png"));
  EXPECT_THAT(all_of(make_source(make("odd name"))), ElementsAre("odd name"));
  EXPECT_THAT(all_of(make_source(at("gone.png"))), ElementsAre("gone.png!not found"));
  EXPECT_THAT(all_of(make_source(at("d/a.png/x"))), ElementsAre("x!not found"));
  fs::create_symlink("loop", at("loop"));
  EXPECT_THAT(all_of(make_source(at("loop"))), ElementsAre("loop!unreadable"));
}

TEST_F(SourceTest, reads_files_and_folders_from_a_list_and_skips_empty_lines) {
  make("d/a.png");
  make("d/no.txt");
  make("e.dat");
  const std::string prefix = at("").relative_path();
  const auto source =
      list_of(at("d").string() + "\n\n" + at("e.dat").string() + "\n" + at("gone").string());
  EXPECT_THAT(all_of(source),
              ElementsAre(prefix + "d/a.png", prefix + "e.dat", prefix + "gone!not found"));
  EXPECT_EQ(source->ignored_count(), 1);
}

TEST_F(SourceTest, reads_names_with_newlines_from_a_list_with_null_bytes) {
  make("a\nb.png");
  make("c.png\r");
  const ScopedWorkingFolder here(folder_.path());
  const std::string list("a\nb.png\0\0c.png\r", 15);
  EXPECT_THAT(all_of(make_list_source(make_list(list), at("out"), '\0')),
              ElementsAre("a\nb.png", "c.png\r"));
}

TEST_F(SourceTest, fails_for_an_unreadable_list) {
  EXPECT_THROW(make_list_source(folder_.path(), at("out")), FatalError);
  EXPECT_THROW(make_list_source(at("gone"), at("out")), FatalError);
}

TEST_F(SourceTest, derives_the_output_path_from_the_line) {
  make("d/a.png");
  make("a.png");
  const ScopedWorkingFolder here(at("d"));
  EXPECT_THAT(all_of(list_of("a.png\n../d/./a.png\n../a.png\n../d/\n")),
              ElementsAre("a.png", "d/a.png", "a.png", "d/a.png"));
}

TEST_F(SourceTest, rejects_a_listed_folder_that_contains_the_output) {
  make("d/a.png");
  make("e/a.png");
  const ScopedWorkingFolder here(folder_.path());
  EXPECT_THAT(all_of(make_list_source(make_list("d\ne\n."), "d/sub/out")),
              ElementsAre("d!output collision", "e/a.png", "!output collision"));
}

TEST_F(SourceTest, reads_a_list_in_chunks_of_any_size) {
  make("a.png");
  const ScopedWorkingFolder here(folder_.path());
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += "./a.png\n";
  EXPECT_EQ(all_of(list_of(lines)).size(), 20000u);
}

TEST_F(SourceTest, rejects_a_non_list_before_reading_all_of_it) {
  for (const char byte : {'\0', 'x'}) {
    const auto source = list_of(std::string(300000, byte));
    try {
      source->next({});
      FAIL();
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
  }
}

TEST_F(SourceTest, stops_waiting_for_a_list) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const int writer_descriptor =
      ::open(at("pipe").c_str(), O_RDWR);  // keeps the pipe open without writing
  const auto source = make_list_source(at("pipe"), at("out"));
  std::stop_source stop;
  test::WaitingThread waiting([&] { EXPECT_FALSE(source->next(stop.get_token())); });
  ASSERT_TRUE(waiting.wait_until_asleep());
  stop.request_stop();
  waiting.join();
  ::close(writer_descriptor);
}

TEST_F(SourceTest, stops_listing_a_folder) {
  make("a/1.png");
  make("b/1.png");
  const auto source = make_source(folder_.path());
  std::stop_source stop;
  EXPECT_TRUE(source->next(stop.get_token()));
  stop.request_stop();
  EXPECT_FALSE(source->next(stop.get_token()));
}

TEST_F(SourceTest, chains_sources_in_order) {
  make("x/b.png");
  make("x/no.txt");
  make("y/a.png");
  make("y/no.txt");
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(make_source(at("x")));
  sources.push_back(make_source(at("gone")));
  sources.push_back(make_source(at("y")));
  const auto source = chain_sources(std::move(sources));
  EXPECT_THAT(all_of(source), ElementsAre("b.png", "gone!not found", "a.png"));
  EXPECT_EQ(source->ignored_count(), 2);
  EXPECT_THAT(all_of(chain_sources({})), IsEmpty());
}

}  // namespace
}  // namespace eckart::io
