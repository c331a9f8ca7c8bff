import { createReadStream, mkdirSync, openSync, readdirSync, readSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { docker, run } from './engine.js';

/** Which of the texts lie anywhere in an image: in a file of any layer, in its configuration or in its history. */
export async function textsInImage(image: string, texts: readonly string[], folder: string): Promise<string[]> {
  const [archive, unpacked] = [join(folder, 'image.tar'), join(folder, 'image')];
  const logFile = join(folder, 'images.log');
  mkdirSync(unpacked, { recursive: true });
  await docker(['save', '--output', archive, image], { logFile });
  await run('tar', ['-xf', archive, '-C', unpacked], { logFile });
  const found = new Set<string>();
  for (const entry of readdirSync(unpacked, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    for (const text of await textsInFile(join(entry.parentPath, entry.name), texts)) found.add(text);
  }
  return [...found];
}

/** Compressed or not: layers are either. */
async function textsInFile(file: string, texts: readonly string[]): Promise<string[]> {
  const stream = isGzip(file) ? createReadStream(file).pipe(createGunzip()) : createReadStream(file);
  const longest = Math.max(...texts.map((text) => text.length));
  const found = new Set<string>();
  let kept = Buffer.alloc(0);
  for await (const part of stream as AsyncIterable<Buffer>) {
    const window = Buffer.concat([kept, part]);
    for (const text of texts) if (window.includes(text)) found.add(text);
    kept = window.subarray(-longest);
  }
  return [...found];
}

function isGzip(file: string): boolean {
  const head = Buffer.alloc(2);
  const handle = openSync(file, 'r');
  readSync(handle, head, 0, 2, 0);
  closeSync(handle);
  return head[0] === 0x1f && head[1] === 0x8b;
}
