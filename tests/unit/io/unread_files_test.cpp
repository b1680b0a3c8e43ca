#include "io/unread_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "text/unread_files_text.hpp"

namespace eckart::io {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

UnreadFiles count(std::initializer_list<const char*> names) {
  UnreadFiles files;
  for (const char* name : names) files.add(name);
  return files;
}

TEST(UnreadFiles, counts_by_extension_the_most_frequent_first) {
  const UnreadFiles files = count({"a.dng", "b.DNG", "c.heic", "README", "d.", "x.tar.gz"});
  EXPECT_THAT(files.by_extension(), ElementsAre(Pair(".dng", 2), Pair("no extension", 2),
                                                Pair(".gz", 1), Pair(".heic", 1)));
  EXPECT_EQ(files.total(), 6);
  EXPECT_EQ(text::unread_files_text(files.by_extension()),
            "6 files not read: 2 .dng, 2 no extension, 1 .gz, 1 .heic");
}

TEST(UnreadFiles, excludes_images_and_hidden_and_temporary_files) {
  EXPECT_THAT(
      count({"a.png", "b.JPG", ".hidden.dng", "c.png.part", "d.tmp", "e.dng~", "f.jpg.crdownload"})
          .by_extension(),
      IsEmpty());
}

TEST(UnreadFiles, lists_ten_extensions_and_the_rest_as_other) {
  UnreadFiles files = count({"a.dng", "b.dng"});
  for (int i = 0; i < 100000; ++i) files.add("scan." + std::to_string(i));
  EXPECT_EQ(files.by_extension().size(), 11U);
  EXPECT_THAT(files.by_extension().front(), Pair(".dng", 2));
  EXPECT_THAT(files.by_extension().back(), Pair("other", 100000 - 9));
  EXPECT_EQ(files.total(), 100002);
}

TEST(UnreadFiles, makes_extensions_printable_and_short) {
  EXPECT_THAT(count({"a.\x1b[2J\n", "b.a very long extension"}).by_extension(),
              ElementsAre(Pair(".\\x1b[2j\\n", 1), Pair("other", 1)));
}

TEST(UnreadFiles, has_limits_of_extensions) {
  EXPECT_THAT(count({"a.fifteen_letters", "b.sixteen_letters_"}).by_extension(),
              ElementsAre(Pair(".fifteen_letters", 1), Pair("other", 1)));
  UnreadFiles files;
  for (int i = 0; i < 200; ++i) files.add("scan." + std::to_string(i));
  files.add("scan.0");
  for (int i = 0; i < 200; ++i) files.remove("scan." + std::to_string(i));
  EXPECT_EQ(files.total(), 1) << "what was counted as other is removed as other";
}

TEST(UnreadFiles, can_be_removed_and_compared) {
  const UnreadFiles before = count({"a.dng", "b.dng", "c.heic"});
  UnreadFiles after = before;
  after.remove("a.dng");
  after.remove("c.HEIC");
  after.remove("never.seen");
  EXPECT_THAT(after.by_extension(), ElementsAre(Pair(".dng", 1)));
  after.add(count({"c.heic", "d.heic"}));
  EXPECT_EQ(after.count_new_since(before), 1);
}

}  // namespace
}  // namespace eckart::io
