import { randomBytes, randomUUID } from 'node:crypto';
import { withClient } from '@gatehouse/persistence/server';
import { eventuallyTrue } from '../trials/eventually-true.js';
import {
  authorize,
  newApplication,
  newMember,
  newShare,
  refreshRequest,
  shareBody,
  type Application,
  type Member,
} from './people.js';
import type { Chance } from '../trials/chance.js';
import type { Work } from './load.js';
import type { ReplicaClient } from './replica-client.js';
import type { Entrances } from './replica-set.js';

const MEMBERS = 6;
const PRICE = 3;
/** Less than what they buy, so that some are refused. */
const POINTS = 60;
const COUNTED_MS = 20_000;
/** The service's grace window: after it a used refresh token is refused. */
const GRACE_SECONDS = 20;
const QUOTA = "SELECT coalesce(sum(used), 0) AS found FROM quota_used WHERE key = 'u:' || $1";
const COUNTED = `SELECT coalesce(sum(success_calls), 0) AS found FROM usage_endpoint_daily
  WHERE user_id = $1 AND endpoint LIKE '%ping'`;

interface Chain {
  token: string;
  isTaken: boolean;
}

/** Members unlock what others share, share, are given points and call; their application refreshes its tokens. */
export class SharingWork implements Work {
  readonly name = 'resource-sharing';
  private readonly members: Member[] = [];
  private readonly shares: { slug: string; owner: Member }[] = [];
  private readonly chains: Chain[] = [];
  private readonly unlocked = new Set<string>();
  private readonly shared: string[] = [];
  private granted = 0;
  private pings = 0;
  /** By how much counts were wrong when that was last reported. */
  private readonly known = { counted: 0, used: 0 };
  private readonly contradictions: string[] = [];
  private application!: Application;
  private caller!: Member;

  private constructor(
    private readonly set: Entrances,
    private readonly administrator: ReplicaClient,
  ) {}

  static async prepare(set: Entrances, administrator: ReplicaClient): Promise<SharingWork> {
    const work = new SharingWork(set, administrator);
    work.application = await newApplication(administrator);
    work.caller = await newMember(administrator, 1);
    for (let count = 0; count < MEMBERS; count += 1) {
      const member = await newMember(administrator, POINTS);
      work.granted += POINTS;
      work.members.push(member);
      work.shares.push({ ...(await newShare(member, PRICE)), owner: member });
      work.chains.push({ token: await authorize(work.application, member), isTaken: false });
    }
    return work;
  }

  async step(turn: number, chance: Chance): Promise<void> {
    const choice = chance.below(6);
    if (choice <= 1) await this.unlock(turn, chance);
    else if (choice === 2) await this.share(turn, chance);
    else if (choice === 3) await this.grant(turn, chance);
    else if (choice === 4) await this.refresh(turn);
    else await this.ping(turn);
  }

  async brokenPromises(): Promise<string[]> {
    const url = this.set.options.databaseUrl;
    return await withClient(url, async (client) => {
      await client.query('SET search_path = resource_sharing');
      const column = async (sql: string, values: unknown[] = []): Promise<string[]> =>
        (await client.query<{ found: string }>(sql, values)).rows.map(({ found }) => String(found));
      const unlocks = new Set(
        await column(`SELECT user_id || ':' || replace(slug::text, '-', '') AS found
          FROM unlocks u JOIN shares s ON s.id = u.share_id`),
      );
      const links = await column('SELECT link_key AS found FROM shares WHERE link_key = ANY ($1)', [this.shared]);
      const ids = this.members.map(({ id }) => id);
      const [total] = await column('SELECT sum(balance) AS found FROM ledger_accounts WHERE user_id = ANY ($1)', [ids]);
      const count = async (sql: string, known: number): Promise<number> => {
        const sum = async (): Promise<number> => Number((await column(sql, [this.caller.id]))[0]) - known;
        // Counts are written once a second.
        await eventuallyTrue(async () => (await sum()) >= this.pings, COUNTED_MS);
        return sum();
      };
      const counted = await count(COUNTED, this.known.counted);
      const used = await count(QUOTA, this.known.used);
      this.known.counted += counted - this.pings;
      this.known.used += used - this.pings;
      return [
        ...this.contradictions.splice(0),
        ...[...this.unlocked].filter((pair) => !unlocks.has(pair)).map((pair) => `an unlock was forgotten: ${pair}`),
        ...(links.length === this.shared.length ? [] : [`${links.length} of ${this.shared.length} shares are there`]),
        ...(Number(total) === this.granted ? [] : [`points: ${this.granted} were given, ${total} are there`]),
        ...(used === this.pings ? [] : [`calls: ${this.pings} were answered, the quota has ${used}`]),
        ...(counted === this.pings ? [] : [`calls: ${this.pings} were answered, ${counted} are counted`]),
      ];
    });
  }

