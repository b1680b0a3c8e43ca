#!/usr/bin/env python3
"""Makes the vectors of the tests of src/preparation, beside this file, with Pillow and NumPy.

The vectors of this folder are from Pillow 9.4. For 16 bits, the reference is the same filter in float64, rounded and clamped to
16 bits after the rows and after the columns, because this Pillow resizes no image of mode I;16. It is compared with mode I, which
does not clamp, on an image whose results need no clamping.
"""
from pathlib import Path

import numpy as np
from PIL import Image

FOLDER = Path(__file__).parent
SIZES = [(13, 7), (40, 31), (24, 9), (11, 18), (5, 40), (60, 3), (1, 1)]  # width, height


def write(name, pixels):
    """Writes a PGM (rows x cols) or PPM (rows x cols x 3) file."""
    kind = "P5" if pixels.ndim == 2 else "P6"
    header = f"{kind}\n{pixels.shape[1]} {pixels.shape[0]}\n{np.iinfo(pixels.dtype).max}\n"
    (FOLDER / name).write_bytes(header.encode() + pixels.astype(pixels.dtype.newbyteorder(">")).tobytes())


def lanczos(x):
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


def weights(size, new_size):
    """Returns the new_size x size matrix of the filter."""
    scale = size / new_size
    support = 3 * max(scale, 1)
    matrix = np.zeros((new_size, size))
    for i in range(new_size):
        center = (i + 0.5) * scale
        window = np.arange(max(int(center - support + 0.5), 0), min(int(center + support + 0.5), size))
        matrix[i, window] = lanczos((window - center + 0.5) / max(scale, 1))
    return matrix / matrix.sum(axis=1, keepdims=True)


def rounded(samples):
    return np.clip(np.floor(samples + 0.5), 0, 65535)


def resize16(pixels, width, height):
    samples = pixels.astype(np.float64)
    if width != pixels.shape[1]:
        samples = rounded(samples @ weights(pixels.shape[1], width).T)
    if height != pixels.shape[0]:
        samples = rounded(weights(pixels.shape[0], height) @ samples)
    return samples.astype(np.uint16)


def check_resize16(random):
    pixels = random.integers(30000, 36000, (18, 24)).astype(np.uint16)
    for size in SIZES:
        pillow = np.asarray(Image.fromarray(pixels.astype(np.int32)).resize(size, Image.LANCZOS))
        assert abs(pillow - resize16(pixels, *size).astype(int)).max() <= 1


def scene(random, peak, channels):
    """Noise beside flat areas of 0 and of peak, so that the filter overshoots."""
    pixels = random.integers(0, peak + 1, (18, 24, channels))
    pixels[4:12, 3:14] = peak
    pixels[7:16, 8:20, :1] = 0
    return pixels


def thumbnail_lines(random):
    yield "width height limit thumbnail_width thumbnail_height"
    for _ in range(120):
        width, height = (int(2 ** random.uniform(0, 12)) for _ in range(2))
        limit = int(2 ** random.uniform(0, 10))
        image = Image.new("L", (width, height))
        image.thumbnail((limit, limit), Image.NEAREST)
        yield f"{width} {height} {limit} {image.width} {image.height}"


def main():
    random = np.random.default_rng(1)
    check_resize16(random)
    color = scene(random, 255, 3).astype(np.uint8)
    image = Image.fromarray(color)
    gray = image.convert("L")
    gray16 = scene(random, 65535, 1)[..., 0].astype(np.uint16)
    write("color.ppm", color)
    write("gray.pgm", np.asarray(gray))
    write("gray16.pgm", gray16)
    for size in SIZES:
        name = f"{size[0]}x{size[1]}"
        write(f"color_{name}.ppm", np.asarray(image.resize(size, Image.LANCZOS)))
        write(f"gray_{name}.pgm", np.asarray(gray.resize(size, Image.LANCZOS)))
        write(f"gray16_{name}.pgm", resize16(gray16, *size))
    (FOLDER / "thumbnails.txt").write_text("".join(line + "\n" for line in thumbnail_lines(random)))


if __name__ == "__main__":
    main()
