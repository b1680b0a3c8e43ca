"""Finds the program to test."""
import os

BUILD = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "build")


def find_program(path):
    """Returns the path if it is not empty, otherwise that of the newest build; "" if the program is not executable."""
    built = [os.path.normpath(os.path.join(BUILD, preset, "bin", "eckart")) for preset in ("cuda", "cpu", "release")]
    found = [program for program in ([path] if path else built) if os.path.isfile(program) and os.access(program, os.X_OK)]
    return max(found, key=os.path.getmtime, default="")
