// Refreshing a large subscription: fetched, parsed, compared, stored and loaded into the kernel
// npm run bench -- refresh [count]
import { once } from 'node:events';
import { createServer } from 'node:http';
import { formatLink } from '@gatehouse/subscription-formats';
import { cpuSeconds } from './processes.mjs';
import { startProxyGateway } from './services/proxy-gateway.mjs';
import { printTable } from './table.mjs';

const COUNT = Number(process.argv[2] ?? 10_000);

const id = (i) => `11111111-2222-4333-8444-${String(i).padStart(12, '0')}`;
const makers = [
  (i, v) => ({ type: 'ss', cipher: 'aes-256-gcm', password: `secret-${i}-${v}` }),
  (i, v) => ({ type: 'trojan', password: `secret-${i}-${v}`, tls: { sni: 's.example' } }),
  (i, v) => ({ type: 'vmess', uuid: id(i), alterId: 0, cipher: 'auto', tls: { sni: `v${v}.example` } }),
  (i, v) => ({ type: 'vless', uuid: id(i), tls: { sni: `v${v}.example` } }),
  (i, v) => ({ type: 'http', username: 'user', password: `secret-${i}-${v}`, tls: {} }),
];
const link = (i, version = 0, name = `Hong Kong ${i}`) =>
  formatLink({
    name,
    server: `198.51.${i % 250}.${(i >> 3) % 250}`,
    port: 10_000 + (i % 50_000),
    ...makers[i % makers.length](i, version),
  });
const list = (make) => Array.from({ length: COUNT }, (_, i) => make(i)).join('\n');

const steps = [
  ['all new', list((i) => link(i))],
  ['the same', list((i) => link(i))],
  ['all renamed', list((i) => link(i, 0, `HK ${i}`))],
  ['a tenth with other passwords', list((i) => link(i, i % 10 === 0 ? 1 : 0, `HK ${i}`))],
  ['all with other passwords', list((i) => link(i, 2, `HK ${i}`))],
  ['all others', list((i) => link(i + COUNT, 3, `JP ${i}`))],
];

let body = '';
const provider = createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1');
await once(provider, 'listening');
const gateway = await startProxyGateway();
const rows = [];
try {
  const url = `http://127.0.0.1:${provider.address().port}/`;
  const { id: subscription } = await gateway.call('POST', '/subscriptions', {
    name: 'bench',
    url,
    type: 'auto',
    interval_sec: 86_400,
    enabled: false,
    allow_private: true,
  });
  for (const [what, content] of steps) {
    body = content;
    const watch = watchHealth(gateway.base);
    const cpu = cpuSeconds(gateway.pid);
    const began = performance.now();
    const result = await gateway.call('POST', `/subscriptions/${subscription}/refresh?force=true`);
    const ms = performance.now() - began;
    rows.push({ what, ms, cpu: cpuSeconds(gateway.pid) - cpu, worst: await watch(), result });
  }
  const { kernel } = await gateway.call('GET', '/system/status');
  console.log(`${COUNT} nodes; kernel generation ${kernel.generation}, ${kernel.state}`);
} finally {
  await gateway.end();
  provider.close();
}
printTable(
  'replies',
  [
    ['reply', ({ what }) => what],
    ['ms', ({ ms }) => ms.toFixed(0)],
    ['ms in the refresh itself', ({ result }) => result.duration_ms],
    ['CPU s', ({ cpu }) => cpu.toFixed(2)],
    ['worst /healthz ms', ({ worst }) => worst.toFixed(0)],
    ['added', ({ result }) => result.added],
    ['updated', ({ result }) => result.updated],
    ['retained', ({ result }) => result.retained],
    ['removed', ({ result }) => result.removed],
  ],
  rows,
);

/** Sends requests until it is stopped; stopping resolves with the longest wait for an answer. */
function watchHealth(base) {
  let worst = 0;
  let over = false;
  const loop = (async () => {
    while (!over) {
      const began = performance.now();
      await fetch(`${base}/healthz`).then((response) => response.arrayBuffer());
      worst = Math.max(worst, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async () => {
    over = true;
    await loop;
    return worst;
  };
}
