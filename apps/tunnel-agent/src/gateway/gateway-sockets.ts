import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectTls } from '@gatehouse/net';
import type { AgentDialer, HostAndPort } from '@gatehouse/tunnel-kernel';

const DIAL_MS = 10_000;
const OPTIONS: AgentOptions = { keepAlive: true, maxSockets: 4, maxFreeSockets: 1 };

type Created = (error: Error | null, stream?: Duplex) => void;

/** Connections for requests to the gateway's interface, with TLS if its address says so, through its proxy if it has one. */
export class GatewaySockets extends Agent {
  private readonly dialer: Pick<AgentDialer, 'server'>;
  private readonly server: HostAndPort;
  private readonly secure: boolean;

  constructor(dialer: Pick<AgentDialer, 'server'>, { protocol, hostname, port }: URL) {
    super(OPTIONS);
    this.dialer = dialer;
    this.secure = protocol === 'https:';
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    this.server = { host, port: port === '' ? (this.secure ? 443 : 80) : Number(port) };
  }

  override createConnection(_options: ClientRequestArgs, created: Created): undefined {
    this.open().then(
      (stream) => created(null, stream),
      (error: unknown) => created(error as Error),
    );
  }

  private async open(): Promise<Duplex> {
    const { host } = this.server;
    const socket = await this.dialer.server(this.server, DIAL_MS);
    // Dialled sockets are paused, and a request expects one that is not.
    if (!this.secure) return socket.resume();
    // The request waits for the handshake and gets its errors.
    return connectTls({ socket, host, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 && { servername: host }) });
  }
}
