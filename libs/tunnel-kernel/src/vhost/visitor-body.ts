import type { Readable } from 'node:stream';
import { TunnelError } from '../errors.js';

/** Reads a whole body. @throws TunnelError `overloaded` for one over `maxBytes`, `connection` for one that was cut. */
export function readWhole(source: Readable, maxBytes: number, onBytes: (count: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      onBytes(chunk.length);
      size += chunk.length;
      if (size <= maxBytes) return void parts.push(chunk);
      source.off('data', take);
      source.pause();
      reject(new TunnelError('overloaded', `a body over ${maxBytes} bytes`));
    };
    const cut = (): void => reject(new TunnelError('connection', 'the visitor is gone'));
    source.on('data', take);
    source.once('end', () => resolve(Buffer.concat(parts)));
    source.once('error', cut);
    source.once('close', cut);
  });
}
