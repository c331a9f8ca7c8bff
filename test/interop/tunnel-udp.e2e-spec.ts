import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { Tunnel } from '../support/tunnel.js';

const run = promisify(execFile);
const programs = new Programs();
let tunnel: Tunnel | undefined;

afterEach(async () => {
  await tunnel?.close();
  await programs.stopAll();
});

interface Report {
  end: { sum: { bytes: number; packets: number; lost_packets: number; lost_percent: number } };
}

describe('iperf3 through the tunnel', () => {
  /** iperf3 talks TCP and UDP to one port: two tunnels with the same number. */
  const open = async (target: number, nearMs: number): Promise<number> => {
    const started = await Tunnel.start({ datagrams: { nearMs } });
    tunnel = started;
    const entry = { clientId: 1, targets: [{ host: '127.0.0.1', port: target, weight: 1 }] };
    const port = await started.open(target, {});
    const listen = { host: '127.0.0.1', port };
    const tunnels = [
      { ...entry, id: 7, mode: 'tcp' as const, listen },
      { ...entry, id: 8, mode: 'udp' as const, listen },
    ];
    await started.open(target, {}, { tunnels });
    expect(started.server.tunnels()).toMatchObject([{ state: 'running' }, { state: 'running' }]);
    return port;
  };

  it.for([
    ['up', 'far away', [], 0],
    ['down', 'far away', ['-R'], 0],
    ['up', 'nearby', [], 60_000],
    ['down', 'nearby', ['-R'], 60_000],
  ] as const)('sends 8 Mbit/s of datagrams %s, the agent %s, and loses next to nothing', async (row, context) => {
    const [, , direction, nearMs] = row;
    const iperf3 = requirePeer(context, 'iperf3');
    const target = await programs.start(iperf3, (port) => ['-s', '-B', '127.0.0.1', '-p', String(port)]);
    const port = await open(target, nearMs);
    const options = [
      '-c',
      '127.0.0.1',
      '-p',
      String(port),
      '-u',
      '-b',
      '8M',
      '-l',
      '1200',
      '-t',
      '2',
      '-w',
      '208K',
      '-J',
    ];
    const { stdout } = await run(iperf3, [...options, ...direction], { maxBuffer: 16 << 20 });
    const { sum } = (JSON.parse(stdout) as Report).end;
    expect(sum.packets).toBeGreaterThan(1500);
    expect(sum.lost_percent).toBeLessThan(2);
  });
});
