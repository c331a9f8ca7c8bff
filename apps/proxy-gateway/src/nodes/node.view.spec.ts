import { expect, it } from 'vitest';
import { toNodeView, type NodeRow, type NodeSourceRow } from './node.view.js';
import { OpenedNode } from './opened-nodes.js';

it('shows times in UTC with milliseconds, whatever the time zone of the database, and when it was last seen', () => {
  const source = (id: number, last_success_at: string | null): NodeSourceRow => ({
    subscription_id: id,
    name: 'n',
    subscription_name: `s${id}`,
    last_success_at,
  });
  const row = {
    createdAt: '2026-11-29T05:30:00.123456+05:30',
    updatedAt: '2026-11-28T19:00:00-05:00',
    country: null,
    error_code: null,
    circuitOpenSince: '2026-11-29T00:00:01+00:00',
    last_tested_at: '2026-11-29T08:00:00.5+08:00',
    // Compared as the database writes them, the second would be the last one.
    sources: [source(3, null), source(5, '2026-11-29T09:00:00+08:00'), source(8, '2026-11-29T02:00:00+00:00')],
  } as unknown as NodeRow;
  expect(toNodeView(row, { opened: new OpenedNode(null), activeConnections: null, showSecrets: false })).toMatchObject({
    created_at: '2026-11-29T00:00:00.123Z',
    first_seen_at: '2026-11-29T00:00:00.123Z',
    updated_at: '2026-11-29T00:00:00.000Z',
    circuit_open_since: '2026-11-29T00:00:01.000Z',
    last_tested_at: '2026-11-29T00:00:00.500Z',
    last_seen_at: '2026-11-29T02:00:00.000Z',
    subscription_id: 3,
    sources: [{ subscription_id: 3 }, { subscription_id: 5 }, { subscription_id: 8 }],
  });
});
