import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { newMember } from './people.js';
import type { ReplicaClient } from './replica-client.js';

/** A statement without an answer is given up after 40 s; then the replica hears of what it missed. */
const BOUND_MS = 60_000;
const PAUSE_MS = 100;

/** Administrators of the services. */
export interface Administrators {
  proxy: ReplicaClient;
  site: ReplicaClient;
  tunnel: ReplicaClient;
}

/** A change made at one replica, and whether the other acts by it: not by reading the row, but from what it keeps. */
interface View {
  name: string;
  /** Makes the change at one replica; resolves with what says whether the other one knows of it. */
  change(from: number, to: number): Promise<() => Promise<boolean>>;
}

function viewsOf({ proxy, site, tunnel }: Administrators): View[] {
  return [
    {
      name: "a rule in the other replica's kernel",
      change: async (from, to) => {
        const host = `${randomBytes(8).toString('hex')}.view.example`;
        const body = { type: 'DOMAIN', payload: host, target: 'REJECT' };
        await proxy.call({ method: 'POST', path: '/api/v1/rules', body }, from);
        const asked = { method: 'POST', path: '/api/v1/rules/test', body: { url: `http://${host}/` } };
        return async () => JSON.stringify((await proxy.ask(to, asked)).body).includes('REJECT');
      },
    },
    {
      name: 'a personal key that was taken back',
      change: async (from, to) => {
        const { site: owner, open } = await newMember(site, 1);
        const ping = { method: 'GET', path: '/api/open/ping' };
        // The other replica has it in its cache from now on.
        await open.call(ping, to);
        const keys = await owner.call<{ data: { id: number }[] }>({ method: 'GET', path: '/api/site/keys' }, from);
        const path = `/api/site/keys/${keys.data[0]?.id}`;
        await owner.call({ method: 'DELETE', path }, from);
        return async () => (await open.ask(to, ping)).status === 401;
      },
    },
    {
      name: 'a user who was shut out',
      change: async (from, to) => {
        const login = { username: `view-${randomBytes(6).toString('hex')}`, password: randomBytes(12).toString('hex') };
        const { id } = await tunnel.call<{ id: number }>({ method: 'POST', path: '/api/v1/users', body: login }, from);
        const anonymous = tunnel.as({ authorization: '' });
        const path = '/api/v1/auth/login';
        const { token } = await anonymous.call<{ token: string }>({ method: 'POST', path, body: login }, to);
        const user = tunnel.as({ authorization: `Bearer ${token}` });
        const look = { method: 'GET', path: '/api/v1/clients' };
        await user.call(look, to);
        await tunnel.call({ method: 'PATCH', path: `/api/v1/users/${id}`, body: { status: 0 } }, from);
        return async () => (await user.ask(to, look)).status === 401;
      },
    },
  ];
}

/** The slowest of all changes in both directions, in milliseconds, and those that were not known in time. */
export async function seeEachOther(administrators: Administrators): Promise<{ slowestMs: number; unseen: string[] }> {
  const unseen: string[] = [];
  let slowestMs = 0;
  const views = viewsOf(administrators).flatMap((view) => [
    { view, from: 0, to: 1 },
    { view, from: 1, to: 0 },
  ]);
  await Promise.all(
    views.map(async ({ view, from, to }) => {
      const isKnown = await view.change(from, to);
      const changedAt = performance.now();
      for (;;) {
        const known = await isKnown();
        const tookMs = performance.now() - changedAt;
        slowestMs = Math.max(slowestMs, tookMs);
        if (known) return;
        if (tookMs > BOUND_MS) return void unseen.push(`${view.name}, from replica ${from + 1} to ${to + 1}`);
        await delay(PAUSE_MS);
      }
    }),
  );
  return { slowestMs, unseen };
}
