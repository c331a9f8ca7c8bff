import { findPeer, peerOrSkip } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { makeHome } from '../trials/own-platform.js';
import { isClean, type Replacement } from './replace.js';
import { ScaleStage } from './scale-stage.js';

it('replaces every process of a small fleet under load without a failed request, a refused visitor or a cut flow; a killed kernel costs its own flows', async ({
  skip,
}) => {
  const haproxy = peerOrSkip('haproxy') ?? skip('haproxy is not installed: npm run peers');
  const { home, remove } = makeHome();
  const rows: Replacement[] = [];
  try {
    await using stage = await ScaleStage.open({
      home,
      haproxy,
      redisProgram: findPeer('redis-server'),
      shape: { 'proxy-gateway': 2, 'resource-sharing': 1, 'tunnel-gateway': 1, kernel: 2, edge: 2 },
      say: () => undefined,
    });
    for await (const row of stage.replaceAll()) {
      rows.push(row);
      if (!isClean(row)) console.error(row, stage.failures);
    }
    expect(stage.failures).toEqual([]);
    expect(rows.map(({ name }) => name)).toEqual([
      'proxy-gateway 1',
      'proxy-gateway 2',
      'kernel 1',
      'kernel 2',
      'edge 1',
      'edge 2',
    ]);
    expect(await stage.kill('kernel')).toEqual(['kernel 2']);
  } finally {
    remove();
  }
  expect(rows.filter((row) => !isClean(row))).toEqual([]);
}, 600_000);
