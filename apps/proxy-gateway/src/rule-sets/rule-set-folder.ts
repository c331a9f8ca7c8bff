import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ProxyGatewaySettings } from '../settings.js';
import { RuleSetFailure } from './rule-set-failure.js';

const RULE_SET_FOLDER = 'rule-sets';

/** Reads files that users put into the service's folder, and no others. */
@Injectable()
export class RuleSetFolder {
  constructor(private readonly settings: ProxyGatewaySettings) {}

  /**
   * @param path relative to the folder. The file must be inside the folder after following all links.
   * @throws RuleSetFailure `file_error`, `too_large`.
   */
  async read(path: string, maxBytes: number): Promise<Buffer> {
    const file = await this.locate(path);
    try {
      // The file may have been replaced since the check: a link must not be followed, and a pipe must not block.
      await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      return await readBounded(handle, maxBytes);
    } catch (error) {
      throw toFailure(error);
    }
  }

  private async locate(path: string): Promise<string> {
    try {
      const folder = await realpath(join(this.settings.home, RULE_SET_FOLDER));
      const file = await realpath(join(folder, path));
      const inside = relative(folder, file);
      if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) throw outside();
      return file;
    } catch (error) {
      throw toFailure(error);
    }
  }
}

async function readBounded(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  if (!(await handle.stat()).isFile()) throw new RuleSetFailure('file_error', 'The path is not a file.');
  const parts: Buffer[] = [];
  let size = 0;
  // The file may have grown since its size was read.
  for await (const part of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) throw new RuleSetFailure('too_large', `The file is larger than ${maxBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

function outside(): RuleSetFailure {
  return new RuleSetFailure('file_error', `The path leads out of the folder ${RULE_SET_FOLDER}.`);
}

/** Reports the code only, so that nothing is revealed about files outside the folder. */
function toFailure(error: unknown): RuleSetFailure {
  if (error instanceof RuleSetFailure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new RuleSetFailure('file_error', `There is no such file in the folder ${RULE_SET_FOLDER}.`, {
      cause: error,
    });
  }
  return new RuleSetFailure('file_error', `The file cannot be read${code === '' ? '' : ` (${code})`}.`, {
    cause: error,
  });
}
