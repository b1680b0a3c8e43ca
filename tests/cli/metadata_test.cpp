// What belongs to a picture besides its pixels: metadata, times, the stamp; and how files are
// encoded.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "codec/exif.hpp"
#include "codec/jpeg_metadata.hpp"
#include "codec/png_chunk_reader.hpp"
#include "files/file_state.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/make_metadata.hpp"

namespace eckart::test {
namespace {

const Names kFullRankOptions{"run", "in", "-o", "out", "-k", "999", "--backend", "cpu"};

class MetadataRunTest : public CliTest {
 protected:
  static Image photograph(int channels = 3) {
    return synth::synthesize(
        {.kind = synth::SynthKind::texture, .rows = 48, .cols = 64, .channels = channels});
  }
  static Metadata photograph_metadata() {
    return {.icc = make_icc(),
            .exif = make_exif({.orientation = 6}),
            .xmp = as_bytes("<x tiff:Orientation=\"6\"/>"),
            .density = PixelDensity{11811, 5906}};
  }
  void write_picture(const fs::path& path, ImageFormat format, const Metadata& metadata,
                     const Image& pixels = photograph()) {
    const Image no_alpha;
    write(path, codec::codec_for(format).encode(PictureView(pixels, no_alpha, metadata), {}));
  }
  Picture read_picture(const fs::path& path) const {
    const auto file = io::read_file(at(path), 1024);
    return codec::detect_codec(file).decode(file, {});
  }
  std::string contents(const fs::path& path) const {
    return as_string(io::read_file(at(path), 1024));
  }
  void run_with(const std::vector<std::string>& settings, const Names& command = kFullRankOptions) {
    Names arguments = command;
    for (const std::string& setting : settings)
      arguments.insert(arguments.end(), {"--set", setting});
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
  }
};

TEST_F(MetadataRunTest, keeps_the_metadata_of_a_photograph_in_each_format) {
  for (const ImageFormat from : {ImageFormat::jpeg, ImageFormat::png}) {
    for (const ImageFormat to :
         {ImageFormat::jpeg, ImageFormat::png, ImageFormat::tiff, ImageFormat::webp}) {
      fs::remove_all(at("in"));
      fs::remove_all(at("out"));
      write_picture("in/a", from, photograph_metadata());
      fs::rename(at("in/a"), at("in/a.png"));
      run_with({"output.format=" + to_string(to)});
      const Picture output = read_picture("out/a." + std::string(codec::codec_for(to).extension));
      EXPECT_EQ(output.pixels.shape().rows, 64) << "upright";
      EXPECT_EQ(output.metadata.icc, make_icc());
      EXPECT_EQ(codec::exif_orientation(output.metadata.exif), 1);
      EXPECT_THAT(as_string(output.metadata.exif),
                  AllOf(HasSubstr("Copyright Somebody"), HasSubstr("2020:01:02 03:04:05"),
                        Not(HasSubstr("THUMBNAIL"))));
      EXPECT_EQ(as_string(output.metadata.xmp), "<x tiff:Orientation=\"1\"/>");
      EXPECT_EQ(output.metadata.density, (PixelDensity{5906, 11811})) << "turned";
    }
  }
}

/// The profile and the pixels are those of the input, so that both look the same.
TEST_F(MetadataRunTest, keeps_the_colors_of_a_photograph_with_a_profile) {
  write_picture("in/a.png", ImageFormat::png, {.icc = make_icc()});
  run_with({});
  const Picture input = read_picture("in/a.png"), output = read_picture("out/a.png");
  EXPECT_EQ(output.metadata.icc, input.metadata.icc);
  EXPECT_TRUE(same(output.pixels, input.pixels));
}

TEST_F(MetadataRunTest, keeps_only_the_profile_or_nothing_if_asked_for) {
  write_picture("in/a.jpg", ImageFormat::jpeg, photograph_metadata());
  run_with({"output.metadata=icc"});
  Metadata metadata = read_picture("out/a.png").metadata;
  EXPECT_EQ(metadata.icc, make_icc());
  EXPECT_EQ(metadata.bytes(), make_icc().size());
  EXPECT_EQ(metadata.density, std::nullopt);
  run_with({"output.metadata=none"}, {"run", "in", "-o", "none", "-k", "2", "--backend", "cpu"});
  metadata = read_picture("none/a.png").metadata;
  EXPECT_EQ(metadata.bytes(), 0U);
}

TEST_F(MetadataRunTest, leaves_out_a_profile_for_other_channels) {
  write_picture("in/gray.png", ImageFormat::png, {.icc = make_icc("RGB ")}, photograph(1));
  run_with({});
  EXPECT_THAT(read_picture("out/gray.png").metadata.icc, IsEmpty());
}

TEST_F(MetadataRunTest, names_the_file_whose_metadata_is_damaged_and_does_the_image) {
  Metadata damaged;
  damaged.exif = as_bytes("damaged");
  write_picture("in/a.png", ImageFormat::png, damaged);
  const ProcessResult result = run(kFullRankOptions);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("in/a.png: metadata dropped: eXIf chunk (not EXIF data)"));
  EXPECT_TRUE(fs::exists(at("out/a.png")));
}

std::int64_t mtime_ns(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return files::in_ns(status.st_mtim);
}

TEST_F(MetadataRunTest, keeps_the_times_of_inputs_if_asked_for) {
  write_png("in/a.png");
  constexpr timespec kTime{.tv_sec = 1600000000, .tv_nsec = 123456789};
  const timespec times[] = {kTime, kTime};
  ASSERT_EQ(::utimensat(AT_FDCWD, at("in/a.png").c_str(), times, 0), 0);
  run_with({"output.times=keep"});
  EXPECT_EQ(mtime_ns(at("out/a.png")), files::in_ns(kTime));
  const ProcessResult again = run(
      {"run", "in", "-o", "out", "-k", "999", "--set", "output.times=keep", "--backend", "cpu"});
  EXPECT_THAT(again.err, HasSubstr("1 skipped"));
  run_with({}, {"run", "in", "-o", "now", "-k", "2", "--backend", "cpu"});
  EXPECT_NE(mtime_ns(at("now/a.png")), files::in_ns(kTime));
}

TEST_F(MetadataRunTest, stamps_outputs_with_rank_and_version) {
  write_picture("in/a.png", ImageFormat::png, {});
  const Names command{"run", "in", "-o", "out", "-k", "7", "--backend", "cpu"};
  run_with({}, command);
  const std::string png = contents("out/a.png");
  EXPECT_THAT(png, HasSubstr(std::string("tEXteckart:rank\0"
                                         "7",
                                         17)));
  EXPECT_THAT(png, HasSubstr(std::string("tEXteckart:channel_ranks\0"
                                         "7,7,7",
                                         30)));
  const std::size_t thresholds = png.find("tEXteckart:sigma_threshold");
  ASSERT_NE(thresholds, std::string::npos);
  EXPECT_EQ(std::ranges::count(png.substr(thresholds, 44), ','), 2) << "one for each channel";
  EXPECT_THAT(png, HasSubstr(std::string("tEXtSoftware\0eckart ", 20)));
  run_with({"output.format=jpeg"}, command);
  EXPECT_THAT(contents("out/a.jpg"),
              AllOf(HasSubstr("Software: eckart "), HasSubstr("eckart:rank: 7\n")));
  run_with({"output.format=tiff"}, command);
  EXPECT_THAT(contents("out/a.tif"), AllOf(HasSubstr("eckart "), HasSubstr("eckart:rank: 7\n")));
  run_with({"output.stamp=false"}, {"run", "in", "-o", "bare", "-k", "7", "--backend", "cpu"});
  EXPECT_THAT(contents("bare/a.png"), Not(HasSubstr("eckart")));
}

TEST_F(MetadataRunTest, writes_the_same_bytes_again) {
  write_picture("in/a.jpg", ImageFormat::jpeg, photograph_metadata());
  run_with({"output.times=keep"});
  const std::string before = contents("out/a.png");
  fs::remove_all(at("out"));
  run_with({});
  EXPECT_EQ(contents("out/a.png"), before);
}

TEST_F(MetadataRunTest, makes_smaller_png_files_if_asked_for) {
  write_picture("in/a.png", ImageFormat::png, {});
  run_with({});
  const Image fast = decode("out/a.png");
  const auto fast_bytes = fs::file_size(at("out/a.png"));
  const ProcessResult refused =
      run({"run", "in", "-o", "out", "-k", "999", "--backend", "cpu", "--set", "output.png=small"});
  EXPECT_THAT(refused.err, HasSubstr("made with other settings (compression fast -> small)"));
  Names command = kFullRankOptions;
  command.push_back("--reprocess");
  run_with({"output.png=small"}, command);
  EXPECT_LT(fs::file_size(at("out/a.png")), fast_bytes);
  EXPECT_TRUE(same(decode("out/a.png"), fast));
}

std::optional<ChromaSubsampling> subsampling(const Picture& picture) {
  return picture.metadata.subsampling;
}

TEST_F(MetadataRunTest, keeps_the_subsampling_of_jpeg_inputs) {
  write("in/a.jpg", make_jpeg(photograph(), {.chroma_cols = 2, .chroma_rows = 2}));
  write("in/b.jpg", make_jpeg(photograph(), {.chroma_cols = 2}));
  write_picture("in/c.png", ImageFormat::png, {});
  run_with({"output.format=jpeg", "output.jpeg_progressive=true"});
  EXPECT_EQ(subsampling(read_picture("out/a.jpg")), (ChromaSubsampling{2, 2}));
  EXPECT_EQ(subsampling(read_picture("out/b.jpg")), (ChromaSubsampling{2, 1}));
  EXPECT_EQ(subsampling(read_picture("out/c.jpg")), (ChromaSubsampling{1, 1}));
  EXPECT_THAT(contents("out/a.jpg"), HasSubstr("\xFF\xC2")) << "progressive";
  run_with({"output.format=jpeg", "output.jpeg_subsampling=4:2:0", "output.jpeg_optimize=true"},
           {"run", "in", "-o", "small", "-k", "999", "--backend", "cpu"});
  EXPECT_EQ(subsampling(read_picture("small/c.jpg")), (ChromaSubsampling{2, 2}));
  EXPECT_LT(fs::file_size(at("small/c.jpg")), fs::file_size(at("out/c.jpg")));
}

}  // namespace
}  // namespace eckart::test
