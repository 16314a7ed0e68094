"""Damages valid inputs: flipped bits, cuts, lost, doubled and spliced parts, absurd numbers, deep nesting."""

import random
import re

NUMBERS = (b"0", b"-1", b"99999", b"4294967296", b"-9223372036854775809", b"1" * 30, b"9" * 5000, b"1e308", b"1e400")
NUMBERS += (b"1e-308", b"nan", b"-inf", b"1_0", b"", b"x", b"null", b"true", b'"x"', b"[]", b"{}")
INTEGERS = (b"\xff" * 8, b"\xff\xff\xff\x7f" + b"\0" * 4, b"\0" * 8, b"\0" * 7 + b"\x80", b"\0\0\0\x10" + b"\0" * 4)
NESTED = (b"[", b"{", b"(", b'{"a":', b"{a = ", b"[[", b"- ", b"a.", b"<a>")
BYTES = (
    b"\0",
    b"\n",
    b"\r",
    b"\xff",
    b"\xc3",
    b'"',
    b"'",
    b"<",
    b"&",
    b"*",
    b"/",
    b"\\",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
)


def mutate(data: bytes, donor: bytes, rng: random.Random) -> bytes:
    """Apply one to three random changes.

    Args:
        data: A valid input.
        donor: Another one, from which parts are spliced in.
        rng: Decides; the same state gives the same bytes.
    """
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(changed) + 1)
        length = rng.choice((1, 2, 8, 40, 200, 1000))
        match rng.choice(("flip", "cut", "lose", "double", "splice", "number", "integer", "nest", "byte", "noise")):
            case "flip":
                for _ in range(rng.choice((1, 1, 1, 8))):
                    if changed:
                        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
            case "cut":
                del changed[place:]
            case "lose":
                del changed[place : place + length]
            case "double":
                changed[place:place] = changed[place : place + length] * rng.choice((1, 1, 5, 50))
            case "splice":
                start = rng.randrange(len(donor) + 1)
                changed[place : place + rng.choice((0, length))] = donor[start : start + length]
            case "number":
                found = re.compile(rb"[-+.\deE]*\d[-+.\deE]*").search(changed, place)
                if found:
                    changed[found.start() : found.end()] = rng.choice(NUMBERS)
            case "integer":
                value = rng.choice(INTEGERS)[: rng.choice((2, 4, 8))]
                changed[place : place + len(value)] = value
            case "nest":
                changed[place:place] = rng.choice(NESTED) * rng.choice((3, 100, 20_000))
            case "byte":
                changed[place : place + rng.choice((0, 1))] = rng.choice(BYTES)
            case "noise":
                changed[place : place + length] = rng.randbytes(length)
    return bytes(changed)
