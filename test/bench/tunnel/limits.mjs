import { IpRules } from '@gatehouse/tunnel-kernel';
import { figure, median, printTable } from '../table.mjs';

const RULES = 10_000;
const ROUNDS = 15;
const MIB = 1024 * 1024;
const RATES = [1, 50];
const STREAMS = 8;
const RATE_SECONDS = 10;
/** Longer than the burst of a limiter lasts. */
const WARM_SECONDS = 2;
const at = { userId: 5, clientId: 6, resource: { kind: 'tunnel', id: 7 } };

const patterns = {
  IPv4: (n) => `${1 + ((n * 7919) % 223)}.${(n * 31) % 256}.${(n * 17) % 256}.0/24`,
  IPv6: (n) => `2001:${((n * 7919) % 65_536).toString(16)}:${((n * 31_337) % 65_536).toString(16)}::/48`,
};
const levels = [
  ['global', 0],
  ['user', 5],
  ['client', 6],
  ['tunnel', 7],
];

function rules(pattern, levelCount) {
  return Array.from({ length: RULES }, (_, n) => {
    const [scope, resourceId] = levels[n % levelCount];
    return { id: n, scope, resourceId, type: 'deny', kind: 'cidr', pattern: pattern(n), priority: n % 10 };
  });
}

function milliseconds(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function ruleRow(family, levelCount) {
  const config = rules(patterns[family], levelCount);
  const compiled = new IpRules(config);
  // Half of them on a level, half next to it.
  const addresses = Array.from({ length: 2000 }, (_, n) =>
    patterns[family](n * (1 + (n % 2) * 7)).replace(/\.?0\/24$|:\/48$/, (end) => (end.includes('.') ? '.9' : ':9')),
  );
  const decide = () => addresses.forEach((address) => compiled.decide(address, at));
  for (let round = 0; round < ROUNDS; round++) decide();
  return {
    name: `${family}, ${levelCount === 1 ? 'one level' : `${levelCount} levels`}`,
    check: median(Array.from({ length: ROUNDS }, () => milliseconds(decide) / addresses.length)) * 1000,
    compile: median(Array.from({ length: 5 }, () => milliseconds(() => new IpRules(config)))),
    unchanged: median(Array.from({ length: 5 }, () => milliseconds(() => new IpRules([...config], {}, compiled)))),
  };
}

/** What a check of an address costs among 10,000 rules, and what they cost a change of something else. */
export function printRules() {
  console.log(`\nAddress rules, ${RULES} of them.\n`);
  printTable(
    'rules',
    [
      ['rules', (row) => row.name],
      ['µs/check', (row) => figure(row.check, 3)],
      ['compile ms', (row) => figure(row.compile, 1)],
      ['unchanged ms', (row) => figure(row.unchanged, 1)],
    ],
    ['IPv4', 'IPv6'].flatMap((family) => [ruleRow(family, 1), ruleRow(family, 4)]),
  );
}

/** How near a client's connections together come to its rate. `throughput(rateLimit, seconds, warmSeconds, streams)`. */
export async function printRates(throughput) {
  const rows = [];
  for (const rate of RATES) {
    process.stderr.write(`rate limit of ${rate} MiB/s\n`);
    const { bytes, seconds, cpu } = await throughput(rate * MIB, RATE_SECONDS, WARM_SECONDS, STREAMS);
    rows.push({ rate, of: bytes / seconds / (rate * MIB), cpu });
  }
  console.log(`\nRate limit, ${STREAMS} connections, ${RATE_SECONDS} s after the burst.\n`);
  printTable(
    'rate-limits',
    [
      ['limit MiB/s', (row) => String(row.rate)],
      ['carried', (row) => `${figure(row.of * 100, 1)} %`],
      ['CPU s, server and agent', (row) => figure(row.cpu)],
    ],
    rows,
  );
}
