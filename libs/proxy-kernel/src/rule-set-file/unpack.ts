import { inflateSync, zstdDecompressSync } from 'node:zlib';
import { RuleSetFileError } from './rule-set-file-error.js';

/** Ten times the largest one in use; reading its trie takes four times as much again. */
const MAX_UNPACKED = 16 * 1024 * 1024;
const UNPACK = { zlib: inflateSync, zstd: zstdDecompressSync };

/** The content of a compressed file. @throws RuleSetFileError for another compression, and if it is too large. */
export function unpack(content: Buffer, compression: keyof typeof UNPACK): Buffer {
  try {
    return UNPACK[compression](content, { maxOutputLength: MAX_UNPACKED });
  } catch (cause) {
    const tooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
    throw new RuleSetFileError(tooLarge ? 'too large when decompressed' : `not compressed with ${compression}`, {
      cause,
    });
  }
}
