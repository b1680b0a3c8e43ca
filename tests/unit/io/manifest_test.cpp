#include "io/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

ManifestEntry image(const std::string& relative, std::int64_t bytes = 10000) {
  return {"/in/" + relative, relative, bytes};
}

std::vector<std::string> names_of(std::span<const ManifestEntry> entries) {
  std::vector<std::string> names;
  for (const ManifestEntry& entry : entries) names.push_back(entry.relative);
  return names;
}

std::string text_of_file(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The entries of all shards as a source yields them.
std::vector<std::vector<std::string>> read_shards(const fs::path& file) {
  const Manifest manifest = read_manifest(file);
  std::vector<std::vector<std::string>> shards;
  for (std::size_t i = 0; i < manifest.shards.size(); ++i) {
    const std::unique_ptr<Source> source = make_shard_source(file, manifest, i);
    shards.emplace_back();
    for (auto items = source->next_group({}, 3); !items.empty();
         items = source->next_group({}, 3)) {
      for (const SourceItem& item : items)
        shards.back().push_back(item.file.native() + " " + item.relative.native());
    }
  }
  return shards;
}

TEST(ShardSplit, gives_all_shards_about_the_same_bytes) {
  std::vector<ManifestEntry> entries;
  for (int i = 0; i < 1000; ++i)
    entries.push_back(image(std::to_string(1000 + i) + ".png", 5000 + (i * 7919) % 40000));
  const std::vector<std::size_t> ends = split_into_shards(entries, {.count = 8});
  ASSERT_EQ(ends.size(), 8U);
  ASSERT_EQ(ends.back(), 1000U);
  std::int64_t all = 0;
  for (const ManifestEntry& entry : entries) all += entry.bytes;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    std::int64_t bytes = 0;
    for (; begin < end; ++begin) bytes += entries[begin].bytes;
    EXPECT_NEAR(double(bytes), double(all) / 8, 45000);
  }
}

TEST(ShardSplit, keeps_inputs_together_whose_outputs_may_have_one_name) {
  std::vector<ManifestEntry> entries{image("a/x.jpg"),
                                     image("b/y.jpg"),
                                     image("a/x.y.png"),
                                     image("a/X.PNG"),
                                     image("a/z"),
                                     image("b/y.tif"),
                                     {"/other/b/y.jpg", "b/y.jpg", 1}};
  const std::vector<std::size_t> ends = split_into_shards(entries, {.count = 4});
  EXPECT_THAT(names_of(entries), ElementsAre("a/x.jpg", "a/X.PNG", "b/y.jpg", "b/y.tif", "b/y.jpg",
                                             "a/x.y.png", "a/z"));
  EXPECT_EQ(entries[4].input, "/other/b/y.jpg") << "the order of the inputs";
  EXPECT_THAT(ends, ElementsAre(2, 5, 6, 7));
}

TEST(ShardSplit, makes_as_many_shards_as_the_images_need) {
  const auto shards = [](int images, std::int64_t max_images) {
    std::vector<ManifestEntry> entries;
    for (int i = 0; i < images; ++i) entries.push_back(image(std::to_string(1000 + i) + ".png"));
    return split_into_shards(entries, {.max_images = max_images});
  };
  EXPECT_THAT(shards(10, 5), ElementsAre(5, 10));
  EXPECT_THAT(shards(11, 5), ElementsAre(4, 7, 11));
  EXPECT_THAT(shards(4, 5), ElementsAre(4));
  std::vector<ManifestEntry> unequal;
  for (int i = 0; i < 100; ++i)
    unequal.push_back(image(std::to_string(1000 + i) + ".png", i < 10 ? 1'000'000 : 1));
  std::size_t begin = 0;
  for (const std::size_t end : split_into_shards(unequal, {.max_images = 20})) {
    EXPECT_LE(end - begin, 20U);
    begin = end;
  }
  EXPECT_THAT(shards(0, 5), ElementsAre());
}

TEST(ShardSplit, fills_each_shard_even_if_one_image_has_almost_all_bytes) {
  for (const std::size_t large : {0, 1, 2}) {
    std::vector<ManifestEntry> entries{image("a.png"), image("b.png"), image("c.png")};
    entries[large].bytes = std::int64_t(1) << 40;
    EXPECT_THAT(split_into_shards(entries, {.count = 3}), ElementsAre(1, 2, 3));
  }
  std::vector<ManifestEntry> empty_files{image("a.png", 0), image("b.png", 0), image("c.png", 0)};
  EXPECT_THAT(split_into_shards(empty_files, {.count = 3}), ElementsAre(1, 2, 3));
}

TEST(ShardSplit, refuses_more_shards_than_images) {
  std::vector<ManifestEntry> entries{image("a.png"), image("a.jpg")};
  try {
    split_into_shards(entries, {.count = 2});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "2 shards of 2 images: each needs at least one");
  }
}

