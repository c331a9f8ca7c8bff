import { randomBytes } from 'node:crypto';
import type {
  ConnectionListResponse,
  ConnectionView,
  DashboardResponse,
  GroupSwitchResult,
  NodeView,
  OutboundOverview,
  Page,
  RefreshResult,
  ReloadResult,
  RuleTestResponse,
  RuleView,
  SubscriptionView,
  SystemStatus,
  TrafficLogListResponse,
  TrafficLogView,
} from '@gatehouse/contracts';
import { localized } from '../../bootstrap/language.mjs';
import type { ApiClient } from './api-client.js';
import { Origin } from './origin.js';
import { fetchThrough, type ProxyAddress } from './proxy-client.js';
import { eventually, expectEqual, expectThat, type Script } from './script.js';
import { ShadowsocksServer } from './shadowsocks-server.js';

const MEBIBYTE = 1024 * 1024;
const NODE_NAME = 'Tour Shadowsocks';

/** What of the proxy the API does not say. */
export interface ProxyPlace {
  /** Where clients reach it. Default: where it listens. */
  host?: string;
  port?: number;
  /** Who it lets in, where it asks. */
  user?: { username: string; password: string };
  /** This machine as the proxy reaches it. Default: the loopback. */
  machine?: string;
}

interface Stage {
  machine: string;
  /**
   * Name of the origin, new in every tour. Only the tour's Shadowsocks server knows it: an answer proves that the
   * request went through that server.
   */
  host: string;
  api: ApiClient;
  script: Script;
  origin: Origin;
  server: ShadowsocksServer;
  publisher: Origin;
  proxy: ProxyAddress;
}

/** What the tour adds to the platform, taken away again at its end. */
interface Trace {
  subscriptionId: number | null;
  ruleId: number | null;
  previousSelection: string | null;
}

/**
 * The path of proxy-gateway, with real traffic: a subscription becomes a node, a rule sends a host through it, and the
 * API shows the connection, the rule that chose it and the log it left.
 * @throws TourFailure at the first thing that is not as it should be; what it added is removed all the same.
 */
export async function tourProxyGateway(
  api: ApiClient,
  password: string,
  script: Script,
  { machine = '127.0.0.1', ...place }: ProxyPlace = {},
): Promise<void> {
  script.chapter('proxy-gateway: from a subscription to a logged connection');
  const host = `origin-${randomBytes(3).toString('hex')}.gatehouse.example`;
  const origin = await Origin.start({ '/hello': 'hello from the origin\n' });
  const server = await ShadowsocksServer.start({
    method: 'aes-128-gcm',
    password: 'tour-password',
    hosts: { [host]: '127.0.0.1' },
    listen: machine,
  });
  const publisher = await Origin.start({ '/subscription': subscriptionText(server, machine) }, machine);
  const trace: Trace = { subscriptionId: null, ruleId: null, previousSelection: null };
  try {
    await logIn(api, password, script);
    const proxy = { ...(await findProxy(api, script)), ...place };
    const stage: Stage = { machine, host, api, script, origin, server, publisher, proxy };
    const node = await subscribe(stage, trace);
    await route(stage, node, trace);
    await carry(stage, node, trace);
    await reloadUnderLoad(stage);
    await lookAtDashboard(stage, node);
  } finally {
    try {
      await cleanUp(api, trace, script);
    } finally {
      await Promise.all([origin.close(), publisher.close(), server.close()]);
    }
  }
}

/** One good link and one that is not: a bad entry must cost only itself. */
function subscriptionText(server: ShadowsocksServer, machine: string): string {
  const userinfo = Buffer.from(`${server.method}:${server.password}`).toString('base64url');
  return `ss://${userinfo}@${machine}:${server.port}#${encodeURIComponent(NODE_NAME)}\nss://broken\n`;
}

