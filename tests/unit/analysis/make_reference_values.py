#!/usr/bin/python3
"""Prints reference_values.hpp: SSIM, PSNR and other figures of small images, as scikit-image computes them.

With --check FILE, compares the text with the file instead. Ends with 77 if scikit-image (Debian: python3-skimage) is missing."""
import sys

try:
    import numpy as np
    from skimage.metrics import normalized_root_mse, peak_signal_noise_ratio, structural_similarity
except ImportError:
    sys.exit(77)

# rows, cols, channels, bits, largest value, amplitude of the error, peak (0: the range of the first image)
CASES = [(7, 7, 1, 8, 255, 9, 255), (24, 31, 1, 8, 255, 40, 255), (20, 17, 3, 8, 255, 120, 255), (64, 48, 3, 8, 255, 3, 0),
         (33, 12, 1, 16, 65535, 9000, 65535), (19, 23, 3, 16, 65535, 300, 65535), (40, 40, 1, 16, 4095, 100, 4095),
         (40, 40, 1, 16, 4095, 100, 65535), (9, 60, 1, 16, 4095, 2000, 0)]

HEADER = """#pragma once

// Written by make_reference_values.py with scikit-image.

namespace eckart::test {

struct ReferenceValues {
  int rows, cols, channels, bits, max_value, amplitude;
  double peak, ssim, psnr_db, relative_error, max_error;
};

constexpr ReferenceValues kReferenceValues[] = {
"""
FOOTER = """};

}  // namespace eckart::test
"""


def images(rows, cols, channels, bits, max_value, amplitude):
    """The images of reference_images() in analysis_test.cpp."""
    r, c, channel = np.indices((rows, cols, channels), dtype=np.int64)
    a = (r * r * 3 + c * 5 * (max_value // 255) + channel * 40 + r * c) % (max_value + 1)
    noise = (r * r * 17 + c * c * 29 + r * c * 13 + channel * 7) % (2 * amplitude + 1) - amplitude
    dtype = np.uint8 if bits == 8 else np.uint16
    return a.astype(dtype), np.clip(a + noise, 0, max_value).astype(dtype)


def text():
    lines = []
    for rows, cols, channels, bits, max_value, amplitude, peak in CASES:
        a, b = images(rows, cols, channels, bits, max_value, amplitude)
        peak = peak or int(a.max()) - int(a.min())
        ssim = structural_similarity(a, b, data_range=peak, channel_axis=-1)
        psnr = peak_signal_noise_ratio(a, b, data_range=peak)
        error = normalized_root_mse(a, b)
        difference = np.abs(a.astype(int) - b.astype(int)).max()
        lines.append(f"    {{{rows}, {cols}, {channels}, {bits}, {max_value}, {amplitude}, {peak}, {ssim:.10f}, {psnr:.10f}, "
                     f"{error:.10f},\n     {difference}}},\n")
    return HEADER + "".join(lines) + FOOTER


if sys.argv[1:2] == ["--check"]:
    def words(code):
        return code.split()

    with open(sys.argv[2], encoding="utf-8") as file:
        sys.exit(0 if words(file.read()) == words(text()) else f"{sys.argv[2]} differs from what scikit-image says")
print(text(), end="")
