// Links to folders, which are followed only if enabled.
#include "tests/unit/io/watch/inotify_tree_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class ArrivalByLinkTest : public InotifyTreeTest {};

TEST_F(ArrivalByLinkTest, is_not_reported_through_a_link_to_a_folder_unless_requested) {
  fs::create_directory(outside_ / "d");
  std::ofstream(outside_ / "d/a.png") << "x";
  fs::create_directory_symlink(outside_ / "d", at("link"));
  watch();
  fs::create_directory_symlink(outside_ / "d", at("later"));
  EXPECT_THAT(arrivals(), IsEmpty());
  EXPECT_EQ(tree_->watch_count(), 1u);
  watch(files::LinkPolicy::files);
  EXPECT_THAT(full_scan(), testing::Each(testing::StartsWith("cookie")));
  EXPECT_EQ(tree_->watch_count(), 1u);
}

TEST_F(ArrivalByLinkTest, is_reported_through_a_link_to_a_folder_if_requested) {
  fs::create_directory(outside_ / "d");
  fs::create_directory_symlink(outside_ / "d", at("link"));
  watch(files::LinkPolicy::all);
  std::ofstream(outside_ / "d/a.png") << "x";
  EXPECT_THAT(arrivals(), ElementsAre("link/a.png"));
  fs::create_directory(outside_ / "e");
  std::ofstream(outside_ / "e/b.png") << "x";
  fs::create_directory_symlink(outside_ / "e", at("later"));
  EXPECT_THAT(arrivals(), testing::IsSupersetOf({"later/b.png"}));
  std::ofstream(outside_ / "e/c.png") << "x";
  EXPECT_THAT(arrivals(), ElementsAre("later/c.png"));
  fs::remove(at("later"));
  std::ofstream(outside_ / "e/d.png") << "x";
  EXPECT_THAT(arrivals(), IsEmpty());
}

TEST_F(ArrivalByLinkTest, is_reported_through_a_link_that_leads_to_another_folder_now) {
  fs::create_directory(outside_ / "d");
  fs::create_directory(outside_ / "e");
  std::ofstream(outside_ / "e/a.png") << "x";
  fs::create_directory_symlink(outside_ / "d", at("link"));
  watch(files::LinkPolicy::all);
  fs::create_directory_symlink(outside_ / "e", at(".new"));
  move(".new", "link");
  EXPECT_THAT(arrivals(), testing::Contains("link/a.png"));
  std::ofstream(outside_ / "d/no.png") << "x";
  std::ofstream(outside_ / "e/b.png") << "x";
  EXPECT_THAT(arrivals(), ElementsAre("link/b.png"));
}

TEST_F(ArrivalByLinkTest, is_reported_once_in_a_cycle_of_links) {
  make("d/e");
  write("d/e/a.png");
  fs::create_directory_symlink("..", at("d/e/up"));
  fs::create_directory_symlink(root_, at("self"));
  fs::create_directory_symlink("d/e", at("again"));
  fs::create_directory_symlink(folder_.path(), at("above"));
  std::ofstream(outside_ / "b.png") << "x";
  watch(files::LinkPolicy::all);
  EXPECT_THAT(full_scan(), ElementsAre("above/outside/b.png", "d/e/a.png"));
  write("d/e/c.png");
  EXPECT_THAT(arrivals(), ElementsAre("d/e/c.png"));
}

TEST_F(ArrivalByLinkTest, is_not_reported_through_a_link_into_an_excluded_folder) {
  make("out/deep");
  write("out/deep/a.png");
  fs::create_directory_symlink("out/deep", at("link"));
  watch(files::LinkPolicy::all, {"out"});
  EXPECT_THAT(full_scan(), IsEmpty());
}

}  // namespace
}  // namespace eckart::io
