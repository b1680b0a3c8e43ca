#!/usr/bin/env python3
"""Baseline: NumPy's linalg.svd in float32 with one BLAS thread, one image at a time.

Square gray images of 8 bits, one after the other in a raw file, become reconstructions of the same
kind. Images are read before the clock starts. The result is one JSON object on stdout.

  numpy_loop.py RAW --side 256 --rank 20 [--repeats 10] [--check]
"""

import argparse
import ctypes
import json
import os
import re
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is loaded

import numpy  # noqa: E402


def approximate(image, rank):
    u, s, vt = numpy.linalg.svd(image.astype(numpy.float32), full_matrices=False)
    return (u[:, :rank] * s[:rank]) @ vt[:rank]


def reconstruct(image, rank):
    return numpy.clip(numpy.rint(approximate(image, rank)), 0, 255).astype(numpy.uint8)


def seconds_a_pass(images, rank):
    start = time.perf_counter()
    for image in images:
        reconstruct(image, rank)
    return time.perf_counter() - start


def loss_db(image, rank):
    """Returns the PSNR loss against the Eckart-Young optimum in float64, before rounding to 8 bits, in dB."""
    exact = image.astype(numpy.float64)
    optimum = numpy.sum(numpy.linalg.svd(exact, compute_uv=False)[rank:] ** 2)
    error = numpy.sum((exact - approximate(image, rank).astype(numpy.float64)) ** 2)
    return float(10 * numpy.log10(error / optimum)) if optimum > 1e-12 * numpy.sum(exact**2) else 0.0


def blas():
    """Returns the configuration of OpenBLAS, if NumPy has loaded it."""
    with open("/proc/self/maps") as maps:
        libraries = sorted(set(re.findall(r"/\S*openblas\S*", maps.read())))
    for library in libraries:
        try:
            config = ctypes.CDLL(library).openblas_get_config
        except (AttributeError, OSError):
            continue
        config.restype = ctypes.c_char_p
        return config().decode()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("raw")
    parser.add_argument("--side", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=10, help="timed passes over the images")
    parser.add_argument("--check", action="store_true", help="measure every image's loss")
    args = parser.parse_args()
    images = numpy.fromfile(args.raw, dtype=numpy.uint8).reshape(-1, args.side, args.side)
    seconds_a_pass(images, args.rank)  # warm-up
    result = {
        "peer": "numpy.linalg.svd loop, float32, one thread",
        "numpy": numpy.__version__,
        "blas": blas(),
        "images_per_s": [len(images) / seconds_a_pass(images, args.rank) for _ in range(args.repeats)],
    }
    if args.check:
        result["max_loss_db"] = max(loss_db(image, args.rank) for image in images)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
