import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deriveControlKey, type ControlKey } from '@gatehouse/net';
import type { ChannelKeyText } from './keeper-calls.js';

const KEY_BYTES = 32;

const PURPOSE = 'tunnel-edge';

/** The key of the channel to an edge that runs on its own: both have GATEHOUSE_SECRET_KEY. */
export function separateChannelKey(secretKey: Buffer): ControlKey {
  return deriveControlKey(secretKey, PURPOSE);
}

export function textOfChannelKey({ identity, psk }: ControlKey): ChannelKeyText {
  return { identity, psk: psk.toString('base64') };
}

export function openChannelKey({ identity, psk }: ChannelKeyText): ControlKey {
  return { identity, psk: Buffer.from(psk, 'base64') };
}

/** The key of the channel between a service and the edge of its home: whoever may read the file may administrate it. */
export function ownChannelKey(folder: string): ControlKey {
  return deriveControlKey(loadSecret(folder), PURPOSE);
}

function loadSecret(folder: string): Buffer {
  const file = join(folder, 'edge.key');
  const known = readKey(file);
  if (known) return known;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600 });
  try {
    // It appears whole, and only once.
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const made = readKey(file);
  if (!made) throw new Error(`${file} is damaged: remove it`);
  return made;
}

function readKey(file: string): Buffer | null {
  try {
    const key = Buffer.from(readFileSync(file, 'utf8'), 'base64');
    return key.length === KEY_BYTES ? key : null;
  } catch {
    return null;
  }
}
