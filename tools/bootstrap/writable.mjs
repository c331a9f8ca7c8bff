import { accessSync, constants } from 'node:fs';
import { userInfo } from 'node:os';
import { explainFullDisk, PlainFailure } from './failure.mjs';
import { makePrivateFolder } from './private-files.mjs';
import { localized } from './language.mjs';

function userName() {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`; // a container user without an entry in the user database
  }
}

const REMEDIES = {
  EROFS: localized(
    'Its file system can only be read: mount it for writing, or choose another folder.',
    '该文件系统为只读：请以可写方式挂载，或使用其他文件夹。',
  ),
};

/**
 * Creates the folders where needed, for this user alone, and makes sure that this user can write to them. As root others
 * may pass through, since PostgreSQL runs under an account of its own.
 */
export function ensureWritable(folders, purpose) {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  for (const folder of folders) {
    try {
      makePrivateFolder(folder, mode);
      accessSync(folder, constants.W_OK | constants.X_OK);
    } catch (cause) {
      const explained = explainFullDisk(cause, folder);
      if (explained instanceof PlainFailure) throw explained;
      throw new PlainFailure(
        localized(
          `the folder ${folder} is not writable for ${userName()} (${cause.code}), and ${purpose}.`,
          `用户 ${userName()} 无法写入文件夹 ${folder}（${cause.code}）：${purpose}。`,
        ),
        {
          advice: [
            REMEDIES[cause.code] ??
              localized(
                'Give this user the folder (chown -R), or work in a copy that belongs to this user.',
                '请将该文件夹的所有者改为此用户（chown -R），或使用属于此用户的副本。',
              ),
          ],
          cause,
        },
      );
    }
  }
}