async function logIn(api: ApiClient, password: string, script: Script): Promise<void> {
  await script.step('log in with the first password', async (say) => {
    await api.login(password);
    const status = await api.call<SystemStatus>('GET', '/system/status');
    const { state, generation } = status.kernel;
    say(
      localized(
        `version ${status.version}, kernel ${state}, generation ${generation}`,
        `版本 ${status.version}，内核 ${state}，第 ${generation} 代配置`,
      ),
    );
  });
}

async function findProxy(api: ApiClient, script: Script): Promise<ProxyAddress> {
  return await script.step('find the port that clients use', async (say) => {
    const { kernel } = await api.call<SystemStatus>('GET', '/system/status');
    const listener = kernel.listeners.find(({ type, state }) => type === 'mixed' && state === 'listening');
    expectThat(listener !== undefined, 'the kernel has no mixed listener');
    const address = `${listener.address}:${listener.port}`;
    say(localized(`HTTP and SOCKS5 on ${address}`, `HTTP 与 SOCKS5：${address}`));
    return { host: listener.address === '0.0.0.0' ? '127.0.0.1' : listener.address, port: listener.port };
  });
}

async function subscribe({ api, script, publisher, machine }: Stage, trace: Trace): Promise<NodeView> {
  const subscription = await script.step('subscribe to a list of nodes', async (say) => {
    const created = await api.call<SubscriptionView>('POST', '/subscriptions', {
      name: `tour ${new Date().toISOString()}`,
      url: `http://${machine}:${publisher.port}/subscription`,
      type: 'auto',
      interval_sec: 86_400,
      enabled: true,
      allow_private: true,
    });
    trace.subscriptionId = created.id;
    say(localized(`subscription ${created.id}: ${created.url}`, `订阅 ${created.id}：${created.url}`));
    return created;
  });
  await script.step('refresh it: one node is added, one bad entry is skipped', async (say) => {
    const result = await api.call<RefreshResult>('POST', `/subscriptions/${subscription.id}/refresh`);
    expectEqual('status', result.status, 'updated');
    expectEqual('skipped', result.skipped, 1);
    const bad = result.skipped_entries[0];
    const { parsed, added, skipped, duration_ms: ms } = result;
    say(
      localized(
        `${parsed} parsed, ${added} added, ${skipped} skipped in ${ms} ms`,
        `解析 ${parsed} 个，新增 ${added} 个，跳过 ${skipped} 个，用时 ${ms} 毫秒`,
      ),
    );
    say(localized(`line ${bad?.line}: ${bad?.message}`, `第 ${bad?.line} 行：${bad?.message}`));
  });
  return await script.step('find the new node in the list', async (say) => {
    const page = await api.call<Page<NodeView>>('GET', `/proxies?subscription_id=${subscription.id}`);
    expectEqual('nodes of the subscription', page.total, 1);
    const node = page.items[0]!;
    expectEqual('kernel support', node.kernel_support, 'embedded');
    const what = `${node.type} ${node.cipher}, ${node.server}:${node.port}`;
    say(localized(`node ${node.id} "${node.name}": ${what}`, `节点 ${node.id}“${node.name}”：${what}`));
    return node;
  });
}

async function route({ api, script, origin, host }: Stage, node: NodeView, trace: Trace): Promise<void> {
  await script.step('select the node in group PROXY', async (say) => {
    const overview = await api.call<OutboundOverview>('GET', '/outbound');
    trace.previousSelection = overview.groups.find(({ name }) => name === 'PROXY')?.now_proxy ?? null;
    const result = await api.call<GroupSwitchResult>('PUT', '/outbound/groups/PROXY', { proxy: `n${node.id}` });
    expectEqual('the selected node', result.now, node.name);
    say(`PROXY: ${result.previous ?? '–'} -> ${result.now}`);
  });
  await script.step('add a rule that sends one host through the group', async (say) => {
    const rule = await api.call<RuleView>('POST', '/rules', {
      type: 'DOMAIN',
      payload: host,
      target: 'PROXY',
      priority: 1,
    });
    trace.ruleId = rule.id;
    say(localized(`rule ${rule.id}: ${rule.raw}`, `规则 ${rule.id}：${rule.raw}`));
  });
  await script.step('test which rule a URL matches', async (say) => {
    const url = `http://${host}:${origin.port}/hello`;
    const test = await eventually('the new rule in the kernel', async () => {
      const answer = await api.call<RuleTestResponse>('POST', '/rules/test', { url });
      return answer.rule?.id === trace.ruleId ? answer : undefined;
    });
    expectEqual('the chain', test.chain, ['PROXY', node.name]);
    const { evaluated, elapsed_us: time } = test;
    say(`${test.rule?.raw} -> ${test.chain.join(' -> ')}`);
    say(localized(`after ${evaluated} rules, ${time} µs`, `检查了 ${evaluated} 条规则，用时 ${time} 微秒`));
  });
}