  private async unlock(turn: number, chance: Chance): Promise<void> {
    const buyer = chance.pick(this.members);
    const { slug, owner } = chance.pick(this.shares);
    if (owner === buyer) return this.ping(turn);
    const path = '/api/open/resources/unlock';
    const answers = await buyer.open.insistTwice(turn, chance, {
      method: 'POST',
      path,
      body: { slug },
      key: randomUUID(),
    });
    for (const { status } of answers) {
      if (status === 200) this.unlocked.add(`${buyer.id}:${slug.replaceAll('-', '')}`);
      else if (status !== 402) this.contradictions.push(`an unlock was answered ${status}`);
    }
  }

  private async share(turn: number, chance: Chance): Promise<void> {
    const owner = chance.pick(this.members);
    const id = randomBytes(16).toString('hex');
    const request = { method: 'POST', path: '/api/open/shares', body: shareBody(id, PRICE), key: randomUUID() };
    const answers = await owner.open.insistTwice(turn, chance, request);
    const slugs = new Set(answers.map(({ body }) => (body['data'] as { slug?: string } | null)?.slug));
    const [slug] = slugs;
    if (slugs.size !== 1 || slug === undefined) {
      this.contradictions.push(`one key to share had the answers ${answers.map(({ status }) => status).join(', ')}`);
      return;
    }
    this.shared.push(`115:${id}`);
    this.shares.push({ slug, owner });
  }

  private async grant(turn: number, chance: Chance): Promise<void> {
    const { id } = chance.pick(this.members);
    const body = { points: PRICE, ref: randomBytes(12).toString('hex'), note: 'sweep' };
    const request = { method: 'POST', path: `/api/site/admin/users/${id}/points`, body };
    const answers = await this.administrator.insistTwice(turn, chance, request);
    if (answers.every(({ status }) => status === 200)) this.granted += PRICE;
    else this.contradictions.push(`points were answered ${answers.map(({ status }) => status).join(', ')}`);
  }

  private async refresh(turn: number): Promise<void> {
    const chain = this.chains.find(({ isTaken }) => !isTaken);
    if (chain === undefined) return this.ping(turn);
    chain.isTaken = true;
    try {
      const began = performance.now();
      const { status, body } = await this.application.server.insist(turn, refreshRequest(chain.token));
      const tokens = body['data'] as { refresh_token?: string } | null;
      if (status === 200 && tokens?.refresh_token !== undefined) chain.token = tokens.refresh_token;
      else {
        // After the grace time a repeat ends the authorization, which is right: a thief might have had the first answer.
        const seconds = (performance.now() - began) / 1_000;
        if (seconds < GRACE_SECONDS) this.contradictions.push(`a refresh was answered ${status} after ${seconds} s`);
        const member = this.members[this.chains.indexOf(chain)];
        if (member !== undefined) chain.token = await authorize(this.application, member);
      }
    } finally {
      chain.isTaken = false;
    }
  }

  private async ping(turn: number): Promise<void> {
    const { status } = await this.caller.open.ask(turn, { method: 'GET', path: '/api/open/ping' });
    if (status === 200) this.pings += 1;
  }
}
