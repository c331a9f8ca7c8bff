import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bilingual, BilingualError, type Bilingual } from '@gatehouse/i18n';
import { makePrivateFolder, writePrivateOnce } from '@gatehouse/net';
import { withClient } from './pg-client.js';

const KEY_BYTES = 32;

/** The secret key is unusable; the text names the variable or file and gives advice. */
export class SecretKeyError extends BilingualError {
  override readonly name = 'SecretKeyError';

  constructor(english: string, chinese: string, options?: ErrorOptions) {
    super(bilingual(english, chinese), options);
  }
}

export interface SecretKeySource {
  /** GATEHOUSE_HOME. */
  home: string;
  /** Value of GATEHOUSE_SECRET_KEYS or GATEHOUSE_SECRET_KEY: one key, or several, newest first. Empty counts as unset. */
  envValue?: string | undefined;
}

/** The newest of the keys. */
export function loadSecretKey(source: SecretKeySource): Buffer {
  return loadSecretKeys(source)[0];
}

/**
 * The keys of the SecretBox, newest first: from the environment, else from `<home>/secret.key`, created at the first start.
 * Several keys are separated by commas or lines.
 */
export function loadSecretKeys(source: SecretKeySource): SecretKeys {
  return findSecretKeys(source) ?? [createKeyFile(source.home, fileOf(source.home))];
}

/** The same, or undefined if there is none yet: nothing is created. */
export function findSecretKeys({ home, envValue }: SecretKeySource): SecretKeys | undefined {
  if (envValue !== undefined && envValue !== '') {
    const name = envValue.includes(',') ? 'GATEHOUSE_SECRET_KEYS' : 'GATEHOUSE_SECRET_KEY';
    return decodeAll(envValue, bilingual(name, name), GENERATE);
  }
  return readKeyFile(fileOf(home));
}

/** Newest first. */
type SecretKeys = readonly [Buffer, ...Buffer[]];

/** An existing file was used: data that was stored with its key cannot be read with a new one. */
const PUT_BACK = bilingual(
  'put the file back from your backup, since a new key cannot read what was stored with the old one. ' +
    'Delete it only if there is no database yet',
  '请从备份中恢复该文件，因为新密钥无法读取用旧密钥存储的内容。只有在还没有数据库时才可删除它',
);
const GENERATE = bilingual('openssl rand -base64 32 makes one', 'openssl rand -base64 32 可生成一个');

/**
 * `usedTable` is the table that every first start writes to: an absent or empty one means a new database.
 * @throws SecretKeyError where a key would have to be made although the database was used with one before.
 */
export async function refuseLostSecretKey(source: SecretKeySource, url: string, usedTable: string): Promise<void> {
  if (!isSecretKeyMissing(source) || !(await hasRows(url, usedTable))) return;
  throw new SecretKeyError(
    `The secret key ${fileOf(source.home)} is missing, and the database was used with it: put the file back from your ` +
      'backup, or set GATEHOUSE_SECRET_KEY to the key. A new key could not read what was stored with the old one.',
    `缺少密钥文件 ${fileOf(source.home)}，而数据库曾使用过它：请从备份中恢复该文件，` +
      '或将 GATEHOUSE_SECRET_KEY 设为该密钥。新密钥无法读取用旧密钥存储的内容。',
  );
}

function isSecretKeyMissing({ home, envValue }: SecretKeySource): boolean {
  return (envValue === undefined || envValue === '') && !existsSync(fileOf(home));
}

async function hasRows(url: string, table: string): Promise<boolean> {
  return withClient(url, async (client) => {
    const present = await client.query<{ is: boolean }>('SELECT to_regclass($1) IS NOT NULL AS is', [table]);
    if (present.rows[0]?.is !== true) return false;
    const { rows } = await client.query<{ is: boolean }>(`SELECT EXISTS (SELECT FROM ${table}) AS is`);
    return rows[0]?.is === true;
  });
}

function fileOf(home: string): string {
  return join(home, 'secret.key');
}

function decodeAll(text: string, source: Bilingual, remedy: Bilingual): SecretKeys {
  const [first = '', ...others] = text.trim().split(/[\s,]+/);
  return [decode(first, source, remedy), ...others.map((other) => decode(other, source, remedy))];
}

function decode(text: string, source: Bilingual, remedy: Bilingual): Buffer {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, 'base64');
  if (key.length === KEY_BYTES && key.toString('base64').replace(/=+$/, '') === trimmed.replace(/=+$/, '')) return key;
  throw new SecretKeyError(
    `${source.en} must be ${KEY_BYTES} bytes in base64: ${remedy.en}.`,
    `${source['zh-CN']} 必须是 base64 编码的 ${KEY_BYTES} 字节：${remedy['zh-CN']}。`,
  );
}

function readKeyFile(file: string): SecretKeys | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SecretKeyError(
      `The secret key ${file} cannot be read: start as the user that owns it.`,
      `无法读取密钥文件 ${file}：请以其所有者的身份启动。`,
      { cause },
    );
  }
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    throw new SecretKeyError(
      `The secret key ${file} can be read by other users: run chmod 600 ${file}.`,
      `其他用户可以读取密钥文件 ${file}：请运行 chmod 600 ${file}。`,
    );
  }
  const source = text.trim() === '' ? bilingual(`${file} is empty and`, `${file} 是空的，`) : bilingual(file, file);
  return decodeAll(text, source, PUT_BACK);
}

function createKeyFile(home: string, file: string): Buffer {
  makePrivateFolder(home);
  const key = randomBytes(KEY_BYTES);
  try {
    if (writePrivateOnce(file, `${key.toString('base64')}\n`)) return key;
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new SecretKeyError(
      `The secret key ${file} cannot be created: ${reason}.`,
      `无法创建密钥文件 ${file}：${reason}。`,
      { cause },
    );
  }
  // Another service, starting at the same time, was first.
  const winner = readKeyFile(file);
  if (winner !== undefined) return winner[0];
  throw new SecretKeyError(
    `The secret key ${file} was taken away while this started.`,
    `密钥文件 ${file} 在启动过程中被移走。`,
  );
}
