"""Test planes: from a folder of images, or synthetic."""

import os

import numpy as np

try:
    from PIL import Image
except ImportError:  # only needed for folders of images
    Image = None

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")


def as_tall(a):
    return a if a.shape[0] >= a.shape[1] else a.T


def quantize(values, peak=255):
    """Converts real numbers to samples: the largest magnitude becomes the end of the range, as in the C++ tests."""
    scaled = peak * (0.5 + 0.49 * values / np.abs(values).max())
    return np.clip(np.rint(scaled), 0, peak)


def with_spectrum(m, n, sigma, rng, peak=255):
    u = np.linalg.qr(rng.standard_normal((m, n)))[0]
    v = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return quantize((u * sigma) @ v.T, peak)


def texture(m, n, rng, decay=1.3):
    """Random phases, and amplitudes that decrease with frequency: a spectrum like that of a photograph."""
    fy, fx = np.fft.fftfreq(m)[:, None] * m, np.fft.rfftfreq(n)[None, :] * n
    amplitude = 1 / (1 + np.hypot(fy, fx)) ** decay
    field = np.fft.irfft2(amplitude * np.exp(2j * np.pi * rng.random(amplitude.shape)), s=(m, n))
    return quantize(field)


def phantom(m, n, rng):
    """Ellipses on black with a little noise, like a slice of an MRI scan."""
    y, x = np.mgrid[-1:1:m * 1j, -1:1:n * 1j]
    a = np.zeros((m, n))
    for size in (0.9, 0.8, 0.4, 0.3, 0.2, 0.2, 0.1, 0.1):
        cx, cy = rng.uniform(-0.5, 0.5, 2) * (1 - size)
        t, stretch = rng.uniform(0, np.pi), rng.uniform(0.5, 1)
        u, v = (x - cx) * np.cos(t) + (y - cy) * np.sin(t), (y - cy) * np.cos(t) - (x - cx) * np.sin(t)
        a += rng.uniform(20, 60) * ((u / size) ** 2 + (v / size / stretch) ** 2 < 1)
    return np.clip(np.rint(a + 2 * rng.standard_normal((m, n)) * (a > 0)), 0, 255)


def synthetic(count, seed=1936):
    """Returns (name, plane) pairs with m >= n."""
    rng = np.random.default_rng(seed)
    shapes = [(256, 256), (208, 176), (320, 192), (384, 256)]
    planes = []
    for i in range(count):
        m, n = shapes[i % len(shapes)]
        make = texture if i % 2 == 0 else phantom
        planes.append((f"{make.__name__} {i}", make(m, n, rng)))
    return planes


def folder(path, count, side=256):
    """Returns gray planes from images spread over the folder, cropped to at most side x side."""
    if Image is None:
        raise SystemExit("folders of images need Pillow (python3-pil)")
    files = sorted(os.path.join(d, f) for d, _, names in os.walk(path) for f in names
                   if f.lower().endswith(SUFFIXES))
    if not files:
        raise SystemExit(f"no images in {path}")
    planes = []
    for i in range(count):
        index, crop = i * len(files) // count if count <= len(files) else i % len(files), i // len(files)
        a = np.asarray(Image.open(files[index]).convert("L"), dtype=np.float64)
        if min(a.shape) > side:
            top = 37 * (crop + 1) % (a.shape[0] - side + 1)
            left = 101 * (crop + 1) % (a.shape[1] - side + 1)
            a = a[top:top + side, left:left + side]
        planes.append((f"{os.path.basename(files[index])} {crop}", as_tall(a)))
    return planes


def planes_of(arguments, count):
    return folder(arguments.images, count) if arguments.images else synthetic(count)


def adversarial(count, seed=7):
    """Returns adversarial (name, plane, rank), the "hostile planes" of numerics.md: see adversarial_image_test.cpp."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(count):
        kind = i % 10
        n = int(rng.integers(6, 17)) * 16
        m = n + int(rng.integers(0, 3)) * 64
        k = int(rng.integers(1, max(2, n // 2)))
        peak = 255 if rng.random() < 0.5 else 65535
        if kind == 0:  # flat
            a, name = with_spectrum(m, n, np.ones(n), rng, peak), "flat spectrum"
        elif kind == 1:  # a step just above the rank
            step = min(n, k + int(rng.integers(0, 12)))
            a = with_spectrum(m, n, np.where(np.arange(n) < step, 1, rng.uniform(0.5, 0.98)), rng, peak)
            name = "step"
        elif kind == 2:
            a, name = with_spectrum(m, n, (1.0 + np.arange(n)) ** -0.1, rng, peak), "slow decay"
        elif kind == 3:
            sigma = np.repeat(0.8 ** np.arange(n), int(rng.integers(20, 50)))[:n]
            a, name = with_spectrum(m, n, sigma, rng, peak), "equal groups"
        elif kind == 4:
            a, name = rng.integers(0, peak + 1, (m, n)).astype(float), "noise"
        elif kind == 5:  # specks on a flat image
            a = np.full((m, n), float(peak))
            for _ in range(int(rng.integers(1, 60))):
                a[rng.integers(m), rng.integers(n)] -= rng.integers(1, 4)
            name = "specks"
        elif kind == 6:
            a, name = np.full((m, n), 128.0) + (rng.random((m, n)) < 0.05), "faint noise"
        elif kind == 7:
            a, name = np.where(np.eye(m, n) > 0, 200.0, 50.0) * (np.arange(m)[:, None] < 0.6 * n), "diagonal"
        elif kind == 8:
            a, name = texture(m, n, rng, rng.uniform(0.6, 2.5)), "texture"
        else:
            a = np.where((np.arange(m)[:, None] // 8 + np.arange(n)[None, :] // 8) % 2 == 0, 250.0, 5.0)
            a[:, :8] += rng.integers(0, 3, (m, 8))
            name = "checkerboard"
        made.append((name, a, k))
    return made