async function carry(stage: Stage, node: NodeView, trace: Trace): Promise<void> {
  const entries = [
    ['http', 'fetch a page with a plain HTTP proxy request'],
    ['connect', 'fetch a page through an HTTP CONNECT tunnel'],
    ['socks5', 'fetch a page through SOCKS5'],
  ] as const;
  for (const [entry, title] of entries) {
    await stage.script.step(title, async (say) => {
      const url = new URL(`http://${stage.host}:${stage.origin.port}/hello`);
      const before = stage.origin.seen.length;
      const { status, text } = await fetchThrough(entry, stage.proxy, url);
      expectEqual('status', status, 200);
      expectEqual('requests that reached the origin', stage.origin.seen.length - before, 1);
      const seen = stage.origin.seen.at(-1)?.host;
      say(
        localized(
          `200, ${JSON.stringify(text)}; the origin saw Host: ${seen}`,
          `200，${JSON.stringify(text)}；源站看到的 Host：${seen}`,
        ),
      );
    });
  }
  await watchDownload(stage, node, trace);
}

async function watchDownload(stage: Stage, node: NodeView, trace: Trace): Promise<void> {
  const { api, script, origin, proxy, host } = stage;
  const size = 8 * MEBIBYTE;
  const url = new URL(`http://${host}:${origin.port}/bytes/${size}`);
  origin.hold();
  const download = fetchThrough('socks5', proxy, url);
  download.catch(() => {}); // awaited below; a failure in between must not end the process
  await script.step('watch a running download', async (say) => {
    const open = await eventually('the open connection', async () => {
      const list = await api.call<ConnectionListResponse>('GET', '/connections');
      return list.connections.find((open) => open.host === host && open.download > size / 4);
    });
    checkRoute(open, node, trace);
    const way = `${open.type}, ${open.rule},${open.rule_payload} -> ${open.chains.join(' -> ')}`;
    say(localized(`connection ${open.id}: ${way}`, `连接 ${open.id}：${way}`));
    say(localized(`${open.download} of ${size} bytes so far`, `已下载 ${open.download} / ${size} 字节`));
  });
  origin.release();
  await script.step('wait for the download to finish: every byte arrives', async () => {
    expectEqual('bytes received', (await download).bytes, size);
  });
  await script.step('read its entry in the traffic log', async (say) => {
    const log = await findLog(api, host, size);
    checkLog(log, node, trace);
    const { id, status, upload, download: down, duration_ms: ms } = log;
    say(
      localized(
        `log ${id}: ${status}, ${upload} bytes up, ${down} bytes down, ${ms} ms`,
        `日志 ${id}：${status}，上传 ${upload} 字节，下载 ${down} 字节，${ms} 毫秒`,
      ),
    );
    say(`${log.rule_type},${log.rule_payload} -> ${log.chains.join(' -> ')}`);
  });
}

function checkRoute(open: ConnectionView, node: NodeView, trace: Trace): void {
  expectEqual('rule id', open.rule_id, trace.ruleId);
  expectEqual('chain', open.chains, ['PROXY', node.name]);
  expectEqual('node', open.node_id, node.id);
}

