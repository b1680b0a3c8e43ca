#include "settings/choices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "core/image_format.hpp"
#include "core/solver_costs.hpp"
#include "core/solver_kind.hpp"
#include "files/link_policy.hpp"
#include "settings/key_table.hpp"
#include "settings/value_types.hpp"

namespace eckart::settings {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <class Enum>
class ChoiceTest : public testing::Test {};

using AllChoices = testing::Types<BackendChoice, SolverKind, Certificate, OutputFormat, FactorType,
                                  Decoder, MeasureChoice, Durability, LedgerIdentity,
                                  DoneInputAction, OnChange, OutputTimes, JpegSubsampling,
                                  PngCompression, MetadataPolicy, files::LinkPolicy, CostBackend>;
TYPED_TEST_SUITE(ChoiceTest, AllChoices);

TYPED_TEST(ChoiceTest, reads_every_value_that_it_prints) {
  const Choice<TypeParam> choice;
  std::set<std::string> names;
  for (const TypeParam value : enum_values<TypeParam>()) {
    const std::string name = choice.print(value);
    EXPECT_TRUE(names.insert(name).second) << name << " is the name of two values";
    TypeParam read = value == TypeParam{} ? enum_values<TypeParam>().back() : TypeParam{};
    choice.read(name, read);
    EXPECT_EQ(read, value) << name;
  }
}

/// Values are counted from 0 without gaps. A value that is missing in the table has no name.
TYPED_TEST(ChoiceTest, has_a_name_for_every_value) {
  const std::size_t count = enum_values<TypeParam>().size();
  EXPECT_GE(count, 2U);
  for (std::size_t i = 0; i < count; ++i) EXPECT_NE(to_string(TypeParam(i)), "?") << i;
}

TYPED_TEST(ChoiceTest, lists_all_values_for_an_unknown_value) {
  const Choice<TypeParam> choice;
  TypeParam value{};
  try {
    choice.read("else", value);
    FAIL() << "no value has that name";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), StartsWith("'else' is not one of "));
    for (const TypeParam each : enum_values<TypeParam>())
      EXPECT_THAT(error.what(), HasSubstr(to_string(each)));
  }
  EXPECT_EQ(value, TypeParam{}) << "it was changed";
}

/// Users and files contain these names, so they must not change.
TEST(Choice, has_the_documented_names) {
  EXPECT_EQ(list_names<BackendChoice>(), "auto, cuda, cpu, checked");
  EXPECT_EQ(list_names<SolverKind>(), "auto, gram, subspace, gesvd, gesvdj");
  EXPECT_EQ(list_names<Certificate>(), "estimate, bound");
  EXPECT_EQ(list_names<OutputFormat>(), "png, jpeg, tiff, webp, pnm, none");
  EXPECT_EQ(parse_enum<OutputFormat>("jpg"), OutputFormat::jpeg);
  EXPECT_EQ(list_names<ImageFormat>(), "png, jpeg, tiff, webp, pnm, bmp, dicom, npz");
  EXPECT_EQ(list_names<AlphaPolicy>(), "keep, white, fail");
  EXPECT_EQ(list_names<FactorType>(), "none, float32, float16");
  EXPECT_EQ(list_names<Decoder>(), "strict, opencv");
  EXPECT_EQ(list_names<Normalization>(), "none, minmax");
  EXPECT_EQ(list_names<Durability>(), "group, file, none");
  EXPECT_EQ(list_names<LedgerIdentity>(), "mtime, content");
  EXPECT_EQ(list_names<DoneInputAction>(), "keep, move, delete");
  EXPECT_EQ(list_names<OnChange>(), "keep, reprocess");
  EXPECT_EQ(list_names<files::LinkPolicy>(), "none, files, all");
}

/// Whatever enum a key has, which may be one that is not in the list of this file.
TEST(Choice, is_read_and_printed_for_every_key) {
  int keys = 0;
  for (const SettingKey<Settings>& key : settings_table()) {
    if (!key.expected.starts_with("one of ")) continue;
    ++keys;
    std::istringstream names(key.expected.substr(7));
    for (std::string name; std::getline(names >> std::ws, name, ',');) {
      Settings settings;
      key.read(settings, {name});
      EXPECT_EQ(key.print(settings), name) << key.path;
    }
  }
  EXPECT_GE(keys, 7);
}

TEST(FileChoice, is_auto_none_or_a_file) {
  const AutoNoneOrFile type;
  for (const FileChoice& choice : {FileChoice{}, FileChoice::none(), FileChoice::at("none.yaml")}) {
    FileChoice read = FileChoice::at("another");
    std::string text = type.print(choice);
    if (text.starts_with('"')) text = text.substr(1, text.size() - 2);
    type.read(text, read);
    EXPECT_EQ(read, choice) << text;
  }
  EXPECT_TRUE(FileChoice{}.is_auto());
  EXPECT_TRUE(FileChoice::none().is_none());
  EXPECT_FALSE(FileChoice::at("a").is_auto() || FileChoice::at("a").is_none());
  FileChoice choice;
  EXPECT_THROW(type.read("", choice), std::invalid_argument);
}

}  // namespace
}  // namespace eckart::settings
