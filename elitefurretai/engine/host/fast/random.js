'use strict';
/**
 * Showdown's random numbers, made with fewer steps.
 *
 * `SodiumRNG#next` encrypts 36 zero bytes with ChaCha20: 32 bytes become the next seed, 4 the number. The package it
 * uses builds a cipher object and byte arrays each time. Here the same block (counter 0, key = seed) is computed in
 * one array of words that is kept. A test compares long runs of both.
 */

const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]; // "expand 32-byte k"
const DOUBLE_ROUNDS = 10;

const input = new Int32Array(16);
const mixed = new Int32Array(16);
const output = new Uint8Array(mixed.buffer); // little-endian, as ChaCha20 is and as every machine that runs Node is

function quarterRound(words, a, b, c, d) {
  let x;
  words[a] += words[b];
  x = words[d] ^ words[a];
  words[d] = (x << 16) | (x >>> 16);
  words[c] += words[d];
  x = words[b] ^ words[c];
  words[b] = (x << 12) | (x >>> 20);
  words[a] += words[b];
  x = words[d] ^ words[a];
  words[d] = (x << 8) | (x >>> 24);
  words[c] += words[d];
  x = words[b] ^ words[c];
  words[b] = (x << 7) | (x >>> 25);
}

function wordAt(bytes, at) {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

function install({ SodiumRNG }) {
  const nonce = SodiumRNG.NONCE;
  for (let i = 0; i < 4; i++) input[i] = SIGMA[i];
  for (let i = 0; i < 3; i++) input[13 + i] = wordAt(nonce, 4 * i);

  SodiumRNG.prototype.next = function () {
    for (let i = 0; i < 8; i++) input[4 + i] = wordAt(this.seed, 4 * i);
    mixed.set(input);
    for (let round = 0; round < DOUBLE_ROUNDS; round++) {
      quarterRound(mixed, 0, 4, 8, 12);
      quarterRound(mixed, 1, 5, 9, 13);
      quarterRound(mixed, 2, 6, 10, 14);
      quarterRound(mixed, 3, 7, 11, 15);
      quarterRound(mixed, 0, 5, 10, 15);
      quarterRound(mixed, 1, 6, 11, 12);
      quarterRound(mixed, 2, 7, 8, 13);
      quarterRound(mixed, 3, 4, 9, 14);
    }
    for (let i = 0; i < 9; i++) mixed[i] += input[i];
    this.seed = output.slice(0, 32);
    return ((output[32] << 24) | (output[33] << 16) | (output[34] << 8) | output[35]) >>> 0;
  };
}

module.exports = { install };
