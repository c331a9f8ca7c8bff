import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostView, IpRuleView, NewTunnelClientView, TunnelClientView, TunnelView } from '@gatehouse/contracts';
import { createServerIdentity } from '@gatehouse/tunnel-kernel';
import { localized } from '../../bootstrap/language.mjs';
import type { ApiClient } from './api-client.js';
import { AgentProcess } from './agent-process.js';
import { visitHost, type HostPorts } from './host-visitor.js';
import { Origin } from './origin.js';
import { fetchThroughPort } from './port-visitor.js';
import { eventually, expectEqual, expectThat, type Script } from './script.js';

const BODY = 'hello from behind NAT\n';
/** Size of the download that is compared with the counters. */
const SIZE = 4 * 1024 * 1024;
/** A rule, a key or a switch is in force after this at most. */
const LIVE_MS = 2_000;

/** Where the gateway is, as far as the tour can know. */
export interface TunnelPlaces {
  api: ApiClient;
  password: string;
  /** The ports for visitors of hosts. */
  ports: HostPorts;
  /** The gateway's folder of certificates, or how to put a file into it where it is not on this machine. */
  certificateFolder: string | ((name: string, text: string) => Promise<void>);
  /** Where the gateway opens ports of tunnels, and what rules call this machine. Default: the loopback for both. */
  listenAddress?: string;
  visitor?: string;
}

interface Stage extends TunnelPlaces {
  script: Script;
  origin: Origin;
  client: NewTunnelClientView;
  trace: Trace;
}

/** What the tour adds to the platform, taken away again at its end. */
interface Trace {
  clientId: number | null;
  ruleId: number | null;
  files: string[];
  agent: AgentProcess | null;
}

/**
 * The path of tunnel-gateway: a web server that only this machine reaches becomes reachable through an agent, by a port,
 * by a name and over HTTPS; a rule shuts visitors out, and the counters say what the visitors' own sockets moved.
 * @throws TourFailure at the first thing that is not as it should be; what it added is removed all the same.
 */
export async function tourTunnelGateway(places: TunnelPlaces, script: Script): Promise<void> {
  script.chapter('tunnel-gateway: from a private web server to a public domain');
  const origin = await Origin.start({ '/hello': BODY });
  const trace: Trace = { clientId: null, ruleId: null, files: [], agent: null };
  try {
    const client = await addClient(places, script, trace);
    const stage: Stage = { ...places, script, origin, client, trace };
    await startAgent(stage);
    const tunnel = await openPort(stage);
    await visitPort(stage, tunnel);
    await serveHost(stage);
    await shutOut(stage, tunnel);
    await compareCounters(stage, tunnel);
  } finally {
    try {
      await cleanUp(places.api, trace, script);
    } finally {
      await origin.close();
    }
  }
}

async function addClient({ api, password }: TunnelPlaces, script: Script, trace: Trace): Promise<NewTunnelClientView> {
  await script.step('log in with the first password', () => api.login(password, 'admin'));
  return script.step('add a client: its key is shown once', async (say) => {
    const client = await api.call<NewTunnelClientView>('POST', '/clients', {
      name: `tour ${new Date().toISOString()}`,
    });
    trace.clientId = client.id;
    say(localized(`client ${client.id}; its agent starts with:`, `客户端 ${client.id}；启动命令：`));
    say(client.command.replace(client.key, `${client.key.slice(0, 12)}…`));
    return client;
  });
}

async function startAgent({ api, script, client, trace }: Stage): Promise<void> {
  await script.step('start the agent beside the private web server', async (say) => {
    trace.agent = AgentProcess.start(client);
    const online = await eventually('the agent', async () => {
      trace.agent?.requireRunning();
      const { agent } = await api.call<TunnelClientView>('GET', `/clients/${client.id}`);
      return agent ?? undefined;
    });
    say(localized(`${online.software} from ${online.address}`, `${online.software}，来自 ${online.address}`));
  });
}

async function openPort({ api, script, origin, client, listenAddress = '127.0.0.1' }: Stage): Promise<TunnelView> {
  return script.step('open any free public port for the server', async (say) => {
    const made = await api.call<TunnelView>('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: listenAddress,
      listen_port: 0,
      target_addr: `127.0.0.1:${origin.port}`,
    });
    const tunnel = await eventually('the port', async () => {
      const now = await api.call<TunnelView>('GET', `/tunnels/${made.id}`);
      return now.run_status === 1 ? now : undefined;
    });
    const way = `${tunnel.listen_ip}:${tunnel.listen_port} -> ${tunnel.target_addr}`;
    say(localized(`tunnel ${tunnel.id}: ${way}`, `隧道 ${tunnel.id}：${way}`));
    return tunnel;
  });
}

async function visitPort({ script }: Stage, { listen_port: port }: TunnelView): Promise<void> {
  await script.step('visit the port', async (say) => {
    const { text } = await fetchThroughPort(port, '/hello');
    expectThat(text.startsWith('HTTP/1.1 200') && text.endsWith(BODY), `the answer is ${JSON.stringify(text)}`);
    say(`200, ${JSON.stringify(BODY)}`);
  });
}

