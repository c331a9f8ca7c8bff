import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { FileRoot } from '../../wire/messages.js';

/** Why a path is not served, as a status of HTTP. */
export class PathRefused extends Error {
  readonly status: 400 | 403 | 404;

  constructor(status: 400 | 403 | 404, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ServedPath {
  /** Without links, inside the root. */
  path: string;
  /** The decoded path of the request below the root, beginning with a slash. */
  shown: string;
}

/**
 * The real directory of a tunnel. @throws PathRefused 403 if the agent does not allow it. Resolved every time: a
 * directory may be replaced by a link.
 */
export async function rootOf({ path }: FileRoot, allowedRoots: readonly string[]): Promise<string> {
  const real = await real404(path);
  for (const allowed of allowedRoots) {
    const root = await realpath(allowed).catch(() => null);
    if (root !== null && isInside(root, real)) return real;
  }
  throw new PathRefused(403, 'this directory is not shared by the agent');
}

/** The real path of a request, if it exists. @throws PathRefused */
export async function existingPath(target: string, root: string, stripPrefix: string): Promise<ServedPath> {
  const shown = shownPath(target, stripPrefix);
  const path = await real404(join(root, shown));
  // A link may point anywhere.
  if (!isInside(root, path)) throw new PathRefused(404, 'not found');
  return { path, shown };
}

/** The path of a directory entry, which need not exist: its directory exists inside the root. @throws PathRefused */
export async function entryPath(target: string, root: string, stripPrefix: string): Promise<ServedPath> {
  const shown = shownPath(target, stripPrefix);
  const wanted = join(root, shown);
  const parent = await real404(dirname(wanted));
  if (!isInside(root, wanted) || wanted === root || !isInside(root, parent)) throw new PathRefused(404, 'not found');
  return { path: join(parent, basename(wanted)), shown };
}

function shownPath(target: string, stripPrefix: string): string {
  const [encoded = ''] = target.split('?', 1);
  let path: string;
  try {
    path = decodeURIComponent(encoded);
  } catch {
    throw new PathRefused(400, 'the path is not encoded as it should be');
  }
  if (!path.startsWith('/') || path.includes('\0') || path.includes('\\')) throw new PathRefused(400, 'not a path');
  if (path.split('/').some((segment) => segment === '..' || segment === '.')) throw new PathRefused(400, 'not a path');
  if (stripPrefix === '' || stripPrefix === '/') return path;
  const prefix = stripPrefix.replace(/\/$/, '');
  if (path === prefix) return '/';
  if (!path.startsWith(`${prefix}/`)) throw new PathRefused(404, 'not found');
  return path.slice(prefix.length);
}

async function real404(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    throw new PathRefused(404, 'not found');
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
