import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../bootstrap/layout.mjs';
import { isSetting, settingProblems } from './settings-check.js';

const SOURCES = [
  'libs/platform/src/settings/service-settings.ts',
  'libs/platform/src/settings/tracing-settings.ts',
  ...['proxy-gateway', 'resource-sharing', 'tunnel-gateway'].map((name) => `apps/${name}/src/settings.ts`),
];

describe('the check of all settings', () => {
  it('knows every variable that a service reads', () => {
    const variables = SOURCES.flatMap((file) => [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(/@(?:Variable|Port|PerUser)\(\s*'([A-Z_]+)'/g),
    ]).map((match) => match[1] ?? '');
    expect(variables.length).toBeGreaterThan(40);
    expect(variables.filter((variable) => !isSetting(variable))).toEqual([]);
    expect(['PATH', 'HOME', 'LANG', 'npm_config_cache'].filter(isSetting)).toEqual([]);
  });

  it.each([
    ['of the bundles', false],
    ['of the compiled files', true],
  ])('names what is wrong for any service, each once, by the code %s', async (_code, isUnbundled) => {
    const given = { LOG_LEVEL: 'loud', TUNNEL_EDGE_WORKERS: 'x', SITE_REGISTRATIONS_PER_HOUR: '-1' };
    const env = { PATH: process.env['PATH'], DATABASE_URL: 'postgresql://x/y', ...given };
    const problems = await settingProblems(env, given, isUnbundled);
    expect(problems.map((line) => line.split(':')[0]).toSorted()).toEqual(Object.keys(given).toSorted());
  });

  it('prints them in the language of the terminal', async () => {
    const given = { LOG_LEVEL: 'loud' };
    const env = { PATH: process.env['PATH'], DATABASE_URL: 'postgresql://x/y', LC_ALL: 'zh_CN.UTF-8', ...given };
    expect(await settingProblems(env, given)).toEqual([
      'LOG_LEVEL: "loud" 无效；要求：debug、info、warn、error、silent 之一',
    ]);
  });
});
