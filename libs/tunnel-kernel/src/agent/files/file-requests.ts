import { randomUUID } from 'node:crypto';
import { constants, createWriteStream, type Stats } from 'node:fs';
import { lstat, mkdir, open, rename, rmdir, stat, unlink, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { TunnelError } from '../../errors.js';
import { visitorWords } from '../../messages/index.js';
import type { FileRoot } from '../../wire/messages.js';
import { parseRange, type ByteRange } from './byte-range.js';
import { contentType } from './content-type.js';
import type { DirectoryPages } from './directory-pages.js';
import { entryPath, existingPath, PathRefused, type ServedPath } from './served-path.js';

/**
 * The path was resolved before, so a link that is there now was put there since. Without these flags, a pipe without a
 * writer would block one of the few file system threads for ever. Windows has neither flag.
 */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const READING = 'GET, HEAD, OPTIONS';
const WRITING = `${READING}, PUT, DELETE, MKCOL`;
const STATUS_OF: Readonly<Record<string, number>> = {
  ENOENT: 404,
  ENOTDIR: 404,
  ELOOP: 404,
  EACCES: 403,
  EPERM: 403,
  EEXIST: 405,
  EISDIR: 409,
  ENOTEMPTY: 409,
  ENOSPC: 507,
  EROFS: 403,
};

/** Serves a directory: reading, listing, and writing where the tunnel allows it. */
export class FileRequests {
  private readonly root: string;
  private readonly config: FileRoot;
  private readonly pages: DirectoryPages;

  /** @param root the real path of the directory. */
  constructor(root: string, config: FileRoot, pages: DirectoryPages) {
    this.root = root;
    this.config = config;
    this.pages = pages;
  }

  /** Answers every request; if it cannot be served, with the reason. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    try {
      await this.dispatch(request, response);
    } catch (error) {
      this.fail(response, error);
    }
  }

  private async dispatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const { readOnly, stripPrefix } = this.config;
    if (method === 'OPTIONS') return end(response.setHeader('Allow', readOnly ? READING : WRITING), 204);
    if (method === 'GET' || method === 'HEAD') {
      return this.read(request, response, await existingPath(url, this.root, stripPrefix));
    }
    if (readOnly || !['PUT', 'DELETE', 'MKCOL'].includes(method)) {
      return end(response.setHeader('Allow', readOnly ? READING : WRITING), 405, 'method not allowed\n');
    }
    const place = await entryPath(url.replace(/(?<=.)\/+(?=$|\?)/, ''), this.root, stripPrefix);
    if (method === 'DELETE') return remove(place, response);
    if (method === 'PUT') return put(request, response, place);
    await mkdir(place.path);
    end(response, 201);
  }

  private async read(request: IncomingMessage, response: ServerResponse, place: ServedPath): Promise<void> {
    const file = await open(place.path, READ_FLAGS);
    try {
      // Of the open file: the name may mean another file by now.
      const facts = await file.stat();
      if (facts.isDirectory()) return await this.list(request, response, place);
      if (!facts.isFile()) throw new PathRefused(403, 'not a file');
      await sendFile(request, response, { file, facts, path: place.path });
    } finally {
      await file.close();
    }
  }

  private async list(request: IncomingMessage, response: ServerResponse, { path, shown }: ServedPath): Promise<void> {
    const [target = '', query] = (request.url ?? '').split('?', 2);
    if (!target.endsWith('/')) {
      // Relative, with a single slash: a second one would turn the first segment into a host.
      const name = target.slice(target.lastIndexOf('/') + 1);
      return end(response.setHeader('Location', `./${name}/${query === undefined ? '' : `?${query}`}`), 301);
    }
    const index = await stat(join(path, 'index.html')).catch(() => null);
    if (index?.isFile()) return this.read(request, response, await existingPath(`${shown}index.html`, this.root, ''));
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
    const words = visitorWords(request.headers['accept-language']);
    response.setHeader('Content-Language', words.language).setHeader('Vary', 'Accept-Language');
    end(response, 200, await this.pages.page(path, shown, words));
  }

  private fail(response: ServerResponse, error: unknown): void {
    if (response.headersSent || response.destroyed) return void response.destroy();
    const status = error instanceof PathRefused ? error.status : STATUS_OF[(error as NodeJS.ErrnoException).code ?? ''];
    const text = error instanceof PathRefused ? error.message : 'this cannot be done';
    const busy = error instanceof TunnelError && error.code === 'overloaded';
    if (busy) response.setHeader('Retry-After', '1');
    // The unread rest of the request must not be parsed as the next one.
    end(response.setHeader('Connection', 'close'), busy ? 503 : (status ?? 500), `${text}\n`);
  }
}

interface OpenFile {
  file: FileHandle;
  facts: Stats;
  path: string;
}

async function sendFile(request: IncomingMessage, response: ServerResponse, opened: OpenFile): Promise<void> {
  const { file, facts, path } = opened;
  const tag = `"${facts.ino.toString(36)}-${facts.size.toString(36)}-${Math.floor(facts.mtimeMs).toString(36)}"`;
  const changed = facts.mtime.toUTCString();
  response.setHeader('ETag', tag);
  response.setHeader('Last-Modified', changed);
  response.setHeader('Accept-Ranges', 'bytes');
  if (isUnchanged(request, tag, facts)) return end(response, 304);
  response.setHeader('Content-Type', contentType(path));
  const { range: wanted, 'if-range': condition } = request.headers;
  const holds = condition === undefined || condition === tag || condition === changed;
  const range = holds ? parseRange(wanted, facts.size) : null;
  if (range === 'unsatisfiable') {
    return end(response.setHeader('Content-Range', `bytes */${facts.size}`), 416, 'no such range\n');
  }
  if (range) response.setHeader('Content-Range', `bytes ${range.first}-${range.last}/${facts.size}`);
  const { first, last }: ByteRange = range ?? { first: 0, last: facts.size - 1 };
  response.writeHead(range ? 206 : 200, { 'Content-Length': last - first + 1 });
  if (request.method === 'HEAD' || last < first) return void response.end();
  await pipeline(file.createReadStream({ start: first, end: last, autoClose: false }), response);
}

function isUnchanged({ headers }: IncomingMessage, tag: string, facts: Stats): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined)
    return tags === '*' || tags.split(',').some((known) => known.trim().replace(/^W\//, '') === tag);
  return since !== undefined && Math.floor(facts.mtimeMs / 1000) * 1000 <= Date.parse(since);
}

/** Atomic: the name appears when everything has been written. */
async function put(request: IncomingMessage, response: ServerResponse, { path }: ServedPath): Promise<void> {
  const present = await stat(path).catch(() => null);
  if (present && !present.isFile()) throw new PathRefused(403, 'not a file');
  const part = join(dirname(path), `.${randomUUID()}.part`);
  try {
    await pipeline(request, createWriteStream(part, { flags: 'wx', mode: 0o644 }));
    await rename(part, path);
  } catch (error) {
    await unlink(part).catch(() => undefined);
    throw error;
  }
  end(response, present ? 204 : 201);
}

async function remove({ path }: ServedPath, response: ServerResponse): Promise<void> {
  const facts = await lstat(path);
  // Only an empty directory: the request does not name what is below it.
  if (facts.isDirectory()) await rmdir(path);
  else await unlink(path);
  end(response, 204);
}

function end(response: ServerResponse, status: number, body?: string): void {
  if (body === undefined) return void response.writeHead(status).end();
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(body) });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
