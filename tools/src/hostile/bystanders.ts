import { Agent, request, type RequestOptions } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '@gatehouse/persistence/server';
import { parseVisitorKey } from '@gatehouse/tunnel-kernel';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { SteadyTraffic } from '../trials/steady-traffic.js';
import type { Ground } from './ground.js';
import { LongDownload } from './long-download.js';
import { PAGE } from './quiet-origin.js';
import { dialTls } from './sockets.js';
import { UdpAsker } from './udp-flows.js';
import { visit as visitByKey } from './visits.js';

const ANSWER_MS = 30_000;
/** A bystander notices an answer that takes longer. */
const SLOW_SECONDS = 15;
const PULSE_MS = 250;
const COUNTED_MS = 60_000;

/** What those saw who had nothing to do with an attack. */
export interface Notice {
  /** `name: what`; empty when nobody noticed. */
  findings: string[];
  requests: number;
  failed: number;
  cuts: number;
  slowest: { name: string; seconds: number };
}

/** Users of every part of a platform, who go on whatever attackers do. */
export class Bystanders {
  private readonly steady: SteadyTraffic[];
  private readonly seenCuts = new Map<string, number>();
  private answeredPages = 0;
  private opening: Promise<UdpAsker> | undefined;
  private readonly pulse: NodeJS.Timeout;
  private lastPulse = performance.now();
  private longestPause = 0;

  private constructor(
    private readonly ground: Ground,
    private readonly downloads: { proxy: LongDownload; tunnel: LongDownload },
    private readonly datagrams: { socks: UdpAsker; tunnel: UdpAsker },
  ) {
    this.steady = this.startSteady();
    this.pulse = setInterval(() => {
      const now = performance.now();
      this.longestPause = Math.max(this.longestPause, (now - this.lastPulse - PULSE_MS) / 1_000);
      this.lastPulse = now;
    }, PULSE_MS);
  }

