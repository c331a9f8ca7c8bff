// Paid unlocks: random buyers and shares, a third of them between few accounts that pay each other crosswise.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, startScript } from '../processes.mjs';
import { figure, printTable, quantile } from '../table.mjs';
import { startResourceSharing } from './service.mjs';

const TARGET = 3_000;
const USERS = 500;
const HOT_USERS = 50;
const SHARES_OF_EACH = 60;
const PRICE = 3;
const PARALLEL = 16;
/** On each connection before it is measured: at first it plans every statement of the functions. */
const WARM = 50;
const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));
/** As the service sends one that has a transaction to itself. */
const CALL = {
  name: 'unlock_share',
  text: 'SELECT outcome, points FROM unlock_share($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
};

export async function run({ seconds }) {
  const service = await startResourceSharing({ processes: 2 });
  try {
    const { rows: settings } = await service.query('SHOW synchronous_commit');
    const market = await prepare(service);
    // Only what has rows: a plan that was made for a table known to be empty reads all of it when it has grown.
    await service.query(
      'VACUUM ANALYZE site_accounts, credentials, shares, ledger_accounts, ledger_transactions, ledger_entries',
    );
    const rows = [await atDatabase(service, market, seconds)];
    // Calls that come at the same time share transactions: how many there are matters.
    for (const connections of [PARALLEL, 4 * PARALLEL]) {
      rows.push(await overHttp(service, market, { seconds, connections }));
    }
    console.log(`paid unlocks, synchronous_commit = ${settings[0].synchronous_commit}, target ${TARGET}/s on 2 cores`);
    printTable(
      'unlocks',
      [
        ['paid unlocks', (row) => row.name],
        ['unlocks/s', (row) => Math.round(row.unlocks / row.seconds)],
        ['other answers', (row) => row.others],
        ['p50 ms', (row) => figure(quantile(row.waits, 0.5), 1)],
        ['p99 ms', (row) => figure(quantile(row.waits, 0.99), 1)],
        ['CPU µs/unlock: PostgreSQL', (row) => Math.round((row.postgresCpu / row.unlocks) * 1e6)],
        ['service', (row) => Math.round((row.serviceCpu / row.unlocks) * 1e6)],
        ['so 2 cores do', (row) => `${Math.round((2 * row.unlocks) / (row.postgresCpu + row.serviceCpu))}/s`],
      ],
      rows,
    );
    await checkBooks(service);
    // The machine is shared: what two cores of its own would do follows from the CPU time.
    return rows.filter((row) => (2 * row.unlocks) / (row.postgresCpu + row.serviceCpu) < TARGET).length;
  } finally {
    await service.end();
  }
}

/** Users with points and keys, and shares of theirs. */
async function prepare(service) {
  const { rows } = await service.query(
    `INSERT INTO site_accounts (username, nickname, password_hash)
     SELECT 'bench-' || i, 'bench', 'none' FROM generate_series(1, $1) i RETURNING id`,
    [USERS],
  );
  const ids = rows.map(({ id }) => Number(id));
  // What a user may do in a minute is not what is measured; that it is counted is.
  await service.query(`UPDATE risk_settings SET unlocks_per_minute = 1000000, unlocks_per_hour = 1000000,
    paid_unlocks_per_hour = 1000, unseen_sample = 1000`);
  await service.query(`UPDATE quota_profiles SET app_per_minute = 10000000, app_burst_per_second = 1000000,
    app_address_per_minute = 10000000, user_per_minute = 10000000, app_per_day = 100000000, user_per_day = 100000000,
    addresses_per_day = NULL, group_per_minute = '{"unlock": 10000000}'`);
  await service.query(
    "SELECT ledger_transfer('grant', 'bench ' || id, NULL, id, 'grants', 1000000) FROM unnest($1::bigint[]) id",
    [ids],
  );
  const { rows: shares } = await service.query(
    `WITH title AS (INSERT INTO titles (media_type, tmdb_id) VALUES ('movie', '550') RETURNING id)
     INSERT INTO shares (owner_id, movie_id, kind, link_key, url, access_code, unlock_points)
     SELECT owner, title.id, '115', '115:' || owner || 'x' || n, 'https://115.com/s/' || owner || 'x' || n, 'a1b2', $2
     FROM title, unnest($1::bigint[]) owner, generate_series(1, $3) n RETURNING slug, owner_id`,
    [ids, PRICE, SHARES_OF_EACH],
  );
  const sharers = shares.map(({ slug, owner_id: owner }) => ({ slug, owner: Number(owner) }));
  const hot = new Set(ids.slice(0, HOT_USERS));
  return {
    ids,
    keys: await service.personalKeys(ids),
    shares: sharers,
    hotShares: sharers.filter(({ owner }) => hot.has(owner)),
    done: new Set(),
  };
}

