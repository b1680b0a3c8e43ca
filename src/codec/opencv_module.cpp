// The exported functions of libeckart_opencv.so, which is loaded when OpenCV is to decode a file.
// The libraries that cv::imdecode links, more than a hundred, take longer to load than a small run
// takes. src/codec/opencv_decoder.cpp loads it.
#include <opencv2/imgcodecs.hpp>

#include "build_id/build_id.hpp"

#define ECKART_EXPORT extern "C" __attribute__((visibility("default")))

ECKART_EXPORT const char* eckart_opencv_build_id() { return eckart::build_id(); }

/// `decoded` is empty if OpenCV cannot decode the file. Throws cv::Exception.
ECKART_EXPORT void eckart_opencv_decode(const cv::Mat& file, cv::Mat& decoded) {
  decoded = cv::imdecode(file, cv::IMREAD_UNCHANGED);
}
