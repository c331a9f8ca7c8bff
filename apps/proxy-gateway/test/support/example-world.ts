import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { hostname, release } from 'node:os';
import { waitFor } from '@gatehouse/testing';
import { format } from 'prettier';
import { readBundledCountryFile } from '@gatehouse/geo';
import { documentValues, exampleFiles, fillIn, keptValues, readExamples } from '../../src/openapi/examples.js';
import type { ExampleValues, RecordedExample } from '../../src/openapi/examples.js';
import type { DescribedOperation, Exchange } from './description.js';
import { getThrough, tunnelThrough } from './proxy-client.js';
import { startGateway } from './gateway.js';
import type { Gateway } from './gateway.js';
import { startSilentServer } from './test-nodes.js';
import { startUpstreamProxy } from './upstream-proxy.js';

/** A gateway with the provider, node and test server of the examples. */
export interface ExampleWorld extends AsyncDisposable {
  base: string;
  /** The example with the values of this run. */
  fill(step: RecordedExample): RecordedExample;
  send(step: RecordedExample, operation: DescribedOperation): Promise<Exchange>;
  keepAnswer(step: RecordedExample, exchange: Exchange): void;
  /** Writes the recorded answers. */
  record(): Promise<void>;
}

const PASSWORD = 'a password for tests';

export async function exampleSteps(): Promise<RecordedExample[]> {
  return (await Promise.all((await exampleFiles()).map(readExamples))).flat();
}

export async function startExampleWorld(): Promise<ExampleWorld> {
  const [gateway, upstream, silent] = await Promise.all([startGateway(), startUpstreamProxy(), startSilentServer()]);
  const origin = await startOrigin();
  await configure(gateway, origin.url);
  const values: ExampleValues = {
    ...(await documentValues()),
    password: PASSWORD,
    origin: origin.url,
    upstream: `127.0.0.1:${upstream.port}`,
    silent: `127.0.0.1:${silent.port}`,
  };
  const traffic = new Traffic(gateway, origin.url);
  const answers = new Map<string, Exchange>();
  const base = gateway.app.url;
  return {
    base,
    fill: (step) => fillIn(step, values),
    async send(step, operation) {
      if (step.operation === 'connections_list') await traffic.open();
      const exchange = await send(gateway, step, operation);
      Object.assign(values, keptValues(step.keep, exchange.answer));
      return exchange;
    },
    keepAnswer: (step, exchange) => void answers.set(`${step.operation} ${step.name}`, exchange),
    record: async () => record(answers, await documentValues(), values),
    async [Symbol.asyncDispose]() {
      traffic.end();
      await gateway[Symbol.asyncDispose]();
      for (const server of [upstream, silent, origin]) await server[Symbol.asyncDispose]();
    },
  };
}

async function configure(gateway: Gateway, origin: string): Promise<void> {
  await gateway.call('PUT', '/settings', {
    'health.url': `${origin}/generate_204`,
    'country.exit_url': '',
    'subscription.allow_private': 'true',
    'geo.allow_private': 'true',
    'geo.country_url': `${origin}/country.mmdb`,
    'geo.asn_url': '',
    'geo.geosite_url': '',
  });
}

/** The answers of a provider, of a publisher of rules and geo data, and of the target of tests. */
async function startOrigin(): Promise<AsyncDisposable & { url: string }> {
  const content: Record<string, string | Buffer> = {
    '/sub': 'ss://YWVzLTEyOC1nY206c2VjcmV0@192.0.2.1:8388#Lisbon\nss://broken\n',
    '/rules.txt': 'example.com\n+.example.net\n',
    '/country.mmdb': readBundledCountryFile(),
  };
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    if (path === '/generate_204') response.writeHead(204).end();
    else response.writeHead(path in content ? 200 : 404).end(content[path]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Connections through the kernel: a finished one and an open one. */
class Traffic {
  readonly #gateway: Gateway;
  readonly #origin: string;
  readonly #sockets: Socket[] = [];

  constructor(gateway: Gateway, origin: string) {
    this.#gateway = gateway;
    this.#origin = origin;
  }

  async open(): Promise<void> {
    const { proxyPort } = this.#gateway;
    await getThrough(proxyPort, `${this.#origin}/generate_204`);
    this.#sockets.push(await tunnelThrough(proxyPort, '127.0.0.1', Number(new URL(this.#origin).port)));
    await waitFor(async () => (await this.#gateway.call('GET', '/connections')).body.count > 0);
    await waitFor(async () => (await this.#gateway.call('GET', '/traffic-logs')).body.total > 0);
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function send(gateway: Gateway, step: RecordedExample, operation: DescribedOperation): Promise<Exchange> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(step.path?.[name])),
  );
  const query = new URLSearchParams(Object.entries(step.query ?? {}).map(([name, value]) => [name, String(value)]));
  const response = await fetch(`${gateway.app.url}${path}?${query.toString()}`, {
    method: operation.method,
    headers: {
      authorization: gateway.authorization(),
      ...(step.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(step.body !== undefined && { body: JSON.stringify(step.body) }),
  });
  const mediaType = response.headers.get('content-type')?.split(';')[0] ?? '';
  // Gives the stream of logs something to send.
  if (step.operation === 'runtimeLogs_follow') await gateway.call('GET', '/nothing-is-here');
  const text = mediaType === 'text/event-stream' ? await firstEvent(response) : await response.text();
  return { status: response.status, mediaType, answer: mediaType === 'application/json' ? JSON.parse(text) : text };
}

/** A stream may be endless, so its first event is enough. */
async function firstEvent(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  // Leaving the loop ends the request.
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk, { stream: true });
    const end = /data:[^\n]*\n\n/.exec(text);
    if (end) return text.slice(0, end.index + end[0].length);
  }
  return text;
}

async function record(answers: Map<string, Exchange>, shown: ExampleValues, real: ExampleValues): Promise<void> {
  for (const file of await exampleFiles()) {
    const examples = (await readExamples(file)).map((example) => {
      const exchange = answers.get(`${example.operation} ${example.name}`);
      return exchange === undefined ? example : { ...example, ...presentable(exchange, shown, real) };
    });
    await writeFile(file, await format(JSON.stringify(examples), { parser: 'json', printWidth: 120 }));
  }
}

/** Replaces addresses of this run with those of the document, and shortens credentials and long lists. */
function presentable(exchange: Exchange, shown: ExampleValues, real: ExampleValues): Exchange {
  let text = JSON.stringify({ ...exchange, answer: shortened(exchange.answer) });
  for (const name of Object.keys(shown)) {
    text = text.replaceAll(String(real[name]), String(shown[name]));
  }
  for (const name of ['origin', 'upstream', 'silent']) {
    const port = /:(\d+)$/.exec(String(real[name]))?.[1];
    const other = /:(\d+)$/.exec(String(shown[name]))?.[1] ?? '443';
    if (port !== undefined) text = text.replaceAll(new RegExp(String.raw`(?<![\d.])${port}(?!\d)`, 'g'), other);
  }
  text = text
    .replaceAll(JSON.stringify(hostname()), '"gateway"')
    .replaceAll(release(), '6.12.0')
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'header.claims.signature')
    .replaceAll(/gpk_[\w-]{20,}/g, 'gpk_0123456789abcdef')
    .replaceAll(/gsubk_[\w-]{20,}/g, 'gsubk_0123456789abcdef');
  return JSON.parse(text) as Exchange;
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 5).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}
