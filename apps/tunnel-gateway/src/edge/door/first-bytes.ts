import { hostField, sniffTlsServerName } from '@gatehouse/net';
import { openingWorker, readAuthority, readRouteTag, routeTagOf } from '@gatehouse/tunnel-kernel';
import type { PortName } from '../../common/edge-ipc.js';
import type { Dealing } from './dealing.js';

/**
 * The worker for a connection. `more`: more bytes are needed. `refuse`: this port does not accept such a connection.
 */
export type Choice = number | 'more' | 'refuse';

const TLS_FIRST_BYTE = 22;
const REQUEST = Buffer.from('GE');
const OPENING = Buffer.from('GW');
/** The beginning of a data channel's opening, up to the first byte of the ticket's id. */
const OPENING_BYTES = 5;
const AGENT_REQUEST = /^GET \/__gw\/agent(?:\?|$)/;

export interface Choosing {
  dealing: Dealing;
  count: number;
  /** Chooses a worker for connections that may go to any. */
  any: () => number;
}

/** Only chooses the worker, which reads the same bytes again and checks them. */
export function chooseWorker(port: PortName, bytes: Buffer, choosing: Choosing): Choice {
  if (port === 'https') return ofHello(bytes, choosing);
  if (port === 'http') return ofRequest(bytes, choosing);
  if (bytes[0] === TLS_FIRST_BYTE) return ofHello(bytes, choosing);
  const start = bytes.subarray(0, 2);
  if (start.equals(OPENING)) return ofOpening(bytes, choosing);
  if (start.equals(REQUEST)) return ofRequest(bytes, choosing);
  return bytes.length === 1 && bytes[0] === OPENING[0] ? 'more' : 'refuse';
}

function ofOpening(bytes: Buffer, { count }: Choosing): Choice {
  if (bytes.length < OPENING_BYTES) return 'more';
  const worker = openingWorker(bytes);
  return worker !== null && worker < count ? worker : 'refuse';
}

function ofHello(bytes: Buffer, { dealing, any }: Choosing): Choice {
  const sniffed = sniffTlsServerName(bytes);
  if (sniffed.state !== 'found') return sniffed.state === 'no' ? 'refuse' : 'more';
  const tag = readRouteTag(bytes);
  if (tag !== null) return dealing.ofTag(tag) ?? any();
  return (sniffed.host === null ? null : dealing.ofName(sniffed.host)) ?? any();
}

/** Chooses by the first request: an agent's WebSocket carries its tag, a visitor's request names its host. */
function ofRequest(bytes: Buffer, { dealing, any }: Choosing): Choice {
  const text = bytes.toString('latin1');
  const lineEnd = text.indexOf('\n');
  if (lineEnd < 0) return 'more';
  const [request = ''] = / HTTP\//.test(text.slice(0, lineEnd)) ? text.slice(0, lineEnd).split(' HTTP/', 1) : [];
  if (AGENT_REQUEST.test(request)) {
    const tag = routeTagOf(request);
    return (tag === null ? null : dealing.ofTag(tag)) ?? any();
  }
  const end = text.indexOf('\r\n\r\n');
  const said = hostField(end < 0 ? text : text.slice(0, end + 2));
  if (said === undefined) return end < 0 ? 'more' : any();
  const authority = readAuthority(said);
  return (authority && dealing.ofName(authority.host)) ?? any();
}
