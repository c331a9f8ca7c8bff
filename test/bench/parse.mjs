// How long large subscriptions take to parse: CPU of 10,000 nodes in each format
// npm run bench -- parse [count]
import { formatLink, parseSubscription, toClashEntry } from '@gatehouse/subscription-formats';
import { printTable } from './table.mjs';

const COUNT = Number(process.argv[2] ?? 10_000);
const RUNS = 5;

const id = (i) => `11111111-2222-4333-8444-${String(i).padStart(12, '0')}`;
const ws = (i) => ({ type: 'ws', path: `/ws${i % 7}`, headers: { Host: `cdn${i % 5}.example` } });
const makers = [
  (i) => ({ type: 'ss', cipher: 'aes-256-gcm', password: `secret-${i}` }),
  (i) => ({ type: 'trojan', password: `secret-${i}`, tls: { sni: 's.example', alpn: ['h2'] }, transport: ws(i) }),
  (i) => ({ type: 'vmess', uuid: id(i), alterId: 0, cipher: 'auto', tls: { sni: 's.example' }, transport: ws(i) }),
  (i) => ({
    type: 'vless',
    uuid: id(i),
    flow: 'xtls-rprx-vision',
    tls: {
      sni: 'www.example.org',
      clientFingerprint: 'chrome',
      reality: { publicKey: 'A'.repeat(43), shortId: 'abcd' },
    },
  }),
  (i) => ({ type: 'socks5', username: 'user', password: `secret-${i}` }),
  (i) => ({ type: 'http', username: 'user', password: `secret-${i}`, tls: {} }),
];

const nodes = Array.from({ length: COUNT }, (_, i) => ({
  name: `🇭🇰 香港 ${i} | IPLC`,
  server: `node${i}.example.com`,
  port: 10_000 + (i % 50_000),
  ...makers[i % makers.length](i),
}));

const links = nodes.map((node) => formatLink(node)).join('\n');
const flow = (value) =>
  Array.isArray(value)
    ? `[${value.map(flow).join(', ')}]`
    : typeof value === 'object'
      ? `{${Object.entries(value)
          .map(([key, inner]) => `${key}: ${flow(inner)}`)
          .join(', ')}}`
      : typeof value === 'string' && !/^[a-z0-9./-]+$/i.test(value)
        ? JSON.stringify(value)
        : String(value);
const block = (value, indent) =>
  Object.entries(value)
    .map(([key, inner], i) => {
      const lead = i === 0 ? '' : ' '.repeat(indent);
      const nested = typeof inner === 'object' && !Array.isArray(inner);
      return `${lead}${key}:${nested ? `\n${' '.repeat(indent + 2)}${block(inner, indent + 2)}` : ` ${flow(inner)}`}`;
    })
    .join('\n');
const entries = nodes.map((node) => toClashEntry(node));

const documents = {
  links,
  base64: Buffer.from(links).toString('base64'),
  'clash, one line each': `proxies:\n${entries.map((entry) => `  - ${flow(entry)}`).join('\n')}\n`,
  'clash, blocks': `proxies:\n${entries.map((entry) => `  - ${block(entry, 4)}`).join('\n')}\n`,
  'clash, with anchors': `x: &x {udp: true}\nproxies:\n${entries
    .slice(0, COUNT / 10)
    .map((entry) => `  - {<<: *x, ${flow(entry).slice(1)}`)
    .join('\n')}\n`,
  'clash, as JSON': JSON.stringify({ proxies: entries }),
};

const rows = Object.entries(documents).map(([name, text]) => {
  const bytes = Buffer.from(text);
  const times = [];
  let result;
  for (let run = 0; run < RUNS; run += 1) {
    const before = process.cpuUsage();
    result = parseSubscription(bytes);
    const spent = process.cpuUsage(before);
    times.push((spent.user + spent.system) / 1000);
  }
  times.sort((a, b) => a - b);
  return { name, result, size: bytes.length / 1024 / 1024, median: times[RUNS >> 1], worst: times[RUNS - 1] };
});
printTable(
  'formats',
  [
    ['format', ({ name }) => name],
    ['nodes', ({ result }) => result.nodes.length],
    ['skipped', ({ result }) => result.skipped.length],
    ['MiB', ({ size }) => size.toFixed(1)],
    ['CPU ms, median', ({ median }) => median.toFixed(0)],
    ['worst (cold)', ({ worst }) => worst.toFixed(0)],
  ],
  rows,
);
