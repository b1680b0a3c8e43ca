#include "reports/image_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "reports/report_format.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::reports {
namespace {

using ::testing::UnorderedElementsAre;

/// The same for JSON lines and CSV.
class ImageReportTest : public ::testing::TestWithParam<const char*> {
 protected:
  /// Adds records to the report in a run of their own.
  template <class AddRecords>
  void report(const AddRecords& add_records) {
    ImageReport report(file());
    add_records(report);
    report.close();
  }
  void measure(const std::string& input, const std::vector<std::string>& ranks,
               const std::string& color = "channels", const std::string& output = "") {
    report([&](ImageReport& to) {
      for (const std::string& rank : ranks)
        to.add(input, output.empty() ? "" : output + "/k" + rank + ".png",
               {.color = color, .rank_spec = rank});
    });
  }
  void fail(const std::string& input) {
    report([&](ImageReport& to) {
      to.add_failure(input, FailureReason::corrupt, Stage::load, "bad");
    });
  }
  std::vector<text::Json> json_records() const {
    ReportReader reader(report_format_of(file()));
    std::vector<text::Json> records;
    std::ifstream stream(file());
    for (std::string line; std::getline(stream, line);) {
      if (const auto record = reader.add_line(line)) records.push_back(record->json);
    }
    return records;
  }
  /// Kind, name of the input, rank and color of each record.
  std::vector<std::string> records() const {
    std::vector<std::string> texts;
    for (const text::Json& record : json_records()) {
      const std::filesystem::path input = record["input"].get<std::string>();
      std::string text = record["kind"].get<std::string>() + ' ' + input.filename().native() + ' ';
      for (const char* key : {"rank_spec", "color"})
        if (record.contains(key)) text += record[key].get<std::string>() + ' ';
      texts.push_back(text.substr(0, text.size() - 1));
    }
    return texts;
  }

  std::filesystem::path file() const { return folder_.path() / GetParam(); }

 private:
  const test::TempFolder folder_;
};

TEST_P(ImageReportTest, keeps_measurements_of_other_ranks_colors_and_runs) {
  measure("a.png", {"5", "10"});
  measure("a.png", {"20"});
  measure("a.png", {"20"}, "luma");
  measure("a.png", {"7"}, "channels", "out");
  EXPECT_THAT(records(), UnorderedElementsAre("output a.png 5 channels", "output a.png 10 channels",
                                              "output a.png 20 channels", "output a.png 20 luma",
                                              "output a.png 7 channels"));
}

TEST_P(ImageReportTest, replaces_a_measurement_that_is_repeated) {
  measure("a.png", {"5", "10"});
  measure("b.png", {"5"});
  measure("a.png", {"5"});
  EXPECT_THAT(records(), UnorderedElementsAre("output a.png 5 channels", "output a.png 10 channels",
                                              "output b.png 5 channels"));
}

/// As some editors leave a file.
TEST_P(ImageReportTest, keeps_a_record_whose_line_lost_its_newline) {
  measure("a.png", {"5", "10"});
  std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 1);
  measure("b.png", {"5"});
  EXPECT_THAT(records(), UnorderedElementsAre("output a.png 5 channels", "output a.png 10 channels",
                                              "output b.png 5 channels"));
}

TEST_P(ImageReportTest, drops_a_failure_when_its_input_is_measured) {
  fail("a.png");
  fail("b.png");
  measure("a.png", {"5"});
  EXPECT_THAT(records(), UnorderedElementsAre("failure b.png", "output a.png 5 channels"));
}

TEST_P(ImageReportTest, keeps_measurements_of_an_input_that_fails_later) {
  measure("a.png", {"5"});
  fail("a.png");
  fail("a.png");
  EXPECT_THAT(records(), UnorderedElementsAre("output a.png 5 channels", "failure a.png"));
}

