import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { HostRig } from '../../test/host-rig.js';
import type { TracedVisit } from './visit-traces.js';

const OWN = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01', tracestate: 'gate=1' };
const THEIRS = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1' };

interface Observed {
  visit: TracedVisit;
  status: number | null;
  failure: string | null;
}

let rig: HostRig;
let seen: IncomingHttpHeaders[];
let ended: Observed[];
beforeEach(() => {
  seen = [];
  ended = [];
});
afterEach(() => rig.close());

async function start(isTraced: boolean): Promise<void> {
  rig = await HostRig.start(
    isTraced
      ? {
          trace: (visit) => ({
            fields: Object.entries(OWN).flat(),
            end: (status, failure) => void ended.push({ visit, status, failure }),
          }),
        }
      : {},
  );
  const target = await rig.origin((asked, response) => {
    seen.push(asked.headers);
    if (asked.url === '/shop/cut') response.write('begun', () => response.destroy());
    else response.writeHead(asked.url === '/shop/fails' ? 500 : 200).end('served');
  });
  await rig.serve(rig.hostConfig([target], { location: '/shop' }), rig.hostConfig([1], { id: 13, location: '/' }));
}

describe('a visit that is traced', () => {
  it('tells the target to continue the trace of the gateway, not that of the visitor', async () => {
    await start(true);
    expect((await rig.ask({ path: '/shop/a?b', headers: { ...THEIRS, 'x-other': 'kept' } })).status).toBe(200);
    expect(seen).toMatchObject([{ ...OWN, 'x-other': 'kept' }]);
    await waitFor(() => ended.length > 0);
    const { clientId } = rig.hostConfig([]);
    const visit = {
      hostId: 12,
      clientId,
      host: 'a.test',
      location: '/shop',
      method: 'GET',
      scheme: 'http',
      version: '1.1',
    };
    expect(ended).toEqual([{ visit: { ...visit, ...THEIRS }, status: 200, failure: null }]);
    expect((await rig.ask({ path: '/shop' })).status).toBe(200);
    await waitFor(() => ended.length > 1);
    expect(ended[1]?.visit).toEqual({ ...visit, traceparent: undefined, tracestate: undefined });
    expect(seen[1]).toMatchObject(OWN);
  });

  it.each([
    ['/shop/fails', 500, null],
    ['/elsewhere', 502, null],
  ])('of %s ends with %s', async (path, status, failure) => {
    await start(true);
    expect((await rig.ask({ path })).status).toBe(status);
    await waitFor(() => ended.length > 0);
    expect(ended).toMatchObject([{ status, failure }]);
  });

  it('whose answer the target cuts off says so', async () => {
    await start(true);
    await expect(rig.ask({ path: '/shop/cut' })).rejects.toThrow();
    await waitFor(() => ended.length > 0);
    expect(ended).toMatchObject([{ status: 200, failure: 'remote_error' }]);
  });
});

describe('a visit that is not traced', () => {
  it('gives the target the trace of the visitor as it came', async () => {
    await start(false);
    expect((await rig.ask({ path: '/shop', headers: THEIRS })).status).toBe(200);
    expect(seen).toMatchObject([THEIRS]);
  });
});
