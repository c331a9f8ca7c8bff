import { parseSubscription } from '@gatehouse/subscription-formats';
import { describe, expect, it } from 'vitest';
import { testParser } from '../../test/support/document-parser.js';
import { DocumentParser } from './document-parser.js';

const list = (count: number) =>
  Buffer.from(Array.from({ length: count }, (_, i) => `trojan://p@h${i}.example:443#n${i}\nnonsense ${i}`).join('\n'));

describe('DocumentParser', () => {
  it.each([1, 200, 5_000])('gives the same result as the parser for %i entries, in a thread or not', async (count) => {
    const document = list(count);
    const expected = parseSubscription(document);
    const result = await testParser().parse(document, {});
    expect(result.nodes.map(({ line, node, fingerprint }) => [line, node, fingerprint])).toEqual(
      expected.nodes.map(({ line, node, fingerprint }) => [line, node, fingerprint]),
    );
    expect({ ...result, nodes: [] }).toEqual({ ...expected, nodes: [] });
  });

  it('passes on errors and options too', async () => {
    expect((await testParser().parse(list(1_000), { maxEntries: 10 })).error?.code).toBe('too_many_entries');
    const document = Buffer.from(`${'# padding\n'.repeat(5_000)}proxies: []\nrules:\n  - MATCH,DIRECT\n`);
    expect((await testParser().parse(document, { profile: true })).profile?.rules).toEqual(['MATCH,DIRECT']);
  });

  it('parses several documents one after the other', async () => {
    const parser = testParser();
    const results = await Promise.all([500, 600, 700].map((count) => parser.parse(list(count), {})));
    expect(results.map(({ nodes }) => nodes.length)).toEqual([500, 600, 700]);
  });

  it('continues when a thread cannot start or dies', async () => {
    const broken = new DocumentParser(new URL('../subscriptions/there-is-no-such-file.ts', import.meta.url));
    await expect(broken.parse(list(1_000), {})).rejects.toThrow();
    const silent = new DocumentParser(new URL('../../test/support/typescript-sources.mjs', import.meta.url));
    await expect(silent.parse(list(1_000), {})).rejects.toMatchObject({ reason: 'parse_error' });
    expect((await broken.parse(list(1), {})).nodes).toHaveLength(1);
  });
});
