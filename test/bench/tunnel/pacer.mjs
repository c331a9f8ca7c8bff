// Asks at an even pace: request i is due at i / rate, on connection i modulo their number, whether or not those before it
// were answered; what it waits for its turn counts. Prints milliseconds as JSON.
import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';

const [version, ...numbers] = process.argv.slice(2);
const [port, connections, rate, seconds] = numbers.map(Number);
const REQUEST = Buffer.from(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
/** For as long requests may be late because this process sleeps. A timer of Node is good to a millisecond only. */
const LONGEST_REST_MS = 0.2;
const total = Math.round(rate * seconds);
const latencies = new Float64Array(total);
/** How late requests left that had nothing to wait for but this process. */
const lateness = new Float64Array(total);
const rest = new Int32Array(new SharedArrayBuffer(4));
let [answered, left] = [0, 0];

/** A connection of HTTP/1.1: requests wait here while one is on its way. */
class Http1Lane {
  dueTimes = [];
  /** Bytes of an answer's body that have not come. */
  missing = 0;

  static async open() {
    const lane = new Http1Lane();
    const buffer = Buffer.allocUnsafe(64 * 1024);
    const onread = { buffer, callback: (count) => lane.read(buffer, count) };
    lane.socket = net.connect({ port, host: '127.0.0.1', noDelay: true, onread });
    lane.socket.on('error', fail).on('close', () => fail(new Error('a connection was closed')));
    await once(lane.socket, 'connect');
    return lane;
  }

  ask(due) {
    if (this.dueTimes.push(due) > 1) return;
    leaves(due);
    this.socket.write(REQUEST);
  }

  /** Heads come in one piece and say how long the body is. */
  read(buffer, count) {
    let bytes = count;
    if (this.missing === 0) {
      const end = buffer.indexOf('\r\n\r\n');
      const head = end < 0 || end >= count ? '' : buffer.latin1Slice(0, end);
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      if (!head.startsWith('HTTP/1.1 200') || length === undefined) fail(new Error(`not an answer: ${head}`));
      this.missing = Number(length);
      bytes -= end + 4;
    }
    this.missing -= bytes;
    if (this.missing > 0) return true;
    arrived(this.dueTimes.shift());
    if (this.dueTimes.length > 0) this.socket.write(REQUEST);
    return true;
  }
}

/** A connection of HTTP/2, on which requests do not wait for each other. */
class Http2Lane {
  static async open() {
    const lane = new Http2Lane();
    lane.session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    lane.session.on('error', fail).on('close', () => fail(new Error('a connection was closed')));
    await once(lane.session, 'connect');
    return lane;
  }

  ask(due) {
    leaves(due);
    const stream = this.session.request({ ':path': '/' });
    stream.on('response', ({ ':status': status }) => status === 200 || fail(new Error(`answered ${status}`)));
    stream.on('end', () => arrived(due)).on('error', fail);
    stream.resume();
  }
}

function leaves(due) {
  lateness[left++] = performance.now() - due;
}

function arrived(due) {
  latencies[answered++] = performance.now() - due;
  if (answered < total) return;
  const at = (values, count, share) => values.subarray(0, count).sort()[Math.floor(count * share)];
  const result = {
    rate: answered / ((performance.now() - begin) / 1000),
    p50: at(latencies, answered, 0.5),
    p99: at(latencies, answered, 0.99),
    late99: at(lateness, left, 0.99),
  };
  console.log(JSON.stringify(result));
  process.exit(0);
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

const Lane = version === 'h2' ? Http2Lane : Http1Lane;
const lanes = await Promise.all(Array.from({ length: connections }, () => Lane.open()));
const begin = performance.now();
let sent = 0;
const nextDue = () => begin + (sent * 1000) / rate;
function turn() {
  for (; sent < total && nextDue() <= performance.now(); sent++) lanes[sent % connections].ask(nextDue());
  const pause = Math.min(nextDue() - performance.now(), LONGEST_REST_MS);
  if (pause > 0) Atomics.wait(rest, 0, 0, pause);
  setImmediate(turn);
}
turn();
