import type { NodeTransport } from '@gatehouse/contracts';
import { formatAuthority, type ByteStream } from '@gatehouse/net';
import type { DialContext } from '../../interfaces/index.js';
import { checkSwitched, formatRequest, readAnswer } from '../http-upgrade.js';
import { dialNodeServer, shakeHands, type NodeServer } from '../node-server.js';
import type { ServerDialer } from '../server-dialer.js';
import { WebSocketOpening } from './opening.js';
import { WebSocketStream } from './stream.js';

type WebSocketTransport = Extract<NodeTransport, { type: 'ws' }>;
type HttpUpgradeTransport = Extract<NodeTransport, { type: 'httpupgrade' }>;

/** Opens a WebSocket (RFC 6455). With early data the handshake happens, and may fail, at the first write. @throws DialError. */
export async function openWebSocket(
  node: NodeServer,
  { path, headers, maxEarlyData = 0, earlyDataHeaderName }: WebSocketTransport,
  dialer: ServerDialer,
  context: DialContext,
): Promise<ByteStream> {
  const stream = await dialNodeServer(node, dialer, context);
  const earlyDataHeader = earlyDataHeaderName === '' ? undefined : earlyDataHeaderName;
  const opening = new WebSocketOpening({ path, host: hostOf(node), headers, maxEarlyData, earlyDataHeader });
  if (maxEarlyData > 0) return new WebSocketStream(stream, opening);
  await shakeHands(stream, context.signal, async (reader) => {
    stream.write(opening.format().head);
    opening.check(await readAnswer(reader));
  });
  return new WebSocketStream(stream);
}

/** Opens a stream with a WebSocket's handshake without its keys, and raw bytes after it. @throws DialError. */
export async function openHttpUpgrade(
  node: NodeServer,
  { path, headers = {} }: HttpUpgradeTransport,
  dialer: ServerDialer,
  context: DialContext,
): Promise<ByteStream> {
  const stream = await dialNodeServer(node, dialer, context);
  await shakeHands(stream, context.signal, async (reader) => {
    stream.write(formatRequest(path, hostOf(node), headers, { Upgrade: 'websocket', Connection: 'Upgrade' }));
    checkSwitched(await readAnswer(reader), 'websocket');
  });
  return stream;
}

/** The default `Host`; one among the fields of the transport replaces it. */
function hostOf({ server, port, tls }: NodeServer): string {
  return formatAuthority(tls?.sni ?? server, port, tls !== undefined);
}
