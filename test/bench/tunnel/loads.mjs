// What is sent through a tunnel, by programs that others wrote: iperf3, wrk.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { requirePeer } from '../processes.mjs';

const run = promisify(execFile);

/** TCP; `bytes` are those that arrived. */
export async function iperf(port, { seconds, down = false, streams = 1 }) {
  const shape = ['-P', String(streams), ...(down ? ['-R'] : [])];
  const { end } = await iperfReport(port, seconds, shape);
  return { bytes: end.sum_received.bytes, seconds: end.sum_received.seconds };
}

/** Size of a datagram of the load, without headers. */
export const DATAGRAM_BYTES = 1200;
/** As much as the system lets sockets hold, up to 4 MiB: what is lost is not to be lost in front of iperf3. */
const SOCKET_BYTES = Math.min(4 * 1024 * 1024, ...['rmem_max', 'wmem_max'].map(systemLimit));

function systemLimit(name) {
  return Number(readFileSync(`/proc/sys/net/core/${name}`, 'utf8'));
}

/**
 * UDP datagrams at `megabits` a second, 0: as many as there can be. What arrived is what the receiver counted: the sender
 * does not count those that were lost after the last that arrived.
 */
export async function iperfDatagrams(port, { seconds, megabits }) {
  const shape = ['-u', '-l', String(DATAGRAM_BYTES), '-b', `${megabits}M`, '-w', String(SOCKET_BYTES)];
  const { end, server_output_json: far } = await iperfReport(port, seconds, [...shape, '--get-server-output']);
  if (!far?.end?.sum) throw new Error('iperf3: the receiver did not report what arrived');
  const { packets: newest, lost_packets: missing } = far.end.sum;
  const { packets: sent } = end.sum;
  return { sent, packets: newest - missing, seconds };
}

async function iperfReport(port, seconds, more) {
  const args = ['-c', '127.0.0.1', '-p', String(port), '-t', String(seconds), '-J', ...more];
  const options = { timeout: (seconds + 20) * 1000, maxBuffer: 64 * 1024 * 1024 };
  // It prints its report, errors included, and exits with 1.
  const { stdout } = await run(requirePeer('iperf3'), args, options).catch((error) => error);
  if (!stdout) throw new Error('iperf3 did not come to an end');
  const report = JSON.parse(stdout);
  if (report.error) throw new Error(`iperf3: ${report.error}`);
  return report;
}

/** One connection for each request, 32 at a time. */
export async function wrkConnections(port, { seconds }) {
  const args = ['-t1', '-c32', `-d${seconds}s`, '--latency', '-H', 'Connection: close', `http://127.0.0.1:${port}/`];
  const { stdout } = await run(requirePeer('wrk'), args, { timeout: (seconds + 20) * 1000 });
  const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)?.slice(1) ?? [];
  return {
    count: Number(/(\d+) requests in/.exec(stdout)[1]),
    errors: errors.reduce((sum, count) => sum + Number(count), 0),
    seconds,
    p99: Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit],
  };
}
