import { accessSync, constants, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { PlainFailure } from './failure.mjs';

function userName() {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`; // a container user without an entry in the user database
  }
}

/** Creates the folders where needed and makes sure that this user can write to them. */
export function ensureWritable(folders, purpose) {
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK | constants.X_OK);
    } catch (cause) {
      throw new PlainFailure(
        `the folder ${folder} is not writable for ${userName()} (${cause.code}), and ${purpose}.`,
        {
          advice: ['Give this user the folder (chown), or work in a copy that belongs to this user.'],
          cause,
        },
      );
    }
  }
}
