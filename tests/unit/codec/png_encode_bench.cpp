// Measures the encoder of PNG against cv::imencode(): CPU time of one thread, both by turns, and
// bytes. Arguments: folders of images of 8 bits. Prints JSON.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <opencv2/core/version.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "codec/deadline.hpp"
#include "codec/opencv_mat.hpp"
#include "tests/unit/codec/bench_files.hpp"

namespace {

using namespace eckart;
using namespace eckart::codec;

constexpr int kPasses = 15;

/// The shortest pass of one encoder over all images.
struct Measured {
  double ms = std::numeric_limits<double>::infinity();  ///< of an image, in the mean
  double bytes = 0;                                     ///< as well

  /// `encode` gets the index of an image and returns the bytes of its file.
  template <class Encode>
  void measure_pass(std::size_t images, const Encode& encode) {
    const std::int64_t begin = Deadline::thread_time_ns();
    std::size_t sum = 0;
    for (std::size_t i = 0; i < images; ++i) sum += encode(i);
    const auto count = double(images);
    ms = std::min(ms, double(Deadline::thread_time_ns() - begin) / 1e6 / count);
    bytes = double(sum) / count;
  }
};

/// The order of OpenCV.
cv::Mat as_bgr(const Image& image) {
  const cv::Mat pixels = as_mat(image);
  cv::Mat bgr;
  if (pixels.channels() == 1) return pixels;
  cv::cvtColor(pixels, bgr, cv::COLOR_RGB2BGR);
  return bgr;
}

nlohmann::json measure(const std::string& folder) {
  const Codec& png = codec_for(ImageFormat::png);
  std::vector<Image> images;
  std::vector<cv::Mat> bgr;  // may refer to `images`
  for (const File& file : read_image_files(folder))
    images.push_back(detect_codec(file).decode(file, {}).pixels);
  for (const Image& image : images) bgr.push_back(as_bgr(image));
  const auto encode = [&](PngCompression compression) {
    return [&, compression](std::size_t i) {
      return png.encode(images[i], {.png = compression}).size();
    };
  };
  Measured fast, small, opencv;
  for (int pass = 0; pass < kPasses; ++pass) {
    fast.measure_pass(images.size(), encode(PngCompression::fast));
    opencv.measure_pass(images.size(), [&](std::size_t i) {
      std::vector<std::uint8_t> encoded;
      if (!cv::imencode(".png", bgr[i], encoded)) std::abort();
      return encoded.size();
    });
  }
  small.measure_pass(images.size(), encode(PngCompression::small));
  return {{"files", images.size()},
          {"fast_ms", fast.ms},
          {"small_ms", small.ms},
          {"opencv_ms", opencv.ms},
          {"fast_bytes", fast.bytes},
          {"small_bytes", small.bytes},
          {"opencv_bytes", opencv.bytes},
          {"times_opencv", opencv.ms / fast.ms},
          {"bytes_of_opencv", fast.bytes / opencv.bytes}};
}

}  // namespace

int main(int argc, char** argv) {
  nlohmann::json results = {{"opencv", CV_VERSION}, {"folders", nlohmann::json::array()}};
  for (int i = 1; i < argc; ++i) results["folders"].push_back(measure(argv[i]));
  std::puts(results.dump(1).c_str());
  return argc > 1 ? 0 : 64;
}
