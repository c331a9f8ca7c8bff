import { describe, expect, it } from 'vitest';
import type { GroupInUse } from '../common/kernel-ipc.js';
import { mergeGroups, mergeStatus, mergeUsage } from './merge-answers.js';

const group = (now: string | null): GroupInUse => ({ name: 'PROXY', type: 'url-test', now, fixed: false });

describe('answers of several kernels', () => {
  it('show the member that most of them use', () => {
    expect(mergeGroups([[group('n1')], [group('n2')], [group('n2')]])).toEqual([group('n2')]);
    expect(mergeGroups([[group('n1')], []])).toEqual([group('n1')]);
  });

  it('add up what flows through each tag', () => {
    const use = (connections: number) => ({ connections, upload: connections * 10, download: connections * 100 });
    expect(mergeUsage([{ n1: use(1), DIRECT: use(2) }, { n1: use(3) }])).toEqual({ n1: use(4), DIRECT: use(2) });
  });

  it('add up counts and show the same listener once', () => {
    const listener = { name: 'mixed', type: 'mixed', address: '0.0.0.0', port: 7890, state: 'listening', error: null };
    const status = {
      generation: 3,
      configHash: 'x',
      startedAt: 5,
      listeners: [listener as never],
      activeConnections: 1,
      openedTotal: 2,
      failedTotal: 3,
      uploadTotal: 4,
      downloadTotal: 5,
      rssBytes: 6,
      flowFailuresTotal: 7,
    };
    const other = { ...status, startedAt: 4, listeners: [listener as never, { ...listener, address: '::' } as never] };
    expect(mergeStatus(status, [other])).toEqual({
      ...status,
      startedAt: 4,
      listeners: [listener, { ...listener, address: '::' }],
      activeConnections: 2,
      openedTotal: 4,
      failedTotal: 6,
      uploadTotal: 8,
      downloadTotal: 10,
      rssBytes: 12,
      flowFailuresTotal: 14,
    });
    expect(mergeStatus(status, [])).toBe(status);
  });
});