TEST(Manifest, has_each_image_in_one_shard) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "scans.manifest";
  const std::vector<ManifestEntry> entries{image("a.png", 3), image("b \n\"\xff.png", 4),
                                           image("c/ü.png", 5)};
  const std::vector<std::size_t> ends{1, 3};
  const Manifest written = write_manifest(file, {"/in", "/\xfe"}, entries, ends);
  const Manifest manifest = read_manifest(file);
  EXPECT_EQ(manifest.id, written.id);
  EXPECT_EQ(manifest.images(), 3);
  EXPECT_THAT(manifest.inputs, ElementsAre("/in", "/\xfe"));
  ASSERT_EQ(manifest.shards.size(), 2U);
  EXPECT_EQ(manifest.shards[1].images, 2);
  EXPECT_EQ(manifest.shards[1].image_bytes, 9);
  EXPECT_THAT(read_shards(file),
              ElementsAre(ElementsAre("/in/a.png a.png"),
                          ElementsAre("/in/b \n\"\xff.png b \n\"\xff.png", "/in/c/ü.png c/ü.png")));
}

/// So that a restarted shard finds what it did before.
TEST(Manifest, has_the_same_id_for_the_same_shards) {
  const test::TempFolder folder;
  const auto id = [&](std::vector<ManifestEntry> entries, std::vector<std::size_t> ends) {
    return write_manifest(folder.path() / "m", {"/in"}, entries, ends).id;
  };
  const std::string first = id({image("a.png"), image("b.png")}, {2});
  EXPECT_EQ(id({image("a.png"), image("b.png")}, {2}), first);
  EXPECT_NE(id({image("a.png"), image("b.png")}, {1, 2}), first);
  EXPECT_NE(id({image("a.png"), image("c.png")}, {2}), first);
}

TEST(Manifest, does_not_replace_another_file) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "precious.txt";
  std::ofstream(file) << "precious\n";
  try {
    write_manifest(file, {}, {}, {});
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("precious.txt: not a manifest of eckart shard"));
  }
  EXPECT_EQ(text_of_file(file), "precious\n");
}

TEST(Manifest, is_refused_if_damaged) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "m";
  const std::vector<ManifestEntry> entries{image("a.png"), image("b.png")};
  const std::vector<std::size_t> ends{1, 2};
  write_manifest(file, {"/in"}, entries, ends);
  const std::string good = text_of_file(file);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  struct Case {
    std::string text, message;
  };
  const Case cases[] = {
      {"", "not a manifest"},
      {"{}\n", "not a manifest"},
      {"[1]\n", "not a manifest"},
      {"{\n", "not a manifest"},
      {replaced("\"id\":\"", "\"id\":[\""), "not a manifest"},
      {replaced("\"id\"", "\"ID\""), "line 1 is not one of a manifest"},
      {good.substr(0, 20), "not a manifest"},
      {good.substr(0, good.size() - 1), "bytes instead of"},
      {good + "\n", "bytes instead of"},
      {replaced("\"eckart_manifest\":1", "\"eckart_manifest\":2"), "has version 2"},
      {replaced("\"images\":1", "\"images\":0"), "shard 1 is damaged"},
      {replaced("\"images\":1", "\"images\":2"), "shard 1 is damaged or incomplete"},
      {replaced("\"offset\":0", "\"offset\":9"), "shard 1 is damaged"},
      {replaced("\"/in/b.png\"", "\"xin/b.png\""), "line 3: input: not an absolute path"},
      {replaced("\"relative\":\"b.png\"", "\"relative\":\"../ab\""), "line 3: relative"},
      {replaced("\"relative\":\"b.png\"", "\"relative\":\"./b.p\""), "line 3: relative"},
      {replaced("\"relative\":\"b.png\"", "\"relative\":\"b.pn/\""), "line 3: relative"},
      {replaced("/a.png\",\"relative\":\"a.png\"", "/a.pn\",\"relative\":\"\\u0000\""),
       "line 2: relative"},
      {replaced("\"relative\":\"b.png\"", "\"relative\":[12345]"), "line 3 is not one of"},
  };
  for (const Case& damaged : cases) {
    std::ofstream(file) << damaged.text;
    try {
      read_shards(file);
      FAIL() << damaged.text;
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::nothing_readable);
      EXPECT_THAT(error.what(), HasSubstr(damaged.message));
      EXPECT_THAT(error.what(), HasSubstr(file.native()));
    }
  }
  fs::remove(file);
  EXPECT_THROW(read_manifest(file), FatalError);
}

TEST(Manifest, stops_when_asked) {
  const test::TempFolder folder;
  const std::vector<ManifestEntry> entries{image("a.png")};
  const std::vector<std::size_t> ends{1};
  const Manifest manifest = write_manifest(folder.path() / "m", {"/in"}, entries, ends);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(make_shard_source(folder.path() / "m", manifest, 0)->next(stop.get_token()));
}

TEST(ShardName, has_a_manifest_an_index_and_a_count) {
  const ShardName name = parse_shard_name("/a:b/c.manifest:3/8");
  EXPECT_EQ(name.manifest, "/a:b/c.manifest");
  EXPECT_EQ(name.index, 3);
  EXPECT_EQ(name.count, 8);
  for (const char* wrong : {"", "m", "m:", "m:1", "m:0/8", "m:9/8", "m:1/", "m:/8", ":1/8",
                            "m:1/8x", "m:-1/8", "m:1.5/8", "/a/b", "m:1/99999999999999999999"})
    EXPECT_THROW(parse_shard_name(wrong), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace eckart::io