async function serveHost(stage: Stage): Promise<void> {
  const { api, script, origin, client, ports } = stage;
  const name = `tour-${randomBytes(3).toString('hex')}.gatehouse.example`;
  const certificate = createServerIdentity(name);
  await script.step('give the server a domain and a certificate', async (say) => {
    await keepCertificate(stage, name, certificate);
    const host = await api.call<HostView>('POST', '/hosts', {
      client_id: client.id,
      host: name,
      target_addr: `http://127.0.0.1:${origin.port}`,
      cert_path: `${name}.pem`,
      key_path: `${name}.key`,
    });
    const way = `${host.host}${host.location} -> ${host.target_addr}`;
    say(localized(`host ${host.id}: ${way}`, `主机 ${host.id}：${way}`));
  });
  for (const scheme of ['http', 'https'] as const) {
    await script.step(`visit the domain over ${scheme}`, async (say) => {
      const { status, text, protocol } = await eventually('the host', async () => {
        const answer = await visitHost({ scheme, name, ports, authority: certificate.certificate, path: '/hello' });
        return answer.status === 404 ? undefined : answer;
      });
      expectEqual('status', status, 200);
      expectEqual('the answer', text, BODY);
      const seen = origin.seen.at(-1)?.host;
      say(
        localized(
          `${protocol}: 200; the server behind saw Host: ${seen}`,
          `${protocol}：200；后端服务器看到的 Host：${seen}`,
        ),
      );
    });
  }
}

async function keepCertificate(
  { certificateFolder: folder, trace }: Stage,
  name: string,
  { certificate, key }: { certificate: string; key: string },
): Promise<void> {
  if (typeof folder === 'string') mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [file, text] of [
    [`${name}.pem`, certificate],
    [`${name}.key`, key],
  ] as const) {
    if (typeof folder !== 'string') {
      await folder(file, text);
      continue;
    }
    writeFileSync(join(folder, file), text, { mode: 0o600 });
    trace.files.push(join(folder, file));
  }
}

async function shutOut({ api, script, trace, visitor = '127.0.0.1' }: Stage, tunnel: TunnelView): Promise<void> {
  await script.step('deny this machine by an IP rule, then let it in again', async (say) => {
    const rule = await api.call<IpRuleView>('POST', '/ip-rules', {
      scope: 'tunnel',
      resource_id: tunnel.id,
      type: 'deny',
      pattern: visitor,
    });
    trace.ruleId = rule.id;
    const began = performance.now();
    const isOpen = async (): Promise<boolean> => (await fetchThroughPort(tunnel.listen_port, '/hello')).text !== '';
    await eventually('the rule', async () => ((await isOpen()) ? undefined : true), LIVE_MS);
    const ms = Math.round(performance.now() - began);
    say(
      localized(
        `rule ${rule.id}: visitors are reset, ${ms} ms after it was created`,
        `规则 ${rule.id}：创建 ${ms} 毫秒后，访客连接被重置`,
      ),
    );
    await api.call('DELETE', `/ip-rules/${rule.id}`);
    trace.ruleId = null;
    await eventually('the way in', async () => (await isOpen()) || undefined, LIVE_MS);
  });
}

async function compareCounters({ api, script }: Stage, { id, listen_port: port }: TunnelView): Promise<void> {
  await script.step('compare the counters with the bytes that a visitor transferred', async (say) => {
    const before = await settled(api, id);
    const moved = await fetchThroughPort(port, `/bytes/${SIZE}`);
    // The counters of a shortened download would agree with the visitor's socket all the same.
    expectEqual('bytes of the body', moved.text.length - (moved.text.indexOf('\r\n\r\n') + 4), SIZE);
    const after = await eventually('the counters', async () => {
      const now = await api.call<TunnelView>('GET', `/tunnels/${id}`);
      return now.export_flow - before.export_flow >= moved.received ? now : undefined;
    });
    expectEqual('bytes from the visitor', after.inlet_flow - before.inlet_flow, moved.sent);
    expectEqual('bytes to the visitor', after.export_flow - before.export_flow, moved.received);
    const { sent, received } = moved;
    say(
      localized(
        `${sent} bytes in, ${received} bytes out, both as the visitor's socket says`,
        `流入 ${sent} 字节，流出 ${received} 字节，均与访客的 socket 一致`,
      ),
    );
  });
}

/** The tunnel when its counters have stood still for longer than they take to arrive. */
async function settled(api: ApiClient, id: number): Promise<TunnelView> {
  let last = await api.call<TunnelView>('GET', `/tunnels/${id}`);
  let since = performance.now();
  return eventually('the counters to settle', async () => {
    const now = await api.call<TunnelView>('GET', `/tunnels/${id}`);
    if (now.inlet_flow !== last.inlet_flow || now.export_flow !== last.export_flow) since = performance.now();
    last = now;
    return performance.now() - since > LIVE_MS ? now : undefined;
  });
}

async function cleanUp(api: ApiClient, trace: Trace, script: Script): Promise<void> {
  await script.step('stop the agent and remove what the tour added', async (say) => {
    if (trace.ruleId !== null) await api.call('DELETE', `/ip-rules/${trace.ruleId}`);
    if (trace.agent) {
      const code = await trace.agent.stop();
      say(localized(`the agent ended with ${code}`, `客户端程序已退出，代码 ${code}`));
    }
    if (trace.clientId !== null) await api.call('DELETE', `/clients/${trace.clientId}`);
    for (const file of trace.files) rmSync(file, { force: true });
  });
}
