import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { formatHostPort } from '../host-name.js';

/** Longest path of a Unix socket, with a margin: `sun_path` has 108 bytes on Linux and 104 on macOS. */
const MAX_PATH_BYTES = 100;

/** Where a control channel is: a Unix socket, or an address and port between containers. */
export type ControlEndpoint = { path: string } | { host: string; port: number };

/** `/run/kernel.sock`, `unix:/run/kernel.sock`, `kernel:7891`, `0.0.0.0:7891`, `[::1]:7891`; null for anything else. */
export function parseControlEndpoint(text: string): ControlEndpoint | null {
  const path = text.replace(/^unix:(?=\/)/, '');
  if (path.startsWith('/')) return /[\0\n]/.test(path) ? null : { path };
  const [, bracketed, name, digits = ''] = /^(?:\[([^\]]+)\]|([^:\s/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (bracketed !== undefined && !isIPv6(bracketed))) return null;
  return { host, port };
}

export function formatControlEndpoint(endpoint: ControlEndpoint): string {
  return 'path' in endpoint ? endpoint.path : formatHostPort(endpoint.host, endpoint.port);
}

/**
 * The socket between the processes of one user: `<name>.sock` in `folder`, which must belong to that user alone. If that
 * path is too long for a socket, a private folder among the temporary files is used.
 */
export function localControlEndpoint(folder: string, name: string): { path: string } {
  const hash = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\gatehouse-${name}-${hash}` };
  const path = join(folder, `${name}.sock`);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path };
  return { path: join(privateFolder(join(tmpdir(), `gatehouse-${userInfo().uid}`)), `${hash}.sock`) };
}

/** @throws Error when the folder exists and belongs to another user, or others have access to it. */
function privateFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(folder);
  if (uid !== userInfo().uid || (mode & 0o077) !== 0) {
    throw new Error(`${folder} must belong to this user, mode 0700`);
  }
  return folder;
}