/** A pair that nobody unlocked yet: a buyer's number and a share of another user. */
function nextPair(market) {
  for (;;) {
    const hot = Math.random() < 0.3;
    const buyer = Math.floor(Math.random() * (hot ? HOT_USERS : USERS));
    const shares = hot && Math.random() < 0.5 ? market.hotShares : market.shares;
    const share = shares[Math.floor(Math.random() * shares.length)];
    const pair = `${buyer} ${share.slug}`;
    if (share.owner === market.ids[buyer] || market.done.has(pair)) continue;
    market.done.add(pair);
    return { buyer, share };
  }
}

async function measured(service, name, work) {
  const before = [cpuSeconds(service.postgresPid), cpuOf(service)];
  const result = await work();
  return {
    name,
    ...result,
    postgresCpu: cpuSeconds(service.postgresPid) - before[0],
    serviceCpu: cpuOf(service) - before[1],
  };
}

const cpuOf = ({ pids }) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);

async function atDatabase(service, market, seconds) {
  const pool = service.connect(PARALLEL);
  const clients = await Promise.all(Array.from({ length: PARALLEL }, () => pool.connect()));
  const unlock = async (client) => {
    const { buyer, share } = nextPair(market);
    const values = [market.ids[buyer], share.slug, false, null, null, null, false, 'Asia/Shanghai', 50, 100];
    const { rows } = await client.query({ ...CALL, values });
    return rows[0].outcome === 'points';
  };
  const warm = async (client) => {
    for (let i = 0; i < WARM; i++) await unlock(client);
  };
  await Promise.all(clients.map(warm));
  const row = await measured(service, `SQL, prepared, ${PARALLEL} connections`, async () => {
    const waits = [];
    let others = 0;
    const began = performance.now();
    const worker = async (client) => {
      while (performance.now() - began < seconds * 1000) {
        const start = performance.now();
        if (!(await unlock(client))) others++;
        waits.push(performance.now() - start);
      }
    };
    await Promise.all(clients.map(worker));
    return { seconds: (performance.now() - began) / 1000, waits, others, unlocks: waits.length - others };
  });
  for (const client of clients) client.release();
  await pool.end();
  return row;
}

async function overHttp(service, market, { seconds, connections }) {
  // The first round fills the caches of the guards.
  await send(service, market, { count: 6 * USERS, connections });
  return measured(service, `HTTP, ${service.urls.length} processes, ${connections} connections`, async () => {
    const results = await send(service, market, { count: seconds * 1500, connections });
    const waits = results.flatMap((result) => result.waits);
    const unlocks = results
      .flatMap((result) => result.statuses)
      .reduce((n, [status, count]) => n + (status === '200' ? count : 0), 0);
    const elapsed = Math.max(...results.map((result) => result.seconds));
    return { seconds: elapsed, waits, unlocks, others: waits.length - unlocks };
  });
}

/** Half of the requests to each process, from a load generator of its own. */
function send(service, market, { count, connections }) {
  return Promise.all(
    service.urls.map(async (url) => {
      const { host, port } = new URL(url);
      const requests = Array.from({ length: Math.ceil(count / service.urls.length) }, () => {
        const { buyer, share } = nextPair(market);
        const body = JSON.stringify({ slug: share.slug });
        const head = `POST /api/open/resources/unlock HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${market.keys[buyer]}`;
        return `${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      });
      const { child } = await startScript(LOAD);
      child.send({ port: Number(port), connections: connections / service.urls.length, requests });
      const [result] = await once(child, 'message');
      return result;
    }),
  );
}

/** A benchmark of what is wrong would be none. */
async function checkBooks(service) {
  const { rows } = await service.query(`SELECT
    (SELECT sum(amount) FROM ledger_entries)::integer AS sum, (SELECT min(balance) FROM ledger_accounts) AS least,
    (SELECT count(*) FROM unlocks WHERE via = 'points') AS unlocks,
    (SELECT count(*) FROM ledger_transactions WHERE kind = 'unlock') AS debits,
    pg_stat_get_db_deadlocks((SELECT oid FROM pg_database WHERE datname = current_database())) AS deadlocks`);
  const { sum, least, unlocks, debits, deadlocks } = rows[0];
  if (sum !== 0 || Number(least) < 0 || unlocks !== debits || Number(deadlocks) !== 0) {
    throw new Error(`the books are wrong: ${JSON.stringify(rows[0])}`);
  }
  console.log(`${debits} debits for ${unlocks} paid unlocks, the ledger sums to 0, no deadlock`);
}
