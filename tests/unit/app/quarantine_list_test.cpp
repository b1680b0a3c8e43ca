#include "app/quarantine_list.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "io/quarantine.hpp"
#include "io/quarantine_record.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/make_rooted_file.hpp"

namespace eckart::app {
namespace {

TEST(QuarantineList, has_kept_inputs_but_not_as_quarantined_ones) {
  const test::TempFolder folder;
  const std::filesystem::path out = folder.path() / "out", in = folder.path() / "in";
  std::filesystem::create_directory(in);
  const auto record_of = [&](const char* name) {
    std::ofstream(in / name) << "bad";
    io::QuarantineRecord record;
    record.input = in / name;
    record.root = in;
    return to_json(record, "1");
  };
  io::Quarantine quarantine(out, {});
  quarantine.add_kept_record("kept.png", record_of("kept.png"));
  const std::string record = record_of("moved.png");
  io::ClaimedFile file = std::move(*io::claim(io::make_rooted_file(in, "moved.png")));
  quarantine.add(file, "moved.png", record);
  EXPECT_EQ(list_quarantine(io::quarantine_folder(out)).size(), 2U);
  EXPECT_THAT(quarantined_inputs(out), testing::ElementsAre((in / "moved.png").native()));
}

}  // namespace
}  // namespace eckart::app