  static async start(ground: Ground): Promise<Bystanders> {
    const { quiet, ports } = ground;
    const get = 'GET /drip HTTP/1.1\r\nHost: quiet\r\n\r\n';
    const target = `127.0.0.1:${quiet.port}`;
    const connectTo = `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
    const bystanders = new Bystanders(
      ground,
      {
        proxy: new LongDownload('download through CONNECT', ports.proxy, connectTo + get),
        tunnel: new LongDownload('download through a tunnel', ground.tunnel('tcp').listen_port, get),
      },
      {
        socks: await UdpAsker.throughSocks(ports.proxy, quiet.udpPort),
        tunnel: await UdpAsker.direct(ground.tunnel('udp').listen_port),
      },
    );
    if (!(await eventuallyTrue(() => Promise.resolve(bystanders.areWell()), 60_000))) {
      const ill = bystanders.steady.filter((one) => !one.isWell(3)).map(({ name }) => name);
      await bystanders.stop();
      throw new Error(`before any attack these do not work: ${ill.join(', ') || 'downloads'}`);
    }
    bystanders.takeGaps();
    return bystanders;
  }

  /** What they saw since a moment of performance.now(). Requests that are under way are waited for. */
  async noticeSince(since: number): Promise<Notice> {
    const notice: Notice = { findings: [], requests: 0, failed: 0, cuts: 0, slowest: { name: '', seconds: 0 } };
    const patience = SLOW_SECONDS + this.takePause();
    for (const stream of this.steady) {
      const { requests, failed, slowestSeconds } = await stream.reportSince(since);
      notice.requests += requests;
      notice.failed += failed;
      if (failed > 0) notice.findings.push(`${stream.name}: ${failed} of ${requests} failed`);
      else if (slowestSeconds > patience) notice.findings.push(`${stream.name}: ${slowestSeconds.toFixed(1)} s`);
      if (slowestSeconds > notice.slowest.seconds) notice.slowest = { name: stream.name, seconds: slowestSeconds };
    }
    for (const { name, cuts } of this.takeCuts()) {
      notice.cuts += cuts;
      notice.findings.push(`${name}: cut ${cuts} times`);
    }
    for (const { name, seconds } of this.takeGaps()) {
      if (seconds > patience) notice.findings.push(`${name}: silent for ${seconds.toFixed(1)} s`);
      if (seconds > notice.slowest.seconds) notice.slowest = { name, seconds };
    }
    return notice;
  }

  areWell(): boolean {
    return this.steady.every((stream) => stream.isWell(3)) && this.eachDownload().every(({ isRunning }) => isRunning);
  }

  /** Ends all, and compares what their own sockets received with what was counted. Empty: it agrees. */
  async settleAccounts(): Promise<string[]> {
    await this.finish();
    const { tunnel: udp } = this.datagrams;
    const counted = await this.stored(
      ({ tcp, pages }) => tcp === this.downloads.tunnel.received && pages >= this.answeredPages,
    );
    this.datagrams.socks.close();
    udp.close();
    const findings: string[] = [];
    if (counted.tcp !== this.downloads.tunnel.received) {
      findings.push(
        `counter of the tcp tunnel: ${counted.tcp}, its visitor received ${this.downloads.tunnel.received}`,
      );
    }
    if (counted.udp < udp.received) {
      findings.push(`counter of the udp tunnel: ${counted.udp}, its visitor received ${udp.received}`);
    }
    if (counted.pages < this.answeredPages) {
      findings.push(`log of the proxy: ${counted.pages} pages, ${this.answeredPages} were answered`);
    }
    return findings;
  }

  async stop(): Promise<void> {
    await this.finish();
    this.datagrams.socks.close();
    this.datagrams.tunnel.close();
  }

  private async finish(): Promise<void> {
    clearInterval(this.pulse);
    await Promise.all(this.steady.map((stream) => stream.stop()));
    const finished = this.eachDownload().map((download) => download.finish());
    this.ground.quiet.endDrips();
    await Promise.all(finished);
  }

  /** For how long this program itself stood still, at most, since it was asked last: nobody else is to blame for that. */
  private takePause(): number {
    const pause = this.longestPause;
    this.longestPause = 0;
    return pause;
  }

  private eachDownload(): LongDownload[] {
    return Object.values(this.downloads);
  }

  /** An association that has ended is a failure once; programs then open the next one. */
  private async askThroughSocks(): Promise<boolean> {
    const { socks } = this.datagrams;
    if (!socks.isCut) return socks.ask();
    const { ports, quiet } = this.ground;
    this.opening ??= UdpAsker.throughSocks(ports.proxy, quiet.udpPort).finally(() => (this.opening = undefined));
    const opened = await this.opening;
    if (this.datagrams.socks === socks) socks.close();
    this.datagrams.socks = opened;
    return false;
  }

  private takeGaps(): { name: string; seconds: number }[] {
    return this.eachDownload().map((download) => ({ name: download.name, seconds: download.takeGap() }));
  }

  private takeCuts(): { name: string; cuts: number }[] {
    return this.eachDownload()
      .map(({ name, cuts }) => {
        const fresh = cuts - (this.seenCuts.get(name) ?? 0);
        this.seenCuts.set(name, cuts);
        return { name, cuts: fresh };
      })
      .filter(({ cuts }) => cuts > 0);
  }

  /** What the database has, as soon as it is all there. */
  private async stored(
    isAll: (stored: { tcp: number; pages: number }) => boolean,
  ): Promise<{ tcp: number; udp: number; pages: number }> {
    let row = { tcp: -1, udp: -1, pages: -1 };
    const sql = `SELECT (SELECT export_flow FROM tunnel_gateway.tunnels WHERE id = $1)::float8 AS tcp,
      (SELECT export_flow FROM tunnel_gateway.tunnels WHERE id = $2)::float8 AS udp,
      (SELECT count(*) FROM proxy_gateway.traffic_logs WHERE target_port = $3 AND method = 'GET')::float8 AS pages`;
    const values = [this.ground.tunnel('tcp').id, this.ground.tunnel('udp').id, this.ground.quiet.port];
    await eventuallyTrue(async () => {
      await delay(500);
      const { rows } = await withClient(this.ground.platform.state.databaseUrl ?? '', (client) =>
        client.query<{ tcp: number; udp: number; pages: number }>(sql, values),
      );
      row = rows[0] ?? row;
      return isAll(row);
    }, COUNTED_MS);
    return row;
  }

  private startSteady(): SteadyTraffic[] {
    const { ground } = this;
    const { ports, quiet } = ground;
    const keptAlive = new Agent({ keepAlive: true, maxSockets: 1 });
    const alone = new Agent({ keepAlive: false });
    const page = (options: RequestOptions): Promise<boolean> => isPage({ host: '127.0.0.1', ...options });
    const proxied = { port: ports.proxy, path: `http://127.0.0.1:${quiet.port}/page`, agent: keptAlive };
    const visit = (name: string) => () =>
      page({ port: ports.http, headers: { host: ground.host(name) }, agent: alone });
    const handshake = (place: { port: number; name?: string }, protocol: string) => async () => {
      (await dialTls(place, protocol, ANSWER_MS)).destroy();
      return true;
    };
    const key = parseVisitorKey(ground.tunnel('secret').visitor_key ?? '');
    return [
      new SteadyTraffic('requests on one connection to the proxy', 200, async () => {
        const isAnswered = await page(proxied);
        if (isAnswered) this.answeredPages += 1;
        return isAnswered;
      }),
      new SteadyTraffic('datagrams through SOCKS', 200, () => this.askThroughSocks()),
      new SteadyTraffic('datagrams through a tunnel', 200, () => this.datagrams.tunnel.ask()),
      new SteadyTraffic('visits of a host', 200, visit('plain')),
      new SteadyTraffic('visits of a host that asks a server', 500, visit('guarded')),
      new SteadyTraffic(
        'visits with a key',
        500,
        async () => (await visitByKey({ port: ports.agents }, key, ANSWER_MS)) === 0,
      ),
      new SteadyTraffic(
        'handshakes at the https port',
        500,
        handshake({ port: ports.https, name: ground.host('plain') }, 'http/1.1'),
      ),
      ...apiCalls(ground),
    ];
  }
}

function isPage(options: RequestOptions): Promise<boolean> {
  return new Promise((resolve, reject) => {
    request({ ...options, signal: AbortSignal.timeout(ANSWER_MS) }, (answer) => {
      let bytes = 0;
      answer.on('data', (part: Buffer) => (bytes += part.length));
      answer.on('error', reject);
      answer.on('end', () => resolve(answer.statusCode === 200 && bytes === PAGE.length));
    })
      .on('error', reject)
      .end();
  });
}

function apiCalls({ proxyApi, tunnelApi, openApi }: Ground): SteadyTraffic[] {
  const calls: [string, () => Promise<unknown>][] = [
    ['the API of the proxy', () => proxyApi.call('GET', '/system/status')],
    ['the API of the tunnels', () => tunnelApi.call('GET', '/clients')],
    ['the open API', () => openApi.call('GET', '/api/open/ping')],
  ];
  return calls.map(([name, call]) => new SteadyTraffic(name, 1_000, () => call().then(() => true)));
}
