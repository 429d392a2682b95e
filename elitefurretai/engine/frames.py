"""The binary frames between this client and the Node host (the other half is ``host/frames.js``).

A frame is a little-endian u32 length and that many bytes. Both directions start with u32 sequence and u32 record
count. Every record has the same shape, so that each side reads one with a single fixed-size unpack:

    command: u8 op, u8 side, u32 battle, u32 text length                            | text
    update:  u8 status, u32 battle, u32 p1 length, u32 p2 length, u32 extra length  | p1 text, p2 text, extra

Texts are UTF-8. One command frame is answered by exactly one update frame with the same sequence.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

LENGTH = struct.Struct("<I")
HEADER = struct.Struct("<II")
COMMAND = struct.Struct("<BBII")
UPDATE = struct.Struct("<BIIII")


class Op(IntEnum):
    """What a command asks of the host."""

    START = 1
    CHOOSE = 2
    FORFEIT = 3
    ABORT = 4
    CALL = 5


class Status(IntEnum):
    """What an update says of its battle."""

    RUNNING = 0
    ENDED = 1
    FAILED = 2
    ANSWER = 3


@dataclass(frozen=True, slots=True)
class Update:
    """What one battle delivered: each side's new text, and for an end, a failure or an answer, ``extra``."""

    status: Status
    battle: int
    texts: tuple[str, str]
    extra: str


_STATUSES = tuple(Status)


def encode_command(op: Op, battle: int, side: int = 0, text: str = "") -> bytes:
    """One command record."""
    data = text.encode()
    return COMMAND.pack(op, side, battle, len(data)) + data


def encode_frame(sequence: int, commands: list[bytes]) -> bytes:
    """A whole command frame, its length in front."""
    body = b"".join(commands)
    return LENGTH.pack(HEADER.size + len(body)) + HEADER.pack(sequence, len(commands)) + body


def decode_frame(frame: bytes) -> tuple[int, list[Update]]:
    """Sequence and updates of a frame whose length has been cut off."""
    sequence, count = HEADER.unpack_from(frame, 0)
    updates = []
    at = HEADER.size
    for _ in range(count):
        status, battle, first, second, extra = UPDATE.unpack_from(frame, at)
        start = at + UPDATE.size
        middle = start + first
        end = middle + second
        at = end + extra
        texts = (frame[start:middle].decode(), frame[middle:end].decode())
        updates.append(Update(_STATUSES[status], battle, texts, frame[end:at].decode()))
    return sequence, updates
