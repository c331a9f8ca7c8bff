import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deriveControlKey, makePrivateFolder, writePrivateOnce, type ControlKey } from '@gatehouse/net';
import type { ChannelKeyText } from './supervisor-calls.js';

const KEY_BYTES = 32;

const PURPOSE = 'tunnel-edge';

/** The key of the channel to a separate edge: both programs have GATEHOUSE_SECRET_KEY. */
export function separateChannelKey(secretKey: Buffer): ControlKey {
  return deriveControlKey(secretKey, PURPOSE);
}

/** The key of the connections between edges. */
export function peerKey(secretKey: Buffer): ControlKey {
  return deriveControlKey(secretKey, 'tunnel-peers');
}

export function textOfChannelKey({ identity, psk }: ControlKey): ChannelKeyText {
  return { identity, psk: psk.toString('base64') };
}

export function openChannelKey({ identity, psk }: ChannelKeyText): ControlKey {
  return { identity, psk: Buffer.from(psk, 'base64') };
}

/**
 * The key of the channel between a service and the edge of its home: anybody who can read the file can control the
 * edge.
 */
export function ownChannelKey(folder: string): ControlKey {
  return deriveControlKey(loadSecret(folder), PURPOSE);
}

function loadSecret(folder: string): Buffer {
  const file = join(folder, 'edge.key');
  const known = readKey(file);
  if (known) return known;
  makePrivateFolder(folder);
  writePrivateOnce(file, randomBytes(KEY_BYTES).toString('base64'));
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
