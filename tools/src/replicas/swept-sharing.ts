import {
  authorize,
  codeRequest,
  newApplication,
  newMember,
  newShare,
  refreshRequest,
  shareBody,
  siteAdministrator,
  type Application,
  type Member,
} from './people.js';
import type { AnswerLog, ReplicaAnswer, ReplicaClient } from './replica-client.js';
import type { ReplicaSet } from './replica-set.js';
import { countRows, isGone, type Round, type SweptOperation } from './swept-round.js';

const POINTS = 5;
const PLENTY = 100_000;

type Prepare = SweptOperation['prepare'];

/** What the operations share. */
interface Parties {
  url: string;
  administrator: ReplicaClient;
  application: Application;
  buyer: Member;
  sharer: Member;
}

/** Operations of points, shares and tokens. */
export async function sharingOperations(set: ReplicaSet, answerLog: AnswerLog): Promise<SweptOperation[]> {
  const administrator = await siteAdministrator(set, answerLog);
  const parties: Parties = {
    url: set.options.databaseUrl,
    administrator,
    application: await newApplication(administrator),
    buyer: await newMember(administrator, PLENTY),
    sharer: await newMember(administrator, PLENTY),
  };
  const operations: [string, Prepare][] = [
    ['unlock a share for points', unlocking(parties)],
    ['share a link', sharing(parties)],
    ['withdraw a share', takingBack(parties)],
    ['transfer points', giving(parties)],
    ['check in', checkingIn(parties)],
    ['exchange a code', exchanging(parties)],
    ['refresh tokens', refreshing(parties, await authorize(parties.application, parties.buyer))],
  ];
  return operations.map(([name, prepare]) => ({ name, service: 'resource-sharing', prepare }));
}

const unlocking = ({ url, buyer, sharer }: Parties): Prepare => {
  const debits = `resource_sharing.ledger_transactions t JOIN resource_sharing.shares s
    ON t.kind = 'unlock' AND t.ref = $1 || ':' || s.id WHERE replace(s.slug::text, '-', '') = replace($2, '-', '')`;
  return async (id) => {
    const { slug } = await newShare(sharer, POINTS);
    return {
      client: buyer.open,
      request: { method: 'POST', path: '/api/open/resources/unlock', body: { slug }, key: id },
      effects: () => countRows(url, debits, [String(buyer.id), slug]),
    };
  };
};

const sharing =
  ({ url, sharer }: Parties): Prepare =>
  (id) =>
    Promise.resolve({
      client: sharer.open,
      request: { method: 'POST', path: '/api/open/shares', body: shareBody(id, POINTS), key: id },
      effects: () => countRows(url, 'resource_sharing.shares WHERE link_key LIKE $1', [`%${id}%`]),
    });

/** Its fee is paid once. */
const takingBack = ({ url, sharer }: Parties): Prepare => {
  const fees = (): Promise<number> =>
    countRows(
      url,
      `resource_sharing.ledger_transactions t JOIN resource_sharing.ledger_entries e ON e.transaction_id = t.id
        WHERE t.kind = 'share_deletion' AND e.user_id = $1`,
      [sharer.id],
    );
  return async () => {
    const { slug } = await newShare(sharer, POINTS);
    const before = await fees();
    return {
      client: sharer.open,
      request: { method: 'DELETE', path: `/api/open/shares/${slug}` },
      effects: async () => (await fees()) - before,
      isDone: isGone,
    };
  };
};

const giving = ({ administrator, sharer }: Parties): Prepare => {
  const path = `/api/site/admin/users/${sharer.id}`;
  const balance = async (): Promise<number> =>
    (await administrator.call<{ data: { points: number } }>({ method: 'GET', path }, 1)).data.points;
  return async (id) => {
    const before = await balance();
    return {
      client: administrator,
      request: { method: 'POST', path: `${path}/points`, body: { points: POINTS, ref: id, note: 'sweep' } },
      effects: async () => ((await balance()) - before) / POINTS,
    };
  };
};

/** Once a day, so each round is that of a new member. */
const checkingIn = ({ url, administrator }: Parties): Prepare => {
  const paid = `resource_sharing.check_ins c JOIN resource_sharing.ledger_transactions t
    ON t.kind = 'check_in' AND t.ref = c.user_id || ':' || c.day WHERE c.user_id = $1`;
  return async (id) => {
    const member = await newMember(administrator, POINTS, true);
    return {
      client: member.open,
      request: { method: 'POST', path: '/api/open/checkin', key: id },
      effects: () => countRows(url, paid, [member.id]),
    };
  };
};

/**
 * A code that comes a second time ends its authorization (RFC 6749 section 4.1.2), also when it comes from a client that
 * did not hear the first answer: then no token is left, and the person is asked again.
 */
const exchanging = ({ url, administrator, application }: Parties): Prepare => {
  const live = `resource_sharing.refresh_tokens r JOIN resource_sharing.grants g ON g.id = r.grant_id
    WHERE g.user_id = $1 AND g.revoked_at IS NULL AND r.consumed_at IS NULL`;
  const isRefused = ({ status, body }: ReplicaAnswer): boolean =>
    status === 400 && JSON.stringify(body).includes('invalid_grant');
  return async () => {
    const member = await newMember(administrator, POINTS);
    return {
      client: application.server,
      request: await codeRequest(application, member),
      effects: async (answer) => (isRefused(answer) ? 1 : 0) + (await countRows(url, live, [member.id])),
      isDone: (answer) => answer.status === 200 || isRefused(answer),
    };
  };
};

/** Each round goes on with the token that the former one was given. */
const refreshing = ({ url, application, buyer }: Parties, firstToken: string): Prepare => {
  let token = firstToken;
  const live = `resource_sharing.refresh_tokens r JOIN resource_sharing.grants g ON g.id = r.grant_id
    WHERE g.user_id = $1 AND r.consumed_at IS NULL`;
  return () =>
    Promise.resolve<Round>({
      client: application.server,
      request: refreshRequest(token),
      effects: ({ body }) => {
        token = (body['data'] as { refresh_token: string }).refresh_token;
        return countRows(url, live, [buyer.id]);
      },
    });
};
