import { readFileSync } from 'node:fs';
import { StartError } from '../errors/start-error.js';
import type { ServiceSettings } from './service-settings.js';

/** Options for an ioredis client besides REDIS_URL. */
export interface RedisOptions {
  /**
   * The authority that must have signed the certificate of a `rediss://` server; absent: an authority of the system.
   */
  tls?: { ca: string };
}

/** Reads REDIS_CA_FILE. @throws StartError if it cannot be read or would not be used. */
export function redisOptions({
  redisUrl,
  redisCaFile,
}: Readonly<Pick<ServiceSettings, 'redisUrl' | 'redisCaFile'>>): RedisOptions {
  if (redisCaFile === undefined || redisUrl === undefined) return {};
  if (!redisUrl.startsWith('rediss://')) {
    throw new StartError(
      'REDIS_CA_FILE: REDIS_URL begins with redis://, which is not encrypted; write rediss://',
      'REDIS_CA_FILE: REDIS_URL 以 redis:// 开头，连接未加密；请改为 rediss://',
    );
  }
  try {
    return { tls: { ca: readFileSync(redisCaFile, 'utf8') } };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartError(
      `REDIS_CA_FILE: ${redisCaFile} cannot be read (${code})`,
      `REDIS_CA_FILE: 无法读取 ${redisCaFile}（${code}）`,
      { cause },
    );
  }
}
