'use strict';
/**
 * The binary frames between the Python client and this host (the other half is engine/frames.py).
 *
 * A frame is a little-endian u32 length and that many bytes. Both directions start with u32 sequence, u32 record
 * count. Every record has the same shape, so that each side reads one with a single fixed-size unpack:
 *
 *   command: u8 op, u8 side, u32 battle, u32 text length                            | text
 *   update:  u8 status, u32 battle, u32 p1 length, u32 p2 length, u32 extra length  | p1 text, p2 text, extra
 *
 * Texts are UTF-8. One command frame is answered by exactly one update frame with the same sequence.
 */

const OP = { START: 1, CHOOSE: 2, FORFEIT: 3, ABORT: 4, CALL: 5 };
const STATUS = { RUNNING: 0, ENDED: 1, FAILED: 2, ANSWER: 3 };

const COMMAND_BYTES = 10;
const UPDATE_BYTES = 17;

/** Cuts a byte stream into frames. */
class FrameReader {
  constructor(onFrame) {
    this.onFrame = onFrame;
    this.chunks = [];
    this.buffered = 0;
  }

  push(chunk) {
    this.chunks.push(chunk);
    this.buffered += chunk.length;
    while (this.buffered >= 4) {
      if (this.chunks[0].length < 4) this.merge();
      const length = this.chunks[0].readUInt32LE(0);
      if (this.buffered < 4 + length) return;
      this.merge();
      const data = this.chunks[0];
      this.buffered -= 4 + length;
      this.chunks = this.buffered ? [data.subarray(4 + length)] : [];
      this.onFrame(data.subarray(4, 4 + length));
    }
  }

  merge() {
    if (this.chunks.length > 1) this.chunks = [Buffer.concat(this.chunks)];
  }
}

function* readCommands(frame) {
  const count = frame.readUInt32LE(4);
  let at = 8;
  for (let i = 0; i < count; i++) {
    const length = frame.readUInt32LE(at + 6);
    const start = at + COMMAND_BYTES;
    yield {
      op: frame.readUInt8(at),
      side: frame.readUInt8(at + 1),
      battle: frame.readUInt32LE(at + 2),
      text: frame.toString('utf8', start, start + length),
    };
    at = start + length;
  }
}

/** Collects the records of one update frame in a buffer that is kept from frame to frame. */
class UpdateWriter {
  constructor() {
    this.buffer = Buffer.allocUnsafe(1 << 16);
    this.begin(0);
  }

  begin(sequence) {
    this.at = 12;
    this.count = 0;
    this.buffer.writeUInt32LE(sequence, 4);
  }

  write(status, battle, p1, p2, extra) {
    // UTF-8 takes at most three bytes for each UTF-16 unit.
    this.reserve(UPDATE_BYTES + 3 * (p1.length + p2.length + extra.length));
    const head = this.at;
    this.buffer.writeUInt8(status, head);
    this.buffer.writeUInt32LE(battle, head + 1);
    this.at += UPDATE_BYTES;
    this.buffer.writeUInt32LE(this.append(p1), head + 5);
    this.buffer.writeUInt32LE(this.append(p2), head + 9);
    this.buffer.writeUInt32LE(this.append(extra), head + 13);
    this.count++;
  }

  append(text) {
    const length = this.buffer.utf8Write(text, this.at);
    this.at += length;
    return length;
  }

  reserve(bytes) {
    if (this.at + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
  }

  replaceBuffer() {
    this.buffer = Buffer.allocUnsafe(this.buffer.length);
  }

  /** The finished frame, with its length in front; valid until the next `begin`. */
  finish() {
    this.buffer.writeUInt32LE(this.at - 4, 0);
    this.buffer.writeUInt32LE(this.count, 8);
    return this.buffer.subarray(0, this.at);
  }
}

module.exports = { OP, STATUS, FrameReader, UpdateWriter, readCommands };
