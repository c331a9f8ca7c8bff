import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type {
  FailedVisitors,
  TunnelServerEnvironment,
  VerificationOptions,
  VisitorPolicyConfig,
} from '../src/index.js';
import { HostRig, type Answer, type Asked } from './host-rig.js';

export interface Gatekeeper {
  environment: Partial<TunnelServerEnvironment>;
  /** Encoded hashes that were looked at. */
  looked: string[];
  failures: FailedVisitors[];
  clock: { now: number };
}

/** Verification with passwords that are encoded as `is:password`, and a clock that is set by hand. */
export function gatekeeper(more: Partial<VerificationOptions> = {}): Gatekeeper {
  const clock = { now: Date.now() };
  const looked: string[] = [];
  const failures: FailedVisitors[] = [];
  return {
    clock,
    looked,
    failures,
    environment: {
      now: () => clock.now,
      trustedProxies: ['127.0.0.1'],
      events: { visitorFailed: (visitors) => failures.push(visitors) },
      verification: {
        secret: Buffer.alloc(32, 7),
        verifyPassword: async (encoded, password) => {
          looked.push(encoded);
          return encoded === `is:${password}`;
        },
        ...more,
      },
    },
  };
}

export function policy(more: Partial<VisitorPolicyConfig> = {}): VisitorPolicyConfig {
  return {
    id: 1,
    resource: { kind: 'host', id: 12 },
    type: 'password',
    password: 'is:open sesame',
    callbackUrl: null,
    ttlSeconds: 7200,
    version: 1,
    ...more,
  };
}

export interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
}

/** A host whose target notes what it gets. */
export class GuardedHost {
  readonly rig: HostRig;
  readonly gate: Gatekeeper;
  readonly seen: Seen[] = [];
  private target = 0;
  private readonly cleanups: (() => void)[] = [];

  private constructor(rig: HostRig, gate: Gatekeeper) {
    this.rig = rig;
    this.gate = gate;
  }

  static async start(more: Partial<VerificationOptions> = {}): Promise<GuardedHost> {
    const gate = gatekeeper(more);
    const host = new GuardedHost(await HostRig.start({}, gate.environment), gate);
    host.target = await host.rig.origin((request, response) => {
      host.seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
      response.end('the site');
    });
    return host;
  }

  async guard(...policies: VisitorPolicyConfig[]): Promise<void> {
    await this.rig.server.apply(this.rig.config({ hosts: [this.rig.hostConfig([this.target])], policies }));
  }

  /** Hosts of one name. */
  async guardLocations(locations: Record<number, string>, ...policies: VisitorPolicyConfig[]): Promise<void> {
    const hosts = Object.entries(locations).map(([id, location]) =>
      this.rig.hostConfig([this.target], { id: Number(id), location }),
    );
    await this.rig.server.apply(this.rig.config({ hosts, policies }));
  }

  /** A third party's service, at an address. */
  async service(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  browser(headers: Record<string, string> = {}): Browser {
    return new Browser(this.rig, headers);
  }

  async close(): Promise<void> {
    for (const cleanup of this.cleanups.splice(0)) cleanup();
    await this.rig.close();
  }
}

/** Keeps cookies as a browser does, for one host. */
export class Browser {
  readonly jar = new Map<string, string>();
  /** `Set-Cookie` as they came. */
  readonly received: string[] = [];
  private readonly rig: HostRig;
  private readonly headers: Record<string, string>;

  constructor(rig: HostRig, headers: Record<string, string>) {
    this.rig = rig;
    this.headers = headers;
  }

  async ask(asked: Asked = {}): Promise<Answer> {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', ...(cookie && { cookie }), ...this.headers, ...asked.headers };
    const answer = await this.rig.ask({ ...asked, headers });
    for (const text of answer.headers['set-cookie'] ?? []) {
      this.received.push(text);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (value === '') this.jar.delete(name);
      else this.jar.set(name, value);
    }
    return answer;
  }

  /** Opens a page, fills its form in and sends it. */
  async logIn(
    password: string,
    path = '/',
    change: (fields: URLSearchParams) => void = () => undefined,
  ): Promise<Answer> {
    const { action, fields } = formOf(await this.ask({ path }));
    fields.set('password', password);
    change(fields);
    return this.submit(action, fields);
  }

  submit(action: string, fields: URLSearchParams, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask({
      method: 'POST',
      path: action,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: fields.toString(),
    });
  }
}

export function formOf({ body }: { body: string }): { action: string; fields: URLSearchParams } {
  const unescape = (text: string): string =>
    text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
  const action = unescape(/<form method="post" action="([^"]+)"/.exec(body)?.[1] ?? '');
  const fields = new URLSearchParams();
  for (const [, name = '', value = ''] of body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)) {
    fields.set(name, unescape(value));
  }
  return { action, fields };
}
