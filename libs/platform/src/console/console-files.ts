import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** One file of a built console, kept in memory: all of them together are smaller than a photograph. */
export class ConsoleFile {
  readonly type: string;
  readonly etag: string;
  readonly body: Buffer;
  #zipped: Buffer | undefined;

  constructor(name: string, body: Buffer) {
    this.type = TYPES[extname(name)] ?? 'application/octet-stream';
    this.body = body;
    this.etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  }

  /** Made when first asked for. */
  get zipped(): Buffer {
    return (this.#zipped ??= gzipSync(this.body, { level: 9 }));
  }
}

/** One file; null where it was not built. */
export function readConsoleFile(path: string): ConsoleFile | null {
  try {
    return new ConsoleFile(basename(path), readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The page and the assets of a console by name; null where it was not built. */
export function readConsoleFiles(
  folder: string,
  page: string,
): { page: ConsoleFile; assets: ReadonlyMap<string, ConsoleFile> } | null {
  const html = readConsoleFile(join(folder, page));
  if (html === null) return null;
  try {
    const names = readdirSync(join(folder, 'assets'), { withFileTypes: true }).filter((entry) => entry.isFile());
    const assets = names.map(({ name }) => [name, new ConsoleFile(name, readFileSync(join(folder, 'assets', name)))]);
    return { page: html, assets: new Map(assets as [string, ConsoleFile][]) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