TEST_P(ImageReportTest, tells_of_a_failure_its_input_and_reason_and_no_figures) {
  fail("/in/a, b.jpg");
  const text::Json expected{{"kind", "failure"},       {"schema", kReportSchema},
                            {"input", "/in/a, b.jpg"}, {"result", "failed"},
                            {"reason", "corrupt"},     {"stage", "load"},
                            {"detail", "bad"}};
  EXPECT_THAT(json_records(), ::testing::ElementsAre(expected));
}

/// So that reports of `eckart run` and `eckart status` can be joined.
TEST_P(ImageReportTest, tells_the_absolute_path_of_each_input) {
  const std::string folder = std::filesystem::current_path();
  measure("x/../a.png", {"5"});
  fail("./b.png");
  report([](ImageReport& to) { to.add_recorded("/in/c.png", "out/c.png", ItemResult::done, ""); });
  std::vector<std::string> inputs;
  for (const text::Json& record : json_records()) inputs.push_back(record["input"]);
  EXPECT_THAT(inputs, UnorderedElementsAre(folder + "/a.png", folder + "/b.png", "/in/c.png"));
}

INSTANTIATE_TEST_SUITE_P(Formats, ImageReportTest, ::testing::Values("r.jsonl", "r.csv"),
                         [](const auto& format) { return std::string(format.param).substr(2); });

/// Earlier versions did not record from which folder.
TEST(ImageReportOfEarlierVersions, replaces_a_relative_output_of_the_same_input_only) {
  const test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "report.jsonl";
  const auto line = [](const std::string& input) {
    return R"({"kind":"output","schema":1,"input":")" + input +
           R"(","output":"out/a.png","result":"done"})" + "\n";
  };
  std::ofstream(file) << line("/x/a.png") << line("/y/a.png");
  ImageReport report(file);
  report.add("/y/a.png", "out/a.png", {});
  report.close();
  std::ifstream stream(file);
  std::vector<std::string> inputs;
  for (std::string text; std::getline(stream, text);) {
    const auto json = text::Json::parse(text);
    inputs.push_back(json.at("input"));
    const std::filesystem::path output = json.at("output").get<std::string>();
    EXPECT_EQ(output.is_absolute(), inputs.back() == "/y/a.png") << output;
  }
  EXPECT_THAT(inputs, UnorderedElementsAre("/x/a.png", "/y/a.png"));
}

/// Older versions recorded fewer measurements, or none.
TEST(RecordedOutput, has_null_for_what_was_not_recorded) {
  const test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "report.jsonl";
  ImageReport report(file);
  report.add_recorded("/a.png", "/out/a.png", ItemResult::skipped, R"({"rank":5})");
  report.add_recorded("/b.png", "/out/b.png", ItemResult::skipped, "");
  report.close();
  std::ifstream stream(file);
  std::string first, second;
  std::getline(stream, first);
  std::getline(stream, second);
  const auto known = text::Json::parse(first), unknown = text::Json::parse(second);
  EXPECT_EQ(known.at("rank"), 5);
  EXPECT_EQ(known.at("result"), "skipped");
  EXPECT_TRUE(known.at("psnr_db").is_null());
  EXPECT_TRUE(known.at("rows").is_null());
  EXPECT_TRUE(unknown.at("rank").is_null());
}

TEST(IncompleteReport, tells_the_error_and_how_to_complete_it) {
  const test::TempFolder folder;
  const auto error_of_report = [](const std::filesystem::path& file, const auto& spoil) {
    ImageReport report(file);
    spoil();
    report.add("/a.png", "/out/a.png", {});
    try {
      report.close();
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::io_error);
      return std::string(error.what());
    }
    return std::string();
  };
  const std::filesystem::path file = folder.path() / "r.jsonl",
                              part = folder.path() / "r.jsonl.part";
  EXPECT_EQ(error_of_report(file, [&] { std::filesystem::remove(part); }),
            "report " + file.string() +
                " is incomplete: No such file or directory. To complete it, run the same command "
                "again");
  EXPECT_EQ(error_of_report("/dev/full", [] {}),
            "report /dev/full is incomplete: No space left on device");
}

}  // namespace
}  // namespace eckart::reports
