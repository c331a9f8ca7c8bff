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
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** One file of a built console, kept in memory: all of them together are smaller than a photo. */
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

  /** Compressed on the first request. */
  get zipped(): Buffer {
    return (this.#zipped ??= gzipSync(this.body, { level: 9 }));
  }
}

/** One file; null if it was not built. */
export function readConsoleFile(path: string): ConsoleFile | null {
  try {
    return new ConsoleFile(basename(path), readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Every file in `assets` of a built console, by name; null if it was not built. */
export function readAssets(folder: string): ReadonlyMap<string, ConsoleFile> | null {
  try {
    const names = readdirSync(join(folder, 'assets'), { withFileTypes: true }).filter((entry) => entry.isFile());
    return new Map(names.map(({ name }) => [name, new ConsoleFile(name, readFileSync(join(folder, 'assets', name)))]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * The files of a build that pages of a service need: addresses below the service's root, such as `assets/site-HASH.js`.
 */
export interface EntryAssets {
  readonly script: string;
  readonly styles: readonly string[];
  /** Other files that the entry names, by their source, such as `src/shared/icon.svg`. */
  readonly files: Readonly<Record<string, string>>;
}

interface ManifestEntry {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
}

type Manifest = Readonly<Record<string, ManifestEntry | undefined>>;

/**
 * Finds an entry in Vite's manifest of the build; null if it was not built.
 *
 * @param entry as the build's configuration names it, such as `src/site/main.ts`
 */
export function readEntryAssets(folder: string, entry: string): EntryAssets | null {
  const file = readConsoleFile(join(folder, '.vite/manifest.json'));
  if (file === null) return null;
  const manifest = JSON.parse(file.body.toString()) as Manifest;
  const script = manifest[entry]?.file;
  if (script === undefined) return null;
  const files = Object.entries(manifest).flatMap(([name, one]) =>
    one === undefined ? [] : [[name, one.file] as const],
  );
  return { script, styles: [...stylesOf(manifest, entry)], files: Object.fromEntries(files) };
}

/** Style sheets of an entry and of everything it imports, in the order of the imports. */
function stylesOf(manifest: Manifest, name: string, seen = new Set<string>()): Set<string> {
  const { css = [], imports = [] } = manifest[name] ?? {};
  if (seen.has(name)) return new Set();
  seen.add(name);
  return new Set([...imports.flatMap((one) => [...stylesOf(manifest, one, seen)]), ...css]);
}
