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
  const open = async (target: number): Promise<number> => {
    const started = await Tunnel.start();
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
    ['up', []],
    ['down', ['-R']],
  ] as const)('sends 40 Mbit/s of datagrams %s and loses next to nothing', async ([, direction], context) => {
    const iperf3 = requirePeer(context, 'iperf3');
    const target = await programs.start(iperf3, (port) => ['-s', '-B', '127.0.0.1', '-p', String(port)]);
    const port = await open(target);
    const options = ['-c', '127.0.0.1', '-p', String(port), '-u', '-b', '40M', '-l', '1200', '-t', '2', '-J'];
    const { stdout } = await run(iperf3, [...options, ...direction], { maxBuffer: 16 << 20 });
    const { sum } = (JSON.parse(stdout) as Report).end;
    expect(sum.packets).toBeGreaterThan(4000);
    expect(sum.lost_percent).toBeLessThan(2);
  });
});