function checkLog(log: TrafficLogView, node: NodeView, trace: Trace): void {
  expectEqual('status', log.status, 'ok');
  expectEqual('rule id', log.rule_id, trace.ruleId);
  expectEqual('chain', log.chains, ['PROXY', node.name]);
  expectEqual('node', log.node_id, node.id);
}

/** The log of the download: its reply is the body and a head of less than 1 KiB. */
async function findLog(api: ApiClient, host: string, size: number): Promise<TrafficLogView> {
  return await eventually('the traffic log', async () => {
    const logs = await api.call<TrafficLogListResponse>('GET', `/traffic-logs?keyword=${host}`);
    return logs.items.find(({ download }) => download > size && download < size + 1024);
  });
}

async function reloadUnderLoad({ api, script, origin, proxy, host }: Stage): Promise<void> {
  await script.step('reload the kernel during 20 downloads: nothing is lost', async (say) => {
    const size = MEBIBYTE;
    const url = new URL(`http://${host}:${origin.port}/bytes/${size}`);
    origin.hold();
    const downloads = Promise.all(Array.from({ length: 20 }, () => fetchThrough('socks5', proxy, url)));
    downloads.catch(() => {}); // awaited below
    await eventually('20 open downloads', async () => {
      const { connections } = await api.call<ConnectionListResponse>('GET', '/connections');
      return connections.filter((open) => open.host === host).length === 20 || undefined;
    });
    const reload = await api.call<ReloadResult>('POST', '/system/reload');
    origin.release();
    const received = (await downloads).map(({ bytes }) => bytes);
    expectEqual('bytes of every download', [...new Set(received)], [size]);
    expectEqual('dropped connections', reload.dropped_connections, 0);
    const { previous_generation: before, generation, duration_ms: ms, dropped_connections: dropped } = reload;
    say(
      localized(
        `generation ${before} -> ${generation} in ${ms} ms`,
        `配置从第 ${before} 代更新到第 ${generation} 代，用时 ${ms} 毫秒`,
      ),
    );
    say(localized(`20 x ${size} bytes arrived, dropped: ${dropped}`, `20 × ${size} 字节已到达，断开：${dropped}`));
  });
}

async function lookAtDashboard({ api, script, host }: Stage, node: NodeView): Promise<void> {
  await script.step('see the totals on the dashboard', async (say) => {
    const { item, onNode } = await eventually('24 requests and 28 MiB in the period lists', async () => {
      const query = 'period_domain_limit=500&period_node_limit=500';
      const { period_domains, period_nodes } = await api.call<DashboardResponse>('GET', `/dashboard?${query}`);
      const found = period_domains.items.find(({ domain, requests }) => domain === host && requests >= 24);
      const carrier = period_nodes.items.find(({ node_id }) => node_id === node.id);
      return found && carrier && carrier.download >= 28 * MEBIBYTE ? { item: found, onNode: carrier } : undefined;
    });
    say(
      localized(
        `${item.domain}: ${item.requests} requests, ${item.errors} errors, ${item.download} bytes down`,
        `${item.domain}：${item.requests} 个请求，${item.errors} 个错误，下载 ${item.download} 字节`,
      ),
    );
    say(
      localized(
        `node ${onNode.node_id} "${onNode.name}": ${onNode.requests} requests, ${onNode.download} bytes down`,
        `节点 ${onNode.node_id}“${onNode.name}”：${onNode.requests} 个请求，下载 ${onNode.download} 字节`,
      ),
    );
  });
}

async function cleanUp(api: ApiClient, trace: Trace, script: Script): Promise<void> {
  await script.step('remove what the tour added', async () => {
    if (trace.ruleId !== null) await api.call('DELETE', `/rules/${trace.ruleId}`);
    if (trace.previousSelection !== null) {
      await api.call('PUT', '/outbound/groups/PROXY', { proxy: trace.previousSelection });
    }
    if (trace.subscriptionId !== null) await api.call('DELETE', `/subscriptions/${trace.subscriptionId}`);
  });
}
