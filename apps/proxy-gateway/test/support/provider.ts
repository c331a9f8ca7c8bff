import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A subscription provider on loopback with an answer set by the test. */
export interface Provider extends AsyncDisposable {
  url: string;
  reply: RequestListener;
  /** Answers 200 with these lines from now on. */
  list(...lines: string[]): void;
}

export async function startProvider(): Promise<Provider> {
  const server = createServer((request, response) => provider.reply(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const provider: Provider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sub?token=PROVIDER-TOKEN`,
    reply: (_request, response) => response.writeHead(404).end(),
    list(...lines) {
      provider.reply = (_request, response) => response.end(lines.join('\n'));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}

export function shadowsocksLink(password: string, name = password, port = 8388): string {
  const user = Buffer.from(`aes-128-gcm:${password}`).toString('base64url');
  return `ss://${user}@192.0.2.1:${port}#${encodeURIComponent(name)}`;
}
