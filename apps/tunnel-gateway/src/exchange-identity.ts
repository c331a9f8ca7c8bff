import 'reflect-metadata';
import { createSecretBox, loadSecretKeys } from '@gatehouse/persistence';
import { runCommand, StartError } from '@gatehouse/platform';
import { SERVICE_NAME } from './service-version.js';
import { EdgeDatabase } from './common/edge-database.js';
import {
  exchangeIdentity,
  identityStatus,
  prepareIdentity,
  retireFormerIdentity,
  type IdentitySources,
} from './edge-host/server-identity.js';
import { readSettings } from './settings.js';

const USAGE = `Say what to do: prepare (makes the next key), exchange (puts it in the place of the one in use, which is shown
for 30 days more to agents that know no other; exchange 7: for 7 days), retire (ends that time) or status.`;
const USAGE_CHINESE = `请指定操作：prepare（生成下一个密钥）、exchange（用它替换当前密钥；只知道旧密钥的客户端在 30 天内仍能看到旧密钥，
exchange 7 则为 7 天）、retire（提前结束这段时间）或 status。`;
const FORMER_DAYS = 30;
const MAX_FORMER_DAYS = 365;

type Sources = Omit<IdentitySources, 'file'>;

const STEPS: Readonly<Record<string, (sources: Sources, days: number) => Promise<string[]>>> = {
  prepare: async (sources) => {
    const [current, next] = await prepareIdentity(sources);
    return [`key in use: ${current}`, `next key: ${next}`];
  },
  exchange: async (sources, days) => {
    const now = await exchangeIdentity(sources, days);
    if (now === null) {
      throw new StartError(
        'There is no next key: run prepare first, and give agents time to learn it.',
        '没有下一个密钥：请先运行 prepare，并等待客户端获知它。',
      );
    }
    return status(sources);
  },
  retire: async (sources) => {
    const former = await retireFormerIdentity(sources);
    if (former === null) {
      throw new StartError(
        'There is no former key: none is shown beside the one in use.',
        '没有旧密钥：除当前密钥外没有显示其他密钥。',
      );
    }
    return [`no longer shown: ${former}`, ...(await status(sources))];
  },
  status,
};

/** Replaces the key that agents identify the gateway by. The service and its edges use the new one after a restart. */
await runCommand(SERVICE_NAME, async () => {
  const { databaseUrl, home, secretKey: envValue } = readSettings();
  const [name = '', text] = process.argv.slice(2);
  const step = STEPS[name];
  const days = text === undefined ? FORMER_DAYS : Number(text);
  if (!step || (text !== undefined && name !== 'exchange')) throw new StartError(USAGE, USAGE_CHINESE);
  if (!Number.isInteger(days) || days < 0 || days > MAX_FORMER_DAYS) {
    throw new StartError(
      `days: ${text} must be a number from 0 to ${MAX_FORMER_DAYS}`,
      `days: ${text} 必须是 0 到 ${MAX_FORMER_DAYS} 的数字`,
    );
  }
  const queries = new EdgeDatabase(databaseUrl);
  try {
    return await step({ queries, box: createSecretBox(loadSecretKeys({ home, envValue })) }, days);
  } finally {
    await queries.close();
  }
});

async function status(sources: Pick<Sources, 'queries'>): Promise<string[]> {
  const known = await identityStatus(sources);
  if (!known) return ['no key yet: the gateway makes one when it starts'];
  const { current, next, former } = known;
  return [
    `key in use: ${current}`,
    ...(next === null ? [] : [`next key: ${next}`]),
    ...(former === null ? [] : [`former key: ${former.fingerprint}, shown until ${former.until.toISOString()}`]),
  ];
}
