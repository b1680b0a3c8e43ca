// The exported functions of libeckart_contact_sheet.so, which is loaded when a contact sheet is to
// be drawn: to load OpenCV takes half as long as to start the program. src/codec/contact_sheet.cpp
// loads it.
#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "build_id/build_id.hpp"
#include "build_id/module_export.hpp"
#include "codec/contact_sheet.hpp"
#include "codec/opencv_mat.hpp"

namespace eckart::codec {
namespace {

// Lengths in pixels.
constexpr int kMargin = 24, kGap = 20, kImageGap = 8, kCaptionHeight = 24, kTitleHeight = 46;
constexpr int kMinCellWidth = 210;  // of the longest caption

const cv::Scalar kBackground(255, 255, 255), kTextColor(31, 27, 24), kDetailColor(112, 100, 91);

struct TextStyle {
  int font = cv::FONT_HERSHEY_DUPLEX;
  double scale = 0.5;
  cv::Scalar color = kTextColor;
};
const TextStyle kTitleStyle{.scale = 0.72}, kHeadingStyle{},
    kDetailStyle{.font = cv::FONT_HERSHEY_SIMPLEX, .scale = 0.46, .color = kDetailColor};

std::string in_ascii(const std::string& text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // continues a character of UTF-8
    ascii += byte < 0x80 ? c : '?';
  }
  return ascii;
}

void draw_text(cv::Mat& sheet, const std::string& text, cv::Point baseline,
               const TextStyle& style) {
  cv::putText(sheet, in_ascii(text), baseline, style.font, style.scale, style.color, 1,
              cv::LINE_AA);
}

void draw_image(cv::Mat& sheet, const Image& image, cv::Point at) {
  const cv::Mat from = as_mat(image);
  cv::Mat to = sheet(cv::Rect(at, from.size()));
  if (from.channels() == 1) {
    cv::cvtColor(from, to, cv::COLOR_GRAY2RGB);
  } else {
    from.copyTo(to);
  }
}

/// The places of all cells.
class SheetLayout {
 public:
  SheetLayout(std::size_t lines, const std::vector<SheetCell>& cells)
      : image_(as_mat(*cells[0].image).size()),
        top_(kMargin + kTitleHeight + int(lines) * kCaptionHeight) {
    const bool has_residuals =
        std::ranges::any_of(cells, [](const SheetCell& cell) { return cell.residual != nullptr; });
    cell_.width = std::max(image_.width, kMinCellWidth) + kGap;
    cell_.height = 2 * kCaptionHeight + image_.height + kGap;
    if (has_residuals) cell_.height += kImageGap + image_.height + kCaptionHeight;
    constexpr double kAspect = 1.6;  // of the sheet, about
    const int count = int(cells.size());
    columns_ = std::clamp(int(std::lround(std::sqrt(kAspect * count * cell_.height / cell_.width))),
                          1, count);
    rows_ = (count + columns_ - 1) / columns_;
    columns_ = (count + rows_ - 1) / rows_;
  }

  cv::Size sheet() const {
    return {2 * kMargin + columns_ * cell_.width - kGap,
            kMargin + top_ + rows_ * cell_.height - kGap};
  }
  cv::Point cell(int index) const {
    return {kMargin + index % columns_ * cell_.width, top_ + index / columns_ * cell_.height};
  }
  int image_height() const { return image_.height; }

 private:
  cv::Size image_, cell_;
  int top_;  // of the cells
  int columns_ = 1, rows_ = 1;
};

void draw_cell(cv::Mat& sheet, const SheetCell& cell, cv::Point at, int image_height) {
  constexpr int kBaseline = 16;
  const auto below = [&](int y) { return at + cv::Point(0, y); };
  draw_text(sheet, cell.heading, below(kBaseline), kHeadingStyle);
  draw_text(sheet, cell.detail, below(kCaptionHeight + kBaseline - 3), kDetailStyle);
  int y = 2 * kCaptionHeight;
  draw_image(sheet, *cell.image, below(y));
  if (!cell.residual) return;
  y += image_height + kImageGap;
  draw_image(sheet, *cell.residual, below(y));
  draw_text(sheet, cell.residual_caption, below(y + image_height + kBaseline), kDetailStyle);
}

Image fit(const Image& image, int min_side, int max_side) {
  ImageShape shape = image.shape();
  const int side = std::max(shape.rows, shape.cols);
  double factor = std::min(1.0, double(max_side) / side);
  if (side < min_side) factor = std::ceil(double(min_side) / side);
  shape.rows = std::max(1, int(std::lround(factor * shape.rows)));
  shape.cols = std::max(1, int(std::lround(factor * shape.cols)));
  Image fitted(shape);
  cv::Mat to = as_mat(fitted);
  cv::resize(as_mat(image), to, to.size(), 0, 0, factor > 1 ? cv::INTER_NEAREST : cv::INTER_AREA);
  return fitted;
}

Image draw(const std::string& title, const std::vector<std::string>& lines,
           const std::vector<SheetCell>& cells) {
  const SheetLayout layout(lines.size(), cells);
  Image sheet({layout.sheet().height, layout.sheet().width, 3, Depth::u8});
  cv::Mat canvas = as_mat(sheet);
  canvas.setTo(kBackground);
  draw_text(canvas, title, {kMargin, kMargin + 18}, kTitleStyle);
  for (std::size_t i = 0; i < lines.size(); ++i)
    draw_text(canvas, lines[i], {kMargin, kMargin + kTitleHeight + int(i) * kCaptionHeight},
              kDetailStyle);
  for (std::size_t i = 0; i < cells.size(); ++i)
    draw_cell(canvas, cells[i], layout.cell(int(i)), layout.image_height());
  return sheet;
}

}  // namespace
}  // namespace eckart::codec

ECKART_MODULE_EXPORT const char* eckart_contact_sheet_build_id() { return eckart::build_id(); }

ECKART_MODULE_EXPORT void eckart_contact_sheet_fit(const eckart::Image& image, int min_side,
                                                   int max_side, eckart::Image& fitted) {
  fitted = eckart::codec::fit(image, min_side, max_side);
}

ECKART_MODULE_EXPORT void eckart_contact_sheet_draw(
    const std::string& title, const std::vector<std::string>& lines,
    const std::vector<eckart::codec::SheetCell>& cells, eckart::Image& sheet) {
  sheet = eckart::codec::draw(title, lines, cells);
}
