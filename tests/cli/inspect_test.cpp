// eckart inspect: what an image comes to at each rank.
#include <map>

#include "tests/cli/cli_fixture.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "text/json.hpp"

namespace eckart::test {
namespace {

class InspectCliTest : public CliTest {
 protected:
  std::string content(const fs::path& file) {
    const std::vector<std::byte> bytes = io::read_file(at(file), 64);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  static Image decode_bytes(const std::vector<std::byte>& file) {
    return codec::detect_codec(file).decode(file, {}).pixels;
  }

  /// Expects that inspect tells the ranks and the quality of a run with the same options. Returns
  /// what it tells.
  text::Json expect_values_of_a_run(const std::vector<std::string>& options) {
    const std::string ranks = "5,40%,psnr:30,energy:0.99,gd:sigma=4,bytes:40%";
    std::vector<std::string> inspect{"inspect", "in/photo.png", "-k", ranks, "--json"};
    std::vector<std::string> run{"run",       "in",  "-k",       ranks, "--format", "none",
                                 "--backend", "cpu", "--report", "-",   "-q"};
    for (std::vector<std::string>* command : {&inspect, &run})
      command->insert(command->end(), options.begin(), options.end());
    const ProcessResult inspected = this->run(inspect), result = this->run(run);
    EXPECT_EQ(inspected.code, 0) << inspected.err;
    EXPECT_EQ(result.code, 0) << result.err;
    const auto inspection = text::Json::parse(inspected.out);
    EXPECT_EQ(inspection["ranks"].size(), 6U);
    expect_equal(inspection, result.out);
    return inspection;
  }

 private:
  static void expect_equal(const text::Json& inspection, const std::string& report) {
    std::map<std::string, text::Json> lines;
    std::istringstream text(report);
    for (std::string line; std::getline(text, line);) {
      const auto json = text::Json::parse(line);
      lines[json["rank_spec"]] = json;
    }
    for (const auto& rank : inspection["ranks"]) {
      const auto& line = lines[rank["rank_spec"]];
      EXPECT_EQ(rank["channel_ranks"], line["channel_ranks"]) << rank;
      for (const char* key : {"psnr_db", "psnr_before_rounding_db"})
        EXPECT_NEAR(rank[key], line[key], 0.01) << rank;
      EXPECT_NEAR(rank["ssim"], line["ssim"], 1e-4) << rank;
      EXPECT_EQ(rank["factor_bytes"], line["factor_bytes"]) << rank;
    }
  }
};

TEST_F(InspectCliTest, tells_the_ranks_and_the_quality_of_a_run) {
  write("in/photo.png", encoded("png", 96, 128, 3));
  EXPECT_EQ(expect_values_of_a_run({"--gray"})["channels"], 1);
  const auto ycbcr = expect_values_of_a_run({"--color", "ycbcr", "--chroma-rank", "4"});
  EXPECT_EQ(ycbcr["color"], "ycbcr");
  const double share = ycbcr["ranks"][5]["factor_share"], triplet = 4.0 * (96 + 128 + 1);
  EXPECT_LE(share, 0.4) << "bytes:40%";
  EXPECT_GT(share + triplet / (96 * 128 * 3), 0.4) << "with one triplet more";
  EXPECT_EQ(expect_values_of_a_run({"--color", "luma"})["singular_values"].size(), 1U);
}

TEST_F(InspectCliTest, takes_ranks_from_settings) {
  write("photo.png", encoded("png", 40, 60));
  write("ranks.yaml", "rank: [3, 5]\n");
  const ProcessResult result = run({"inspect", "photo.png", "--config", "ranks.yaml", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = text::Json::parse(result.out);
  ASSERT_EQ(json["ranks"].size(), 2U);
  EXPECT_EQ(json["ranks"][1]["rank_spec"], "5");
}

TEST_F(InspectCliTest, refuses_a_sheet_of_too_many_ranks) {
  write("photo.png", encoded("png", 120, 120));
  const ProcessResult result = run({"inspect", "photo.png", "-k", "1:101:1", "-o", "sheet.png"});
  EXPECT_EQ(result.code, int(ExitCode::usage));
  EXPECT_THAT(result.err, HasSubstr("a sheet or page shows at most 100 ranks, not 101"));
  EXPECT_FALSE(fs::exists(at("sheet.png")));
}

/// Otherwise, colors of a wide gamut would look pale.
TEST_F(InspectCliTest, shows_pictures_with_the_color_profile_of_the_file) {
  const Image image = decode_bytes(encoded("png", 40, 60, 3));
  write("photo.png", codec::codec_for(OutputFormat::png)
                         .encode(PictureView(image, Image(), {.icc = make_icc()}), {}));
  const ProcessResult result =
      run({"inspect", "photo.png", "-k", "3", "-o", "sheet.png", "--html", "page.html"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<std::byte> sheet = io::read_file(at("sheet.png"), 64);
  EXPECT_EQ(codec::detect_codec(sheet).decode(sheet, {}).metadata.icc, make_icc());
  const std::string icc_segment = "SUNDX1BST0ZJTEUA";  // "ICC_PROFILE" and a zero in base64
  EXPECT_EQ(count_occurrences(content("page.html"), icc_segment), 2) << "original and rank 3";
}

TEST_F(InspectCliTest, writes_a_sheet_and_a_page_and_replaces_nothing) {
  write("photo.jpg", encoded("jpeg", 60, 90, 3));
  const std::string photo = content("photo.jpg");
  const ProcessResult first =
      run({"inspect", "photo.jpg", "-o", "out/sheet.png", "--html", "out/page.html"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("JPEG, 90 x 60 pixels (width x height), 3 channels"),
                               HasSubstr("\nenergy:0.99 "), HasSubstr("Break-even rank: 8."),
                               HasSubstr("JPEG compression has removed most")));
  const Image sheet = decode("out/sheet.png");
  EXPECT_GT(sheet.shape().rows, 2 * 240);
  EXPECT_THAT(content("out/page.html"), AllOf(HasSubstr("<title>photo.jpg</title>"),
                                              HasSubstr("src='data:image/jpeg;base64,/9j/")));

  const ProcessResult again = run({"inspect", "photo.jpg", "-o", "out/sheet.png"});
  EXPECT_EQ(again.code, int(ExitCode::cannot_create));
  EXPECT_THAT(again.err, HasSubstr("-o out/sheet.png exists: use another name, or --overwrite"));
  const ProcessResult input = run({"inspect", "photo.jpg", "-o", "./photo.jpg", "--overwrite"});
  EXPECT_EQ(input.code, int(ExitCode::usage));
  EXPECT_THAT(input.err, HasSubstr("would overwrite the input"));
  EXPECT_EQ(content("photo.jpg"), photo);
  EXPECT_THAT(files("out"), ElementsAre("page.html", "sheet.png"));
}

TEST_F(InspectCliTest, names_a_file_that_cannot_be_inspected) {
  write("text.png", "text");
  const ProcessResult text_file = run({"inspect", "text.png", "-o", "out/sheet.png"});
  EXPECT_EQ(text_file.code, int(ExitCode::nothing_readable));
  EXPECT_THAT(text_file.err, HasSubstr("text.png: unknown file format"));
  fs::create_symlink("loop.png", at("loop.png"));
  EXPECT_EQ(run({"inspect", "loop.png"}).code, int(ExitCode::nothing_readable));
  EXPECT_THAT(run({"inspect", "."}).err, HasSubstr(".: is a folder; eckart measure tells of all"));
  write("photo.jpg", encoded("jpeg", 60, 90, 3));
  if (!kIsSanitized) {  // no limit leaves the address space that sanitizers take
    const ProcessResult small =
        run({"inspect", "photo.jpg"}, {.folder = {}, .in = {}, .address_space_mb = 400});
    EXPECT_EQ(small.code, int(ExitCode::temporary)) << "OpenBLAS would retry forever";
    EXPECT_THAT(small.err, AnyOf(HasSubstr("not enough address space: OpenBLAS needs 384 MiB"),
                                 HasSubstr("photo.jpg: out of memory")));
  }
  const ProcessResult sheet = run({"inspect", "text.png", "-o", "sheet.bmp"});
  EXPECT_EQ(sheet.code, int(ExitCode::usage));
  EXPECT_THAT(sheet.err, HasSubstr("-o sheet.bmp: the name must end with .png"));
  EXPECT_THAT(files("out"), IsEmpty());
}

}  // namespace
}  // namespace eckart::test
