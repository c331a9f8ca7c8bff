import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, writePrivateOnce } from '@gatehouse/net';

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of the edge of a home: it stays the same when the edge's processes are replaced. */
export function edgeIdOf(folder: string): string {
  const file = join(folder, 'edge.id');
  const known = readId(file);
  if (known !== null) return known;
  makePrivateFolder(folder);
  writePrivateOnce(file, randomUUID());
  const made = readId(file);
  if (made === null) throw new Error(`${file} is damaged: remove it`);
  return made;
}

function readId(file: string): string | null {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return ID.test(text) ? text : null;
  } catch {
    return null;
  }
}
