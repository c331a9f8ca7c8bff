import { isRecord } from './entry.js';
import type { ClashEntry } from './entry.js';

type Options = Record<string, unknown>;

/**
 * The options of XHTTP beyond path, host and mode. A node keeps them as the `extra` JSON of Xray, as links carry them; Clash has
 * the same options under its own names. Options of neither table keep their names, so that nothing is lost on the way.
 */
const NAMES: readonly (readonly [xray: string, clash: string])[] = [
  ['noGRPCHeader', 'no-grpc-header'],
  ['noSSEHeader', 'no-sse-header'],
  ['xPaddingBytes', 'x-padding-bytes'],
  ['xPaddingObfsMode', 'x-padding-obfs-mode'],
  ['xPaddingKey', 'x-padding-key'],
  ['xPaddingHeader', 'x-padding-header'],
  ['xPaddingPlacement', 'x-padding-placement'],
  ['xPaddingMethod', 'x-padding-method'],
  ['uplinkHTTPMethod', 'uplink-http-method'],
  ['sessionPlacement', 'session-placement'],
  ['sessionKey', 'session-key'],
  ['seqPlacement', 'seq-placement'],
  ['seqKey', 'seq-key'],
  ['uplinkDataPlacement', 'uplink-data-placement'],
  ['uplinkDataKey', 'uplink-data-key'],
  ['uplinkChunkSize', 'uplink-chunk-size'],
  ['scMaxEachPostBytes', 'sc-max-each-post-bytes'],
  ['scMinPostsIntervalMs', 'sc-min-posts-interval-ms'],
];
const REUSE_NAMES: typeof NAMES = [
  ['maxConcurrency', 'max-concurrency'],
  ['maxConnections', 'max-connections'],
  ['cMaxReuseTimes', 'c-max-reuse-times'],
  ['hMaxRequestTimes', 'h-max-request-times'],
  ['hMaxReusableSecs', 'h-max-reusable-secs'],
  ['hKeepAlivePeriod', 'h-keep-alive-period'],
];
const TLS_NAMES: typeof NAMES = [
  ['serverName', 'servername'],
  ['fingerprint', 'client-fingerprint'],
  ['allowInsecure', 'skip-cert-verify'],
  ['alpn', 'alpn'],
];
const REALITY_NAMES: typeof NAMES = [
  ['publicKey', 'public-key'],
  ['shortId', 'short-id'],
  ['spiderX', 'spider-x'],
];
const OWN = new Set(['path', 'host', 'mode', 'extra']);

/** The Clash options for the `extra` of Xray. Text that is no JSON object stays what it is. */
export function writeXhttpExtra(extra: string | undefined): Options {
  if (extra === undefined) return {};
  const options = parseObject(extra);
  return options === undefined ? { extra } : toClash(options);
}

/** The `extra` of Xray for the Clash options of XHTTP; undefined if there are none. */
export function readXhttpExtra(entry: ClashEntry): string | undefined {
  const given = entry.text('extra');
  const keys = entry.keys().filter((key) => !OWN.has(key) && entry.has(key));
  if (keys.length === 0) return given;
  const options = Object.fromEntries(keys.map((key) => [key, typed(key, entry.raw(key))]));
  return JSON.stringify({ ...parseObject(given ?? '{}'), ...toXray(options) });
}

function parseObject(text: string): Options | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined; // Callers keep the text.
  }
}

/** YAML has texts where JSON has numbers and switches; values of headers are always texts. */
function typed(key: string, value: unknown): unknown {
  if (isRecord(value)) {
    const entries = Object.entries(value).filter(([name]) => name !== '__proto__');
    return Object.fromEntries(
      entries.map(([name, inner]) => [name, key === 'headers' ? String(inner) : typed(name, inner)]),
    );
  }
  if (value === 'true' || value === 'false') return value === 'true';
  if (typeof value !== 'string' || key === 'servername' || key === 'short-id') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) && String(number) === value ? number : value;
}

function toClash(extra: Options): Options {
  const { xmux, downloadSettings, ...rest } = extra;
  return {
    ...renamed(rest, NAMES),
    ...(isRecord(xmux) ? { 'reuse-settings': renamed(xmux, REUSE_NAMES) } : {}),
    ...(isRecord(downloadSettings) ? { 'download-settings': downloadToClash(downloadSettings) } : {}),
  };
}

function toXray(options: Options): Options {
  const { 'reuse-settings': reuse, 'download-settings': download, ...rest } = options;
  return {
    ...renamed(rest, reversed(NAMES)),
    ...(isRecord(reuse) ? { xmux: renamed(reuse, reversed(REUSE_NAMES)) } : {}),
    ...(isRecord(download) ? { downloadSettings: downloadToXray(download) } : {}),
  };
}

/** Xray nests TLS and transport of the server for downloads as it does for any outbound; Clash lists them flat. */
function downloadToClash(settings: Options): Options {
  const { address, port, network: _network, security, tlsSettings, realitySettings, xhttpSettings, ...rest } = settings;
  const secure = isRecord(realitySettings) ? realitySettings : isRecord(tlsSettings) ? tlsSettings : {};
  const { publicKey, shortId, spiderX, ...tls } = secure;
  const transport = isRecord(xhttpSettings) ? xhttpSettings : {};
  const { extra, ...options } = transport;
  return {
    ...rest,
    ...(address === undefined ? {} : { server: address }),
    ...(port === undefined ? {} : { port }),
    ...(security === 'tls' || security === 'reality' ? { tls: true } : {}),
    ...renamed(tls, TLS_NAMES),
    ...(security === 'reality'
      ? { 'reality-opts': renamed(defined({ publicKey, shortId, spiderX }), REALITY_NAMES) }
      : {}),
    ...toClash({ ...options, ...(isRecord(extra) ? extra : {}) }),
  };
}

const DOWNLOAD_OWN = new Set(['server', 'port', 'tls', 'reality-opts', ...TLS_NAMES.map(([, clash]) => clash)]);

function downloadToXray(options: Options): Options {
  const { server, port, tls, 'reality-opts': reality } = options;
  const tlsOptions = renamed(
    picked(options, (key) => TLS_NAMES.some(([, clash]) => clash === key)),
    reversed(TLS_NAMES),
  );
  const transport = toXray(picked(options, (key) => !DOWNLOAD_OWN.has(key)));
  const security = isRecord(reality) ? 'reality' : tls === true ? 'tls' : undefined;
  return {
    ...defined({ address: server, port }),
    network: 'xhttp',
    ...defined({ security }),
    ...(security === 'tls' ? { tlsSettings: tlsOptions } : {}),
    ...(isRecord(reality) ? { realitySettings: { ...tlsOptions, ...renamed(reality, reversed(REALITY_NAMES)) } } : {}),
    ...(Object.keys(transport).length > 0 ? { xhttpSettings: transport } : {}),
  };
}

function renamed(options: Options, names: typeof NAMES): Options {
  const table = new Map(names);
  return Object.fromEntries(Object.entries(options).map(([key, value]) => [table.get(key) ?? key, value]));
}

function reversed(names: typeof NAMES): typeof NAMES {
  return names.map(([xray, clash]) => [clash, xray]);
}

function picked(options: Options, wanted: (key: string) => boolean): Options {
  return Object.fromEntries(Object.entries(options).filter(([key]) => wanted(key)));
}

function defined(options: Options): Options {
  return picked(options, (key) => options[key] !== undefined);
}
