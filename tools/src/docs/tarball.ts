import { gzipSync } from 'node:zlib';

const BLOCK = 512;
const MODE = '0000644';
const MAX_NAME = 100;
const MAX_PREFIX = 155;

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
  const [prefix, rest] = splitName(name);
  const header = Buffer.alloc(BLOCK);
  const put = (text: string, at: number): void => void header.write(text, at, 'utf8');
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
  put(rest, 0);
  put(MODE, 100);
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(octal(size, 11), 124);
  put(octal(0, 11), 136);
  // The checksum counts itself as spaces.
  put(' '.repeat(8), 148);
  put('0', 156);
  put('ustar\x0000', 257);
  put(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)}\0 `, 148);
  return header;
}

/** Long names are in two fields, which belong together by a slash. */
function splitName(name: string): [prefix: string, rest: string] {
  if (Buffer.byteLength(name) <= MAX_NAME) return ['', name];
  for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) {
    const parts: [string, string] = [name.slice(0, at), name.slice(at + 1)];
    if (Buffer.byteLength(parts[0]) <= MAX_PREFIX && Buffer.byteLength(parts[1]) <= MAX_NAME) return parts;
  }
  throw new RangeError(`${name} does not fit into a header of tar`);
}
