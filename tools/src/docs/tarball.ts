import { gzipSync } from 'node:zlib';

const BLOCK = 512;
const MODE = '0000644';
const MAX_NAME = 100;

/**
 * A gzipped tar archive (POSIX ustar) of small files, the same bytes for the same files.
 *
 * @throws RangeError for a name that does not fit into a header
 */
export function tarball(files: ReadonlyMap<string, string | Buffer>): Buffer {
  const parts = [...files].flatMap(([name, content]) => {
    const data = Buffer.from(content);
    return [headerOf(name, data.length), data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)];
  });
  // Two empty blocks are the end.
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}

function headerOf(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > MAX_NAME) throw new RangeError(`${name} is longer than ${MAX_NAME} bytes`);
  const header = Buffer.alloc(BLOCK);
  const put = (text: string, at: number): void => void header.write(text, at, 'utf8');
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
  put(name, 0);
  put(MODE, 100);
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(octal(size, 11), 124);
  put(octal(0, 11), 136);
  // The checksum counts itself as spaces.
  put(' '.repeat(8), 148);
  put('0', 156);
  put('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)}\0 `, 148);
  return header;
}
