// Rule decisions beside mihomo and sing-box, as these programs run: what a new connection that is rejected costs with the
// rules, less what it costs without them.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ownCpuMicroseconds, residentBytes, stop } from '../processes.mjs';
import { inTurn, median, printTable } from '../table.mjs';
import { askAll, countingServer, requestOf } from './ask.mjs';
import { programs } from './programs.mjs';

/** In each round for each kind of destination, with the rules and without. */
const CONNECTIONS = 600;
const ROUNDS = 3;
/** At once. */
const CLIENTS = 64;
/** So that no program gives up a connection on a busy machine. */
const FEW_CLIENTS = 8;
const COMPARED = 200;
/** On a busy machine the same program twice differs by as much. */
const NOISE_MICROSECONDS = 20;

/** @param lists `[table, title, { rules } or { sets }]` @param probes flows by kind */
export async function benchPeers(lists, probes) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-rules-'));
  const kinds = Object.entries(probes)
    .filter(([, flows]) => flows.every(({ host, destinationIp }) => (host === null) !== (destinationIp === null)))
    .map(([kind, flows]) => ({ kind, requests: flows.map(requestOf) }));
  try {
    for (const [table, title, list] of lists) {
      const subjects = programs(folder);
      await compareAnswers(subjects, list, kinds);
      const rows = [];
      for (const subject of subjects) rows.push(await costs(subject, list, kinds));
      console.log(`\nA decision of the whole program, CPU µs: ${title}\n`);
      printTable(
        table,
        [
          ['program', ({ name }) => name],
          ['domain, hit, µs', ({ found }) => shown(found.get('domain, hit'))],
          ['domain, miss, µs', ({ found }) => shown(found.get('domain, miss'))],
          ['IPv4, µs', ({ found }) => shown(found.get('IPv4'))],
          ['IPv6, µs', ({ found }) => shown(found.get('IPv6'))],
          ['a connection without rules, µs', ({ bare }) => bare.toFixed(0)],
          ['MB with the rules', ({ megabytes }) => megabytes.toFixed(0)],
        ],
        rows,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function shown(microseconds) {
  return microseconds < NOISE_MICROSECONDS ? `< ${NOISE_MICROSECONDS}` : microseconds.toFixed(0);
}

/** Each program must reject the same number of destinations: otherwise their figures are about different rules. */
async function compareAnswers(subjects, list, kinds) {
  const passed = new Map(kinds.map(({ kind }) => [kind, []]));
  for (const { start } of subjects) {
    const sink = await countingServer();
    const { child, port } = await start(list, sink.port);
    for (const { kind, requests } of kinds) {
      const before = sink.counted.asked;
      await askAll(port, requests.slice(0, COMPARED), FEW_CLIENTS);
      passed.get(kind).push(sink.counted.asked - before);
    }
    await stop(child);
    sink.close();
  }
  const names = subjects.map(({ name }) => name).join(', ');
  for (const [kind, counts] of passed) {
    console.log(`${kind}: of ${COMPARED} destinations pass ${counts.join(', ')} (${names})`);
    if (new Set(counts).size > 1) throw new Error(`the programs decide differently about destinations of "${kind}"`);
  }
}

/** With the rules and without them in turns, in processes that run side by side. */
async function costs({ name, start }, list, kinds) {
  const ruled = await start(list, 'REJECT');
  const bare = await start({}, 'REJECT');
  const measured = new Map(kinds.map(({ kind }) => [kind, []]));
  const bares = [];
  for (const { port } of [ruled, bare])
    for (const { requests } of kinds) await askAll(port, requests.slice(-CONNECTIONS), CLIENTS);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { kind, requests } of kinds) {
      const part = requests.slice((round - 1) * CONNECTIONS, round * CONNECTIONS);
      const cost = new Map();
      for (const subject of inTurn([ruled, bare], round)) {
        const before = ownCpuMicroseconds(subject.child.pid);
        await askAll(subject.port, part, CLIENTS);
        cost.set(subject, (ownCpuMicroseconds(subject.child.pid) - before) / part.length);
      }
      measured.get(kind).push(cost.get(ruled) - cost.get(bare));
      bares.push(cost.get(bare));
    }
  }
  const megabytes = residentBytes(ruled.child.pid) / 1e6;
  await stop(ruled.child);
  await stop(bare.child);
  const found = new Map([...measured].map(([kind, values]) => [kind, median(values)]));
  return { name, found, bare: median(bares), megabytes };
}
