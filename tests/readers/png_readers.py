#!/usr/bin/env python3
"""Other programs read the PNG files of eckart, and get the same pixels.

Usage: png_readers.py ECKART
Images of all depths and colors, of odd shapes, and of contents from flat to noise are written at full rank with
`output.png` fast and small. pngcheck, libpng (pngtopam), ImageMagick, Pillow and OpenCV (`input.decoder=opencv`) read them.
Exit codes: 0 all have the pixels of the input; 1 a reader fails or has others; 77 a reader is not installed.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError:
    print("skipped: needs python3-numpy and python3-pil")
    sys.exit(77)

PROGRAMS = {"pngcheck": "pngcheck", "pngtopam": "netpbm", "convert": "imagemagick"}
SHAPES = [(1, 1), (1, 300), (300, 1), (7, 5), (64, 64), (208, 176), (97, 401)]  # rows, columns
FORMATS = [("gray", 8), ("rgb", 8), ("gray", 16), ("rgb", 16)]


def contents(rows, cols, channels, rng):
    """Yields names and values in 0 to 1."""
    y, x = np.mgrid[0:rows, 0:cols]
    smooth = 0.5 + 0.5 * np.sin(0.05 * x + 0.03 * y)
    phases = np.arange(channels)
    yield "flat", np.full((rows, cols, channels), 0.25)
    yield "smooth", np.stack([np.roll(smooth, 3 * phase, axis=0) for phase in phases], axis=2)
    yield "texture", np.clip(smooth[..., None] + 0.03 * rng.standard_normal((rows, cols, channels)), 0, 1)
    yield "noise", rng.random((rows, cols, channels))


def read_pnm(data):
    """Returns the samples of a binary PGM or PPM without comments."""
    kind, cols, rows, peak = data.split(maxsplit=4)[:4]
    channels = {b"P5": 1, b"P6": 3}[kind]
    dtype = ">u2" if int(peak) > 255 else "u1"
    count = int(rows) * int(cols) * channels
    return np.frombuffer(data[-count * np.dtype(dtype).itemsize:], dtype).reshape(int(rows), int(cols), channels)


def output_of(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        raise ValueError(f"{' '.join(map(str, command))}: {(result.stdout + result.stderr).decode(errors='replace')}")
    return result.stdout


def with_pillow(file, expected):
    if expected.dtype == np.uint16 and expected.shape[2] == 3:
        return None  # Pillow has no such images
    return np.array(Image.open(file)).reshape(expected.shape)


def with_image_magick(file, expected):
    kind = "gray" if expected.shape[2] == 1 else "rgb"
    bits = 8 * expected.itemsize
    data = output_of("/usr/bin/convert", file, "-depth", str(bits), "-endian", "MSB", f"{kind}:-")
    return np.frombuffer(data, expected.dtype.newbyteorder(">")).reshape(expected.shape)


READERS = {
    "libpng": lambda file, expected: read_pnm(output_of("/usr/bin/pngtopam", file)),
    "ImageMagick": with_image_magick,
    "Pillow": with_pillow,
}


def check(name, found, expected):
    if found.shape != expected.shape or not np.array_equal(found, expected):
        raise ValueError(f"{name}: other pixels")


def main():
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program, path="/usr/bin")]
    if missing:
        print("skipped: needs", *missing)
        return 77
    eckart, rng, images, read = sys.argv[1], np.random.default_rng(1), {}, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "in").mkdir()
        for color, bits in FORMATS:
            channels, peak = 1 if color == "gray" else 3, 2**bits - 1
            for rows, cols in SHAPES:
                for content, values in contents(rows, cols, channels, rng):
                    name = f"{color}{bits}-{rows}x{cols}-{content}"
                    pixels = np.rint(values * peak).astype(np.uint16 if bits == 16 else np.uint8)
                    header = f"P{5 if channels == 1 else 6}\n{cols} {rows}\n{peak}\n".encode()
                    (folder / "in" / f"{name}.pnm").write_bytes(header + pixels.astype(f">u{bits // 8}").tobytes())
                    images[name] = pixels
        for kind in ("fast", "small"):
            run = (eckart, "run", "--rank", "full", "--ledger", "none", "-qq", "--backend", "cpu")
            files, copies = folder / kind, folder / f"{kind}-opencv"
            output_of(*run, folder / "in", "-o", files, "--set", f"output.png={kind}")
            output_of(*run, files, "-o", copies, "--format", "pnm", "--set", "input.decoder=opencv")
            for name, expected in images.items():
                file = files / f"{name}.png"
                output_of("/usr/bin/pngcheck", "-q", file)
                for reader, read_with in READERS.items():
                    found = read_with(file, expected)
                    if found is not None:
                        check(f"{kind}, {name}, {reader}", found, expected)
                        read += 1
                (copy,) = copies.glob(f"{name}.*")
                check(f"{kind}, {name}, OpenCV", read_pnm(copy.read_bytes()), expected)
                read += 1
    print(f"{2 * len(images)} files, read {read} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
